"""The workflow itself, run in a clone: what it makes, what it leaves alone, what it refuses."""

import csv
import json
import re
import sys
from contextlib import contextmanager

import pytest
import yaml
from clones import make_clone

from epochcost import ROOT
from epochcost.frameworks import tuning
from epochcost.measure import machine
from epochcost.models import recipes
from epochcost.record.record import recipe_id

TABLES = ("runs", "epochs", "costs", "relative")


@pytest.fixture(scope="module")
def clone(tmp_path_factory, pythons):
    """A clone with all that came with it."""
    return make_clone(tmp_path_factory.mktemp("clone") / "epochcost", whole=True)


@pytest.fixture(scope="module")
def done(clone):
    """The clone after one run of everything: one workload, both frameworks, generated data."""
    clone.configure(
        workloads=["mnist_mlp"],
        data={"source": "synthetic", "mirror": ""},
        price={"per_hour_usd": 0.1, "kind": "on_demand"},
    )
    made = clone.snakemake()
    clone.output, clone.printed = made.stdout, made.stdout + made.stderr
    return clone


def jobs(clone, *words: str) -> str:
    """The rules that Snakemake would run, and how often."""
    shown = clone.snakemake("-n", "--quiet", "rules", *words)
    return shown.stdout + shown.stderr


def on_slurm(*rules: str) -> list[str]:
    """Options that send trainings to a cluster, as this machine is no such hardware."""
    where = [f"{rule}:slurm_partition=somewhere" for rule in rules]
    return ["--executor", "slurm", "--jobs", "1", "--set-resources", *where]


