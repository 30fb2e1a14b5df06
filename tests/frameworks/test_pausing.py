"""A real training that is stopped for a while says so, and where."""

import os
import signal
import subprocess
import time

import pytest
from expect import wait_until

from epochcost import ROOT, files
from epochcost.record import record as records
from epochcost.results import repeats, rows, tables
from epochcost.show.wording import remarks

pytestmark = pytest.mark.alone

STOPPED_S = 5


def test_a_stopped_training_is_seen(pythons, little, tmp_path):
    """By Ctrl-Z, a batch system, or whoever may send signals to it."""
    run = subprocess.Popen(
        [
            *(pythons["pytorch"], ROOT / "scripts/train.py", "mnist_cnn", "pytorch"),
            *("--data", little, "--scale", "full", "--epochs", "4"),
        ],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    state = "results/checkpoints/*/*/*/*/state.json"
    try:
        # The end of the first epoch leaves a checkpoint.
        wait_until(
            lambda: any(files.read_json(path)["file"] for path in tmp_path.glob(state)),
            "a checkpoint",
            lambda: run.poll() is not None,
        )
        os.kill(run.pid, signal.SIGSTOP)
        time.sleep(STOPPED_S)
    finally:
        os.kill(run.pid, signal.SIGCONT)
    _, said = run.communicate(timeout=600)
    assert run.returncode == 0, said

    ((_, record),) = records.read_all(tmp_path / "results/runs")
    noise = record.noise
    assert STOPPED_S - 1.5 < noise.paused_s < STOPPED_S + 3
    assert {pause.cause for pause in noise.pauses} == {"stopped"}
    (where,) = {pause.during for pause in noise.pauses}
    epoch = record.epochs[int(where.removeprefix("epoch ")) - 1]
    others = [one.train_s for one in record.epochs[1:] if one is not epoch]
    assert epoch.seconds > min(others) + STOPPED_S - 1.5
    (flag,) = [flag for flag in noise.flags if flag.startswith("paused")]
    assert f"s in {where}" in flag
    assert f"was {flag}; for a time without that run it again" in said

    (row,) = repeats.summaries(tables.runs_table([rows.run_row(record, "")])).itertuples()
    assert row.noisy_runs == 1
    assert remarks.of_noise(row)[1].startswith("paused for ")
