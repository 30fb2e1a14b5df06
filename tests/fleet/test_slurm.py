"""The workflow through a real Slurm: where jobs go, what comes home, what a cluster does to them."""

import json
import subprocess
import time

import pytest
from clones import BIN

# Clusters of the tests have no accounting, and a first look after 40 s would be a long wait.
SOON = ("--slurm-no-account", "--slurm-init-seconds-before-status-checks", "1")
BOTH = "hardware=cluster-cpu16,cluster-cpu1"
RECORD = "results/runs/cluster-cpu16/mnist_mlp/pytorch/default-1.json"


def started(site, *words):
    """Snakemake at work in the background."""
    log = open(site.folder / "snakemake.log", "w")
    return subprocess.Popen(
        [BIN / "snakemake", "--profile", "slurm", *SOON, *words],
        cwd=site.folder,
        env=site.environment,
        stdout=log,
        stderr=log,
        stdin=subprocess.DEVNULL,
    )


def within(seconds, reached, site):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not (found := reached()):
        if time.monotonic() > end:
            raise AssertionError((site.folder / "snakemake.log").read_text()[-3000:])
        time.sleep(0.2)
    return found


def test_each_training_runs_on_the_nodes_that_it_is_for(site, slurm):
    site.snakemake("--profile", "slurm", *SOON, "measure", "--config", BOTH)
    records = {path: json.loads(content) for path, content in site.records().items()}
    assert set(records) == {
        f"{hardware}/mnist_mlp/{framework}/default-1.json"
        for hardware in ("cluster-cpu16", "cluster-cpu1")
        for framework in ("keras-tensorflow", "pytorch")
    }
    for path, record in records.items():
        assert record["status"] == "ok"
        cores = 1 if "cpu1/" in path else site.cores
        assert record["machine"]["usable_cores"] == cores
    jobs = slurm.jobs().values()
    for job in jobs:
        assert job["JobState"] == "COMPLETED"
        assert job["OverSubscribe"] == "NO"
        assert f"train_cluster_{job['Partition']}" in job["Comment"]
    assert sorted(job["Partition"] for job in jobs) == ["cpu1", "cpu1", "cpu16", "cpu16"]
    logs = list((site.folder / "logs/slurm").rglob("*.log"))
    assert len(logs) == 4
    assert "Nothing to be done" in site.snakemake(
        "--profile", "slurm", "-n", "measure", "--config", BOTH
    ).stdout