def table(clone, name: str) -> list[dict[str, str]]:
    with open(clone.folder / f"results/tables/{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_everything_is_made_and_marked_synthetic(done):
    assert set(done.records()) == {
        f"local/mnist_mlp/{name}/default-1" for name in ("keras-tensorflow", "pytorch")
    }
    rows = [row for row in table(done, "relative") if row["source_id"] == "own"]
    assert any(row["shipped"] for row in rows), "what came with the clone is known"
    own = [row for row in rows if not row["shipped"]]
    assert [row["cost_kind"] for row in own].count("billed") == len(own) / 2 == 2
    for row in own:
        assert row["synthetic"] == "True"
        assert row["predicted"] == "True"
        assert float(row["cost_relative"]) > 0
    for name in TABLES:
        assert len(table(done, name)) > 50
    answer = (done.folder / "results/answer.txt").read_text()
    assert answer.count("This machine") == 1
    assert answer.count("synthetic data") == 1
    assert "1 other result is in the tables" in answer
    for name in ("mnist_mlp-time.svg", "mnist_mlp-cost.png", "twitter_bilstm-cost.svg"):
        assert (done.folder / "results/figures" / name).stat().st_size > 10_000


def test_a_call_says_what_it_did_and_little_else(done):
    """What is said once a minute depends on how fast the machine is."""
    lines = [line for line in done.printed.splitlines() if not re.search("epoch |waits|prep", line)]
    assert len(lines) <= 60
    for framework in ("pytorch", "keras-tensorflow"):
        assert f"Training mnist_mlp/{framework}/default-1\n" in done.printed
        assert f"epochcost: mnist_mlp/{framework}/default-1: done, " in done.output
    assert "epochcost: the report is results/report.html" in done.output


def test_the_report_is_one_file_that_needs_no_network(done):
    page = (done.folder / "results/report.html").read_text()
    assert "This machine" in page
    assert "Synthetic data." in page
    assert page.count("data:image/svg+xml;base64,") == 35
    assert not re.search(r'<(?:img|script|link)[^>]*(?:src|href)="http', page)


def test_a_second_run_does_nothing(done):
    assert "Nothing to be done" in jobs(done)


@contextmanager
def changed(script):
    """A script with other code, for a while."""
    original = script.read_text()
    script.write_text(original + "CHANGED = True\n")
    try:
        yield
    finally:
        script.write_text(original)


def test_a_changed_figure_script_redraws_figures_and_trains_nothing(done):
    with changed(done.folder / "scripts/figure.py"):
        planned = jobs(done)
    assert "figure" in planned
    assert "train" not in planned
    assert "tables" not in planned


def test_a_changed_training_script_or_price_trains_nothing(done):
    with changed(done.folder / "scripts/train.py"):
        assert "Nothing to be done" in jobs(done)
    planned = jobs(done, "--config", "price={per_hour_usd: 0.2, kind: on_demand}")
    assert re.search(r"^costs\s", planned, re.MULTILINE)
    assert not re.search(r"^runs\s", planned, re.MULTILINE)
    assert "train" not in planned


def test_a_changed_preparation_prepares_again_and_trains_nothing(done):
    with changed(done.folder / "scripts/epochcost/data/mnist.py"):
        planned = jobs(done, "--", "data")
        assert re.search(r"^prepare\s", planned, re.MULTILINE)
        assert "train" not in jobs(done)
    assert "Nothing to be done" in jobs(done, "--", "data")


def test_a_training_that_crashes_after_its_record_loses_nothing(done):
    before = done.records()
    python = done.folder / "crashing-python"
    real = yaml.safe_load((done.folder / "config/config.yaml").read_text())["python"]["torch"]
    python.write_text(
        f'#!/bin/sh\n{real} "$@" || exit $?\ncase "$1" in *train.py) exit 134;; esac\n'
    )
    python.chmod(0o755)
    run = "local/mnist_mlp/pytorch/default-2"
    try:
        failed = done.snakemake(
            "measure", "--config", "runs=2", "frameworks=pytorch", f"python={{torch: {python}}}",
            check=False,
        )  # fmt: skip
        assert failed.returncode == 1
        assert set(done.records()) - set(before) == {run}
        assert "train" not in jobs(done, "--config", "runs=2", "frameworks=pytorch")
    finally:
        for place in ("runs", "runs-kept"):
            for path in (done.folder / "results" / place).glob(f"{run}@*"):
                path.unlink()


def test_snakemakes_own_report_works(done):
    done.snakemake("--report", "own.html")
    assert (done.folder / "own.html").stat().st_size > 1_000_000


def test_the_report_is_a_target(done):
    (done.folder / "results/report.html").unlink()
    done.snakemake("report")
    assert (done.folder / "results/report.html").exists()


def test_lint_is_clean(clone):
    assert "good condition" in clone.snakemake("--lint").stderr


def test_a_profile_plans_from_the_root(done):
    planned = jobs(done, "--profile", "gce-k80")
    assert re.search(r"train_gce_k80\s+2", planned)
    assert "train_local" not in planned


def test_training_rules_are_made_per_hardware(done):
    rules = ("train_gce_p100", "train_gce_t4", "train_gce_n1_highcpu_16")
    planned = jobs(
        done, *on_slurm(*rules), "--config", "hardware=gce-p100,gce-t4,gce-n1-highcpu-16"
    )
    for rule in rules:
        assert re.search(rf"{rule}\s+2", planned)


def test_a_machine_is_not_measured_as_another(done):
    failed = done.snakemake("--config", "hardware=gce-p100", "frameworks=pytorch", check=False)
    assert failed.returncode == 1
    assert "\nepochcost: this machine is not gce-p100" in failed.stderr
    assert "\nJob " not in failed.stderr
    assert not list((done.folder / "results/runs").glob("gce-p100/**/*.json"))


def test_a_python_without_the_packages_of_training_is_refused(done):
    bare = done.folder / "bare-python"
    words = ("--config", "runs=2", "frameworks=pytorch", f"python={{torch: {bare}}}")
    for text, mode, reason in (
        (f'exec {sys.executable} -S "$@"', 0o755, "No module named 'numpy'; a Python of one's own"),
        ("exit 3", 0o755, "it ended with status 3; a Python"),
        ("exit 3", 0o644, "Permission denied; a Python"),
    ):
        bare.write_text(f"#!/bin/sh\n{text}\n")
        bare.chmod(mode)
        failed = done.snakemake("measure", *words, check=False)
        assert failed.returncode == 1
        assert f"\nepochcost: config: python: {bare}: " in failed.stderr
        assert reason in failed.stderr
        assert "\nJob " not in failed.stderr


def test_a_tuned_training_waits_for_a_search_where_none_was_made(clone):
    synthetic = ("workloads=mnist_mlp", "data={source: synthetic}")
    planned = jobs(clone, "--config", "variants=tuned", *synthetic)
    assert re.search(r"tune_one\s+2", planned)
    assert re.search(r"train_local\s+2", planned)
    place, path = tuning.place_of(machine.facts()), clone.folder / "config/tuned.yaml"
    recipe = recipe_id(recipes.load(ROOT / "config/workloads.yaml")["mnist_mlp"])
    for framework in ("pytorch", "keras-tensorflow"):
        case = tuning.Case(place, "mnist_mlp", framework, recipe, "synthetic")
        tuning.save(path, case, {}, "1.0")
    planned = jobs(clone, "--config", "variants=tuned", *synthetic)
    assert "tune_one" not in planned
    assert re.search(r"train_local\s+2", planned)
    (clone.folder / "config/tuned.yaml").unlink()


def test_all_stands_for_every_workload_and_framework(clone):
    everything = ("workloads=all", "frameworks=all", "data={source: synthetic}")
    planned = jobs(clone, *on_slurm("train_gce_t4"), "--config", "hardware=gce-t4", *everything)
    assert re.search(r"train_gce_t4\s+31", planned)


def test_weights_come_from_the_mirror_or_training_starts_from_random_ones(clone, tmp_path):
    words = ("--config", "workloads=catsdogs_resnet50", "frameworks=fastai")
    planned = clone.snakemake("-n", *words, "data={source: synthetic}")
    assert "resnet50-imagenet: not requested; training from random weights" in planned.stderr
    assert "Fetching" not in planned.stdout + planned.stderr
    for name in ("resnet50-imagenet/resnet50-11ad3fa6.pth", "cats-vs-dogs/dogscats_subset.zip"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"not what it should be")
    planned = clone.snakemake("-n", *words, "data={source: mirror}", EPOCHCOST_MIRROR=str(tmp_path))
    assert "Fetching resnet50-imagenet (mirror)" in planned.stdout + planned.stderr
    failed = clone.snakemake(
        "data/raw/resnet50-imagenet/complete.json", *words, "data={source: mirror}",
        check=False, EPOCHCOST_MIRROR=str(tmp_path),
    )  # fmt: skip
    assert failed.returncode == 1
    assert "resnet50-11ad3fa6.pth is damaged" in failed.stdout + failed.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("workloads=mnist_mpl", "unknown workload 'mnist_mpl'; did you mean 'mnist_mlp'"),
        ("price={per_hour_usd: a lot}", "'a lot' is not a number or empty"),
        ("data={source: mirror, mirror: /nowhere}", "the mirror folder /nowhere does not exist"),
    ],
)
def test_bad_input_is_one_line_and_status_1(clone, words, message):
    """One of each place that looks; tests/plan/test_wanted.py has more."""
    failed = clone.snakemake("-n", "--config", words, check=False)
    lines = [line for line in failed.stderr.splitlines() if line.startswith("epochcost: ")]
    assert failed.returncode == 1
    assert len(lines) == 1
    assert message in lines[0]
    assert "Traceback" not in failed.stderr


