"""The workflow itself, run in a clone: what it makes, what it leaves alone, what it refuses."""

import csv
import json
import re
import sys
from pathlib import Path

import pytest
import yaml
from clones import make_clone
from expect import refused

from epochcost import ROOT
from epochcost.frameworks import tuning
from epochcost.measure import machine
from epochcost.models import recipes
from epochcost.record.record import recipe_id

SYNTHETIC = ("workloads=mnist_mlp", "data={source: synthetic}")
RUN = "local/mnist_mlp/{}/default-{}"


@pytest.fixture(scope="module")
def done(tmp_path_factory, pythons):
    """A clone after one run of everything: one workload, both frameworks, generated data.

    To read only; `changing` is a copy of it.
    """
    clone = make_clone(tmp_path_factory.mktemp("done") / "epochcost", whole=True)
    clone.configure(
        workloads=["mnist_mlp"],
        data={"source": "synthetic", "mirror": ""},
        price={"per_hour_usd": 0.1, "kind": "on_demand"},
    )
    made = clone.snakemake()
    clone.output, clone.printed = made.stdout, made.stdout + made.stderr
    return clone


@pytest.fixture
def changing(done, tmp_path):
    return done.copy(tmp_path / "epochcost")


def jobs(clone, *words: str) -> str:
    """The rules that Snakemake would run, and how often."""
    shown = clone.snakemake("-n", "--quiet", "rules", *words)
    return shown.stdout + shown.stderr


def count(planned: str, rule: str) -> int:
    """How often a rule would be run."""
    found = re.search(rf"^{rule}\s+(\d+)$", planned, re.MULTILINE)
    return int(found[1]) if found else 0


def on_slurm(*rules: str) -> list[str]:
    """Options that send trainings to a cluster, as this machine is no such hardware."""
    where = [f"{rule}:slurm_partition=somewhere" for rule in rules]
    return ["--executor", "slurm", "--jobs", "1", "--set-resources", *where]


