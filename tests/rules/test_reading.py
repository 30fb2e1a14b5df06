"""Calls that only read, calls that are only planned, and what a call prints."""

import re
import shutil

import pytest

from epochcost import ROOT

# Each makes something of the records that are there.
READING = ["report", "tables", "figures", "results/quality.md", "advise", "estimate"]
SYNTHETIC = "data={source: synthetic}"
P6000 = ("--set-resources", "train_paperspace_p6000:slurm_partition=x")


@pytest.fixture(scope="module")
def empty(clone):
    """A clone without a record."""
    clone.configure(workloads=["mnist_mlp"], data={"source": "synthetic", "mirror": ""})
    return clone


@pytest.fixture
def one_record(empty):
    """The clone with one record of another machine, for a while."""
    path = empty.folder / "results/runs/local/mnist_mlp/keras-tensorflow/default-1.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((ROOT / "tests/record/quick.json").read_text())
    yield empty
    shutil.rmtree(path.parent)
    shutil.rmtree(empty.folder / "results/runs-kept", ignore_errors=True)


def printed(done) -> str:
    return done.stdout + done.stderr


def planned(clone, *words: str) -> str:
    """The jobs that would be run, one a line with its number, and what was said."""
    return printed(clone.snakemake("-n", *words, "--quiet", "rules"))


@pytest.mark.parametrize("target", READING)
@pytest.mark.parametrize("words", [(), ("scale=full", "runs=3"), ("hardware=gce-t4",)])
def test_a_target_that_only_reads_trains_nothing(empty, target, words):
    said = planned(empty, target, "--config", SYNTHETIC, *words)
    assert not re.search(r"^(train_\w+|ready|prepare|environment)\s+\d+$", said, re.MULTILINE)


def test_a_target_that_measures_trains(empty):
    for words in ((), ("all",), ("measure",), ("report", "measure")):
        said = planned(empty, *words, "--config", "frameworks=keras-tensorflow,pytorch", SYNTHETIC)
        assert re.search(r"^train_local\s+2$", said, re.MULTILINE)


def test_without_records_the_report_says_so_and_shows_what_was_published(empty):
    done = empty.snakemake("report", "--config", "scale=full")
    assert "epochcost: no run was made yet: results/runs holds no records" in done.stderr
    assert "Nothing has been measured yet" in (empty.folder / "results/report.html").read_text()
    assert (empty.folder / "results/answer.txt").read_text() == ""
    assert not empty.records()
    empty.snakemake("advise", "estimate")
    assert not empty.records()


def test_with_some_records_the_report_is_of_those(one_record):
    before = one_record.records()
    done = one_record.snakemake("report")
    said = "epochcost: runs that are there: 1; configured and missing: 2 (`snakemake` makes them)"
    assert said in done.stderr.splitlines()
    answer = (one_record.folder / "results/answer.txt").read_text()
    assert "mnist_mlp was not measured on this machine; the fastest so far is" in answer
    assert one_record.records() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--config", "hardware=gce-t4"), "this machine is not gce-t4"),
        (("--config", "hardware=gce-k80"), "gce-k80 cannot be rented"),
        (
            ("--profile", "slurm", "--config", "hardware=gce-t4"),
            "gce-t4 cannot be had from slurm: no `slurm: {partition: ...}` in config",
        ),
        (
            ("--profile", "slurm", *P6000, "--config", "hardware=paperspace-p6000"),
            "paperspace-p6000 cannot be had from slurm: no vcpus in config",
        ),
        (("--config", "python={torch: /nowhere/python}"), "/nowhere/python"),
        (
            ("--profile", "gce-k80", "--config", "max_cost_usd=0.00001"),
            "above max_cost_usd of $0.0000100",
        ),
    ],
)
def test_a_dry_run_refuses_what_the_call_refuses(empty, words, message):
    """With the same line; and it changes nothing."""
    there = sorted(str(path) for path in empty.folder.rglob("*") if ".snakemake" not in str(path))
    words = (*words, "frameworks=keras-tensorflow,pytorch", SYNTHETIC)
    refused = [empty.snakemake(*dry, *words, check=False) for dry in (["-n"], [])]
    lines = [[line for line in printed(done).splitlines() if message in line] for done in refused]
    assert [done.returncode for done in refused] == [1, 1]
    assert lines[0] == lines[1]
    assert len(lines[0]) == 1
    assert lines[0][0].startswith("epochcost: ")
    assert "Traceback" not in printed(refused[0])
    assert "The plan, and its cost" not in printed(refused[0])
    now = sorted(str(path) for path in empty.folder.rglob("*") if ".snakemake" not in str(path))
    assert now == there


def test_where_trainings_are_sent_is_said(empty):
    said = planned(empty, "--profile", "gce-k80")
    assert (
        "epochcost: trainings are sent to Slurm: gce-k80 to partition k80; nothing is rented from "
        "Google Compute Engine\n"
    ) in said
    said = planned(empty, "--profile", "slurm")
    assert "epochcost: trainings are sent to Slurm: cluster-cpu16 to partition cpu16\n" in said
    assert "are sent to" not in planned(empty)


def test_kubernetes_asks_for_nothing_of_google(empty):
    failed = empty.snakemake("-n", "--profile", "kubernetes", check=False, GOOGLE_CLOUD_PROJECT="")
    assert failed.returncode == 1
    assert "this profile needs EPOCHCOST_BUCKET (" in failed.stderr
    assert "EPOCHCOST_IMAGE (" in failed.stderr
    assert "GOOGLE" not in failed.stderr


def test_a_call_prints_what_is_done_and_little_else(one_record):
    done = one_record.snakemake("tables", "--forceall", "--config", "price=0.1")
    lines = [line for line in printed(done).splitlines() if line]
    jobs = [line for line in lines if line.startswith("Job ")]
    assert [line.partition(": ")[2] for line in jobs] == [
        "Writing the tables of measurements",
        "Writing the cost tables",
        "The tables are made",
    ]
    assert len(lines) <= 2 * len(jobs) + 8
    noisy = one_record.snakemake("tables", "--forceall", "--quiet", "host", "reason")
    for word in ("Select jobs to execute", "Job stats", "Finished jobid", "steps (100%) done"):
        assert word in printed(noisy)
        assert word not in printed(done)


def test_what_goes_wrong_is_printed_with_its_log(empty):
    script = empty.folder / "scripts/costs.py"
    code = script.read_text()
    script.write_text("import sys\nsys.exit('epochcost: no such table')\n")
    try:
        failed = empty.snakemake("tables", "--forceall", check=False)
    finally:
        script.write_text(code)
    assert failed.returncode == 1
    assert "Error in rule costs" in failed.stderr
    assert "epochcost: no such table" in failed.stderr