def test_a_bad_price_in_the_book_draws_nothing(done):
    path = done.folder / "config/prices.csv"
    original = path.read_text()
    made = [
        done.folder / "results" / name for name in ("figures/mnist_mlp-cost.png", "report.html")
    ]
    before = [one.stat().st_mtime_ns for one in made]
    path.write_text(original.replace(",21.957642,", ",-1,", 1))
    try:
        failed = done.snakemake(check=False)
    finally:
        path.write_text(original)
    output = failed.stdout + failed.stderr
    assert [one.stat().st_mtime_ns for one in made] == before
    assert failed.returncode == 1
    assert "config/prices.csv, line 2: price_per_hour: -1.0 is below 0" in output
    assert "Traceback" not in output
    done.snakemake("--quiet", "all", "--", "tables")


@pytest.mark.skipif(
    machine.has_bfloat16("cpu"), reason="this processor has arithmetic for bfloat16"
)
def test_what_this_machine_cannot_compute_is_refused_before_the_first_job(done):
    before = done.records()
    failed = done.snakemake("measure", "--config", "variants=bfloat16", check=False)
    assert failed.returncode == 1
    assert "epochcost: this machine has no arithmetic for bfloat16" in failed.stderr
    assert "\nJob " not in failed.stderr
    assert done.records() == before


def test_a_damaged_archive_in_a_mirror_stops_the_run_and_stays(done, mirror, tmp_path):
    folder = tmp_path / "mirror/mnist"
    folder.mkdir(parents=True)
    for file in (mirror / "mnist").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    damaged = folder / "train-images-idx3-ubyte.gz"
    damaged.write_bytes(damaged.read_bytes()[:-1000])
    failed = done.snakemake("data", "--config", f"data={{source: mirror, mirror: {folder.parent}}}",
                            check=False)  # fmt: skip
    output = failed.stdout + failed.stderr
    assert failed.returncode == 1
    assert "train-images-idx3-ubyte.gz is damaged, or another edition (9911422 bytes" in output
    assert "Traceback" not in output
    assert damaged.stat().st_size == 9_911_422


def test_one_more_run_is_one_more_trial(done):
    before = done.records()
    planned = jobs(done, "--config", "runs=2")
    assert re.search(r"train_local\s+2", planned)
    done.snakemake("--quiet", "all", "--config", "runs=2", "frameworks=pytorch", "--", "measure")
    after = done.records()
    assert set(after) - set(before) == {"local/mnist_mlp/pytorch/default-2"}
    assert {path: after[path] for path in before} == before


def test_real_data_after_generated_ones_are_new_runs(done, mirror):
    before = done.records()
    done.snakemake(
        "--quiet", "all", "--config", "data={source: mirror}", "frameworks=pytorch",
        "--", "measure", EPOCHCOST_MIRROR=str(mirror),
    )  # fmt: skip
    new = set(done.records()) - set(before)
    assert len(new) == 1
    data = json.loads(done.records()[new.pop()])["data"]
    assert (data["source"], data["complete"], data["train_samples"]) == ("mirror", True, 60_000)


def test_nothing_that_snakemake_does_to_outputs_touches_a_record(done):
    before = done.records()
    data = done.folder / "data/arrays/mnist/synthetic/manifest.json"
    data.write_text(data.read_text() + "\n")
    assert "train" not in jobs(done)
    assert "train" not in jobs(done, "--forceall")
    done.snakemake("--delete-all-output")
    done.snakemake("--quiet", "all", "--forceall", "--", "tables")
    assert done.records() == before
