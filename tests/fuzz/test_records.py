"""Thousands of records with something wrong in them: each gives a right row, or none and a reason.

`EPOCHCOST_FUZZ` is the number of examples.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import measured
import pandas as pd
import pytest
from fuzz import mutants
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epochcost import ROOT, schemas
from epochcost.record import merge
from epochcost.results import noise, rows
from epochcost.show import page

EXAMPLES = int(os.environ.get("EPOCHCOST_FUZZ", "100"))
LONG = 10_000
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
# Each mutant is the second trial of a workload, beside good ones of that workload and another.
MUTANT = "default-2.json"
GOOD = (
    "local/mnist_mlp/pytorch/default-1@9552f777d6a3*.json",
    "local/imdb_bilstm/keras-tensorflow/default-1@9552f777d6a3*.json",
)
CATALOGUE = schemas.read("hardware")


def look_at(folder: Path) -> rows.Rows:
    return rows.of_folder(folder, {}, also=noise.noise_row)


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> tuple[Path, rows.Rows]:
    """A folder with the good ones alone, and their rows."""
    folder = tmp_path_factory.mktemp("records")
    for name in GOOD:
        (good,) = measured.folder().glob(name)
        place = (folder / name).parent
        place.mkdir(parents=True)
        shutil.copy(good, place)
    return folder, look_at(folder)


def check(alone: tuple[Path, rows.Rows], seed: int, value) -> None:
    """Put a mutant beside the good ones, and see what the analysis and a merge say about it."""
    folder, before = alone
    origin, content = mutants.mutant(seed, value)
    path = folder.joinpath(*origin.parts[-4:-1], MUTANT)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    try:
        found = look_at(folder)
        merged = merge.merge(path, folder.with_name(f"own-{folder.name}"), CATALOGUE)
    finally:
        path.unlink()
        for own in (f"own-{folder.name}", f"own-{folder.name}-kept"):
            shutil.rmtree(folder.with_name(own), ignore_errors=True)
    (mine,) = [run for run in found.runs if run not in before.runs] or [None]
    assert [run for run in found.runs if run is not mine] == before.runs
    assert [row for row in found.epochs if row in before.epochs] == before.epochs
    if mine is None:
        (reason,) = found.aside.values()
        assert reason.startswith(str(path)) and reason.isprintable() and len(reason) < 1500
        if "is a copy of" not in reason and "gives no row" not in reason:
            assert merged.refused == {path: reason}
        return
    assert not found.aside
    unknown = mine.hardware_id not in CATALOGUE
    assert list(merged.refused if unknown else merged.added) == [path]
    assert_right(asdict(mine), json.loads(content))


def assert_right(row: dict, said: dict) -> None:
    """Whether a row says what its record says, by other code than that of the product."""
    own = {name: said["run"][name] for name in ("workload", "framework", "variant", "scale")}
    own |= {"hardware_id": said["run"]["hardware"], "trial": 2}
    own |= {"epochs": said["settings"]["epochs"], "batch_size": said["settings"]["batch_size"]}
    own |= {"seed": said["seed"]}
    own |= {"train_samples": said["data"]["train_samples"], "metric": said["quality"]["metric"]}
    if said.get("wall_s") is not None:  # the first records had none
        own |= {"wall_s": said["wall_s"]}
    assert {name: row[name] for name in own} == own
    assert row["machine"].split()[0] == said["machine"]["id"]
    if row["status"] == "unusable":
        assert said["status"] == "ok" and row["reason"] and row["time_s"] is None
        return
    assert row["status"] == said["status"]
    begun = pd.Timestamp(said["run"]["started_at"])
    assert pd.Timestamp(row["started_at"]) == begun
    assert row["started_at"] == begun.tz_convert("UTC").isoformat()
    if said["status"] == "ok" and said["run"]["scale"] == "full":
        took = sum(one["train_s"] + (one["eval_s"] or 0) for one in said["epochs"])
        took += said["phases"].get("predict") or 0
        assert row["time_s"] == pytest.approx(took)
        assert 0 < took <= row["wall_s"] * 1.02
        assert len(said["epochs"]) == said["settings"]["epochs"]
    if said["status"] != "ok":
        assert row["time_s"] is None


FEW = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@FEW
@given(seed=st.integers(0, 2**48), value=VALUES)
def test_a_mutant_gives_a_right_row_or_none_and_the_good_ones_theirs(alone, seed, value):
    check(alone, seed, value)


@pytest.mark.full
@settings(FEW, max_examples=max(EXAMPLES, LONG))
@given(seed=st.integers(0, 2**48), value=VALUES)
def test_ten_thousand_mutants(alone, seed, value):
    check(alone, seed, value)


def test_mutants_together_leave_every_table_and_the_report_whole(tmp_path):
    """All in one folder with the shipped records: what groups them must not break either."""
    folder = tmp_path / "runs"
    shutil.copytree(measured.folder(), folder)
    for number in range(EXAMPLES):
        origin, content = mutants.mutant(number, number)
        path = folder.joinpath(*origin.parts[-4:-1], f"default-{1000 + number}.json")
        path.write_bytes(content)
    (folder / "<b>note.json").write_text("{}")
    there = len(list(folder.rglob("*.json")))
    output = tmp_path / "tables"
    run("runs.py", "--records", folder, "--output", output)
    run("costs.py", "--tables", output, "--output", output)
    figures = tmp_path / "figures"
    run("figure.py", "mnist_mlp", "--tables", output, "--output", figures)
    for workload in pd.read_csv(ROOT / "data/published/baselines.csv").workload:
        for picture in page.PICTURES:  # the others look alike
            (figures / f"{workload}-{picture}.svg").touch()
    outputs = ("--report", tmp_path / "report.html", "--answer", tmp_path / "answer.txt")
    run("report.py", "--tables", output, "--figures", figures, "--records", folder, *outputs)
    runs, aside = (pd.read_csv(output / f"{name}.csv") for name in ("runs", "set_aside"))
    own = runs[runs.source_id.eq("own")]
    assert len(own) + len(aside) == there
    good = {rows.run_id(one) for one in measured.read()}
    assert len(good - set(own.run_id)) < EXAMPLES


def run(script: str, *words) -> None:
    command = [sys.executable, ROOT / "scripts" / script, *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
