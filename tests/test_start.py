import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from epochcost import ROOT
from epochcost.measure.machine_lock import LOCK
from epochcost.training import launch

# scripts/start.py, which gives a sign more often.
OFTEN = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import start
from epochcost import errors
from epochcost.training import launch
launch.EVERY_S = 0.2
errors.run(start.main)
"""
# Stands in for a training: notes what it is told, on the descriptor that it was given.
STANDS_IN = """
import sys, time
sys.path.insert(0, {scripts!r})
from epochcost.measure.progress import Progress
(progress,) = [word for word in sys.argv if word.startswith("--progress=")]
run = Progress(int(progress.partition("=")[2]))
print("in the log")
{does}
"""


@pytest.fixture
def give_signs(tmp_path):
    """Runs scripts/start.py with a training that does something; returns its signs and the rest."""

    def run(does: str, status: int = 0) -> tuple[list[str], str]:
        python, ready = tmp_path / "python", tmp_path / "ready.json"
        script = tmp_path / "training.py"
        script.write_text(STANDS_IN.format(scripts=str(ROOT / "scripts"), does=does))
        python.write_text(f'#!/bin/sh\nexec {sys.executable} {script} "$@"\n')
        python.chmod(0o755)
        places = {"data": str(tmp_path), "weights": None}
        ready.write_text(
            json.dumps({"pythons": {"pytorch": str(python)}, "workloads": {"mnist_mlp": places}})
        )
        words = [ready, "mnist_mlp/pytorch/default-1", "--signs", "3"]
        command = [sys.executable, "-c", OFTEN, ROOT / "scripts", *words]
        quoted = " ".join(f"'{word}'" for word in command)
        # As the rule has it.
        done = subprocess.run(
            ["bash", "-c", f"{quoted} 3>&1 > {tmp_path}/log 2>&1"], capture_output=True, text=True
        )
        log = Path(tmp_path, "log").read_text()
        assert done.returncode == status, log
        return done.stdout.splitlines(), log

    return run


def test_a_training_gives_signs_of_life_beside_its_log(give_signs):
    signs, log = give_signs(
        "for number in (1, 2, 3):\n    run.epoch(number, 9)\n    time.sleep(0.5)\n"
    )
    assert log == "in the log\n"
    begin = "epochcost: mnist_mlp/pytorch/default-1: "
    assert all(sign.startswith(begin) for sign in signs)
    assert any("epoch 1 of 9, " in sign and "left" not in sign for sign in signs)
    assert any("epoch 3 of 9, " in sign and "s left" in sign for sign in signs)
    assert f"{begin}done, " in signs[-1]


def test_on_a_terminal_it_is_one_line_that_changes(tmp_path):
    """And often enough: no training of minutes is silent for ten seconds."""
    assert launch.ON_TERMINAL_S <= 10
    mine, theirs = os.openpty()
    with tempfile.TemporaryFile() as noted:
        signs = launch.Signs("mnist_mlp/pytorch/default-1", noted.fileno(), theirs)
        assert signs.every_s == launch.ON_TERMINAL_S
        signs.give()
        signs.give()
        signs.end()
    said = ""
    while "\n" not in said:
        said += os.read(mine, 4096).decode()
    assert said.count("\r\x1b[Kepochcost: mnist_mlp/pytorch/default-1: ") == 3
    assert said.count("\n") == 1
    assert ": done, " in said.rpartition("\x1b[K")[2]


def test_who_waits_says_for_whom(give_signs, tmp_path, monkeypatch):
    lock = tmp_path / "lock"
    monkeypatch.setenv(LOCK, str(lock))
    noted = {"who": "local/imdb/x-2", "process": 1, "since": "2026-01-01T10:02:03+00:00"}
    lock.write_text(json.dumps(noted))
    with open(lock) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        signs, _ = give_signs("run.waits()\ntime.sleep(0.7)\nrun.prepares()\ntime.sleep(0.7)")
    # Before it has noted anything it prepares.
    (waits, *_) = [sign for sign in signs if " waits since " in sign]
    assert "another training on this machine (local/imdb/x-2, process 1, since 10:02:03)" in waits
    assert any(" prepares, for " in sign for sign in signs)


def test_a_failure_that_is_recorded_is_said(give_signs):
    signs, _ = give_signs('run.failed("while in train: out of memory")')
    assert signs[-1].endswith(": failed while in train: out of memory (recorded)")


def test_a_machine_that_is_busy_is_said_while_it_trains_and_at_its_end(give_signs):
    """Cores of the machine that others keep busy count, those of the training do not."""
    burns = "while True: pass"
    others = [subprocess.Popen([sys.executable, "-c", burns]) for _ in range(os.cpu_count())]
    try:
        signs, _ = give_signs(
            'run.epoch(1, 2)\ntime.sleep(2)\nrun.lost("others used 66% of the processors")'
        )
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert any(re.search(r"epoch 1 of 2, .*; others use \d+% of the processors$", s) for s in signs)
    assert signs[-1].endswith("; its time says nothing: others used 66% of the processors")


def test_a_training_that_ends_badly_is_not_done(give_signs):
    signs, _ = give_signs("sys.exit(3)", status=3)
    assert not any("done" in sign for sign in signs)


def test_a_training_that_is_killed_is_said(tmp_path):
    """A shell that ends itself stands in for a training that the system kills."""
    python, ready = tmp_path / "python", tmp_path / "ready.json"
    python.write_text("#!/bin/sh\nkill -9 $$\n")
    python.chmod(0o755)
    places = {"data": str(tmp_path), "weights": None}
    ready.write_text(
        json.dumps({"pythons": {"pytorch": str(python)}, "workloads": {"mnist_mlp": places}})
    )
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/start.py", ready, "mnist_mlp/pytorch/default-1"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 128 + 9
    assert "mnist_mlp/pytorch/default-1 was killed; if nobody did that" in done.stderr
