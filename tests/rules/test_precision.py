"""`precision` makes rounds of runs until the median is known, or the budget is spent."""

import json

import pandas as pd
import pytest
from clones import make_clone
from observed import coherent

pytestmark = pytest.mark.slow

RUNS = "results/runs/local/mnist_mlp/pytorch"


def run_of(record, trial):
    """The same run at another time."""
    return record["run"] | {"trial": trial, "started_at": f"2026-11-24T10:{trial:02}:00+00:00"}


@pytest.fixture(scope="module")
def clone(tmp_path_factory, pythons):
    """A clone for all of these tests, each of which begins with the first run alone."""
    return make_clone(tmp_path_factory.mktemp("precision") / "epochcost")


@pytest.fixture(scope="module")
def first(clone):
    """The record of a full run of one epoch; nothing else is in the clone."""
    recipes = clone.folder / "config/workloads.yaml"
    recipes.write_text(recipes.read_text().replace("epochs: 20", "epochs: 1"))
    clone.configure(
        workloads=["mnist_mlp"],
        frameworks=["pytorch"],
        data={"source": "synthetic", "mirror": ""},
        scale="full",
        # What else runs on the machine is not what is tested.
        keep_disturbed=True,
    )
    clone.snakemake("--quiet", "all", "--", "measure")
    return json.loads(clone.record("local/mnist_mlp/pytorch/default-1").read_text())


@pytest.fixture
def folder(clone, first):
    """The folder of the runs, with the first one alone."""
    folder = clone.folder / RUNS
    for path in folder.iterdir():
        path.unlink()
    (folder / "default-1.json").write_text(json.dumps(first))
    return folder


def test_rounds_go_on_until_the_budget_is_spent_and_then_nothing_is_made_again(
    clone, folder, first
):
    # Five more runs of ten minutes each, which nobody wants to wait for; the sixth one is real.
    for trial in range(2, 6):
        again = first | {"run": run_of(first, trial)}
        again["epochs"] = [
            one | {"train_s": (1 + trial / 10) * one["train_s"]} for one in first["epochs"]
        ]
        (folder / f"default-{trial}.json").write_text(json.dumps(coherent(again, wall_s=600)))
    seconds = first["wall_s"] + 4 * 600
    wanted = ("--config", "precision=0.1%", f"budget_hours={(seconds + 0.5) / 3600}")
    clone.snakemake("--quiet", "all", *wanted, "--", "measure", "tables")
    # The sixth run of those that an interval takes, and after it the budget was spent.
    assert sorted(clone.records())[-1] == "local/mnist_mlp/pytorch/default-6"
    repeats = pd.read_csv(clone.folder / "results/tables/repeats.csv")
    assert list(repeats.runs) == [6]
    assert list(repeats.ended_by) == ["budget"]
    kept = clone.records()
    more = ("--config", "precision=0.1%", f"budget_hours={(seconds + 60) / 3600}")
    planned = clone.snakemake("--dry-run", *more).stdout
    assert "default-7" in planned
    clone.snakemake("--quiet", "all", *wanted, "--", "measure", "tables")
    assert clone.records() == kept


def test_a_precision_that_is_reached_makes_no_more_runs(clone, folder, first):
    for trial in range(2, 7):
        path = folder / f"default-{trial}.json"
        path.write_text(json.dumps(first | {"run": run_of(first, trial)}))
    kept = clone.records()
    clone.snakemake("--quiet", "all", "--config", "precision=2%", "--", "measure", "tables")
    assert clone.records() == kept
    repeats = pd.read_csv(clone.folder / "results/tables/repeats.csv")
    assert list(repeats.ended_by) == ["precision"]
    assert list(repeats.precision) == [0.0]