def table(clone, name: str) -> list[dict[str, str]]:
    with open(clone.folder / f"results/tables/{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def append(script: Path, text: str = "CHANGED = True\n") -> None:
    script.write_text(script.read_text() + text)


def test_everything_is_made_and_marked_synthetic(done):
    frameworks = ("keras-tensorflow", "pytorch")
    assert set(done.records()) == {RUN.format(name, 1) for name in frameworks}
    rows = table(done, "relative")
    own = [row for row in rows if row["source_id"] == "own" and not row["shipped"]]
    assert [row["cost_kind"] for row in own].count("billed") == len(own) / 2 == 2
    for row in own:
        assert (row["synthetic"], row["predicted"]) == ("True", "True")
        assert float(row["cost_relative"]) > 0
    for name in ("runs", "epochs", "costs", "relative"):
        assert len(table(done, name)) > 50
    assert (done.folder / "results/quality.md").stat().st_size > 0
    answer = (done.folder / "results/answer.txt").read_text()
    assert answer.count("This machine") == 1
    assert "synthetic data" in answer.splitlines()[0]
    assert "1 other result is in the tables" in answer
    for name in ("mnist_mlp-machines.svg", "mnist_mlp-machines.png", "twitter_bilstm-machines.svg"):
        assert (done.folder / "results/figures" / name).stat().st_size > 10_000


def test_a_call_says_what_it_did_and_little_else(done):
    """What is said once a minute depends on how fast the machine is."""
    lines = [line for line in done.printed.splitlines() if not re.search("epoch |waits|prep", line)]
    assert len(lines) <= 60
    for framework in ("pytorch", "keras-tensorflow"):
        assert re.search(
            rf"Training mnist_mlp/{framework}/default-1 \([12] of 2[^)]*\)\n", done.printed
        )
        assert f"epochcost: mnist_mlp/{framework}/default-1: done, " in done.output
    assert "epochcost: the report, with figures and tables, is results/report.html" in done.output


def test_the_report_is_one_file_that_needs_no_network(done):
    page = (done.folder / "results/report.html").read_text()
    assert "This machine" in page
    assert "Synthetic data." in page
    assert page.count('="data:image/svg+xml,') == 30
    assert not re.search(r'<(?:img|script|link)[^>]*(?:src|href)="http', page)


def test_a_second_run_does_nothing(done):
    assert "Nothing to be done" in jobs(done)


def test_a_changed_figure_script_redraws_figures_and_trains_nothing(changing):
    append(changing.folder / "scripts/figures.py")
    planned = jobs(changing)
    assert count(planned, "figures") == 1
    assert "train_local" not in planned
    assert "tables" not in planned


def test_a_changed_training_script_or_price_trains_nothing(changing):
    append(changing.folder / "scripts/train.py")
    assert "Nothing to be done" in jobs(changing)
    planned = jobs(changing, "--config", "price={per_hour_usd: 0.2, kind: on_demand}")
    assert count(planned, "costs") == 1
    assert count(planned, "runs") == 0
    assert "train_local" not in planned


def test_a_changed_preparation_prepares_again_and_trains_nothing(changing):
    append(changing.folder / "scripts/epochcost/data/mnist.py")
    assert count(jobs(changing, "--", "data"), "prepare") == 1
    assert "train_local" not in jobs(changing)


@pytest.mark.slow
def test_a_training_that_crashes_after_its_record_loses_nothing(changing):
    before = changing.records()
    python = changing.folder / "crashing-python"
    real = yaml.safe_load((changing.folder / "config/config.yaml").read_text())["python"]["torch"]
    python.write_text(
        f'#!/bin/sh\n{real} "$@" || exit $?\ncase "$1" in *train.py) exit 134;; esac\n'
    )
    python.chmod(0o755)
    words = ("--config", "runs=2", "frameworks=pytorch")
    failed = changing.snakemake("measure", *words, f"python={{torch: {python}}}", check=False)
    assert failed.returncode == 1
    assert set(changing.records()) - set(before) == {RUN.format("pytorch", 2)}
    assert "train_local" not in jobs(changing, *words)


def test_the_report_is_a_target_and_snakemakes_own_works(changing):
    (changing.folder / "results/report.html").unlink()
    changing.snakemake("report")
    assert (changing.folder / "results/report.html").exists()
    changing.snakemake("--report", "own.html")
    assert (changing.folder / "own.html").stat().st_size > 1_000_000


@pytest.mark.slow
def test_training_rules_are_made_per_hardware(done):
    planned = jobs(done, "--profile", "gce-k80")
    assert count(planned, "train_gce_k80") == 2
    assert "train_local" not in planned
    rules = ("train_gce_p100", "train_gce_t4", "train_gce_n1_highcpu_16")
    hardware = "hardware=gce-p100,gce-t4,gce-n1-highcpu-16"
    planned = jobs(done, *on_slurm(*rules), "--config", hardware)
    assert [count(planned, rule) for rule in rules] == [2, 2, 2]
    everything = ("workloads=all", "frameworks=all", "hardware=gce-t4")
    planned = jobs(done, *on_slurm("train_gce_t4"), "--config", *everything)
    assert count(planned, "train_gce_t4") == 31


def test_a_machine_is_not_measured_as_another(done):
    failed = done.snakemake("--config", "hardware=gce-p100", "frameworks=pytorch", check=False)
    refused(failed, "this machine is not gce-p100")
    assert "\nJob " not in failed.stderr
    assert not list((done.folder / "results/runs").glob("gce-p100/**/*.json"))


@pytest.mark.parametrize(
    ("text", "mode", "reason"),
    [
        (f'exec {sys.executable} -S "$@"', 0o755, "No module named 'numpy'; a Python of one's own"),
    ],
)
def test_a_python_without_the_packages_of_training_is_refused(done, tmp_path, text, mode, reason):
    bare = tmp_path / "bare-python"
    bare.write_text(f"#!/bin/sh\n{text}\n")
    bare.chmod(mode)
    words = ("--config", "runs=2", "frameworks=pytorch", f"python={{torch: {bare}}}")
    failed = done.snakemake("measure", *words, check=False)
    assert reason in refused(failed, f"config: python: {bare}: ")
    assert "\nJob " not in failed.stderr


def test_a_tuned_training_waits_for_a_search_where_none_was_made(clone):
    words = ("--config", "variants=tuned", *SYNTHETIC)
    planned = jobs(clone, *words)
    assert (count(planned, "tune_one"), count(planned, "train_local")) == (2, 2)
    place, path = tuning.place_of(machine.facts()), clone.folder / "config/tuned.yaml"
    recipe = recipe_id(recipes.load(ROOT / "config/workloads.yaml")["mnist_mlp"])
    for framework in ("pytorch", "keras-tensorflow"):
        case = tuning.Case(place, "mnist_mlp", framework, recipe, "synthetic")
        tuning.save(path, case, {}, "1.0")
    planned = jobs(clone, *words)
    assert (count(planned, "tune_one"), count(planned, "train_local")) == (0, 2)


@pytest.mark.slow
def test_weights_come_from_the_mirror_or_training_starts_from_random_ones(clone, tmp_path):
    words = ("--config", "workloads=catsdogs_resnet50", "frameworks=fastai")
    planned = clone.snakemake("-n", *words, "data={source: synthetic}")
    assert "resnet50-imagenet: not requested; training from random weights" in planned.stderr
    assert "Fetching" not in planned.stdout + planned.stderr
    for name in ("resnet50-imagenet/resnet50-11ad3fa6.pth", "cats-vs-dogs/dogscats_subset.zip"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"not what it should be")
    mirrored = (*words, "data={source: mirror}")
    planned = clone.snakemake("-n", *mirrored, EPOCHCOST_MIRROR=str(tmp_path))
    assert "Fetching resnet50-imagenet (mirror)" in planned.stdout + planned.stderr
    weights = "data/raw/resnet50-imagenet/complete.json"
    failed = clone.snakemake(weights, *mirrored, check=False, EPOCHCOST_MIRROR=str(tmp_path))
    assert failed.returncode == 1
    assert "resnet50-11ad3fa6.pth is damaged" in failed.stdout + failed.stderr


def test_a_bad_price_in_the_book_draws_nothing(changing):
    path, results = changing.folder / "config/prices.csv", changing.folder / "results"
    made = [results / name for name in ("figures/mnist_mlp-machines.png", "report.html")]
    before = [one.stat().st_mtime_ns for one in made]
    path.write_text(path.read_text().replace(",21.957642,", ",-1,", 1))
    failed = changing.snakemake(check=False)
    assert [one.stat().st_mtime_ns for one in made] == before
    assert failed.returncode == 1
    said = failed.stdout + failed.stderr
    assert "config/prices.csv, line 2: price_per_hour: -1.0 is below 0" in said
    assert "Traceback" not in said


@pytest.mark.skipif(
    machine.has_bfloat16("cpu"), reason="this processor has arithmetic for bfloat16"
)
def test_what_this_machine_cannot_compute_is_refused_before_the_first_job(done):
    failed = done.snakemake("measure", "--config", "variants=bfloat16", check=False)
    refused(failed, "this machine has no arithmetic for bfloat16")
    assert "\nJob " not in failed.stderr


def test_a_damaged_archive_in_a_mirror_stops_the_run_and_stays(clone, mirror, tmp_path):
    folder = tmp_path / "mirror/mnist"
    folder.mkdir(parents=True)
    for file in (mirror / "mnist").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    damaged = folder / "train-images-idx3-ubyte.gz"
    damaged.write_bytes(damaged.read_bytes()[:-1000])
    data = f"data={{source: mirror, mirror: {folder.parent}}}"
    failed = clone.snakemake("data", "--config", "workloads=mnist_mlp", data, check=False)
    said = failed.stdout + failed.stderr
    assert failed.returncode == 1
    assert "train-images-idx3-ubyte.gz is damaged, or another edition (9911422 bytes" in said
    assert "Traceback" not in said
    assert damaged.stat().st_size == 9_911_422


@pytest.mark.slow
def test_one_more_run_is_one_more_trial_and_real_data_are_new_runs(changing, mirror):
    before = changing.records()
    assert count(jobs(changing, "--config", "runs=2"), "train_local") == 2
    words = ("--quiet", "all", "--config", "frameworks=pytorch")
    changing.snakemake(*words, "runs=2", "--", "measure")
    after = changing.records()
    assert set(after) - set(before) == {RUN.format("pytorch", 2)}
    real = {"EPOCHCOST_MIRROR": str(mirror)}
    changing.snakemake(*words, "data={source: mirror}", "--", "measure", **real)
    last = changing.records()
    assert set(last) - set(after) == {RUN.format("pytorch", 3)}
    assert {path: last[path] for path in before} == before
    data = json.loads(last[RUN.format("pytorch", 3)])["data"]
    assert (data["source"], data["complete"], data["train_samples"]) == ("mirror", True, 60_000)


@pytest.mark.slow
def test_nothing_that_snakemake_does_to_outputs_touches_a_record(changing):
    before = changing.records()
    append(changing.folder / "data/arrays/mnist/synthetic/manifest.json", "\n")
    assert "train_local" not in jobs(changing)
    assert "train_local" not in jobs(changing, "--forceall")
    changing.snakemake("--delete-all-output")
    changing.snakemake("--quiet", "all", "--forceall", "--", "tables")
    assert changing.records() == before
