import subprocess
import sys
import time

from epochcost.configuration import ROOT

CODE = """
import sys, time
from pathlib import Path
from epochcost.measurement import turn
turn.LOCK = Path(sys.argv[1])
with turn.turn() as waited:
    print(round(waited, 3), flush=True)
    time.sleep(float(sys.argv[2]))
"""


def start(lock, seconds: float) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", CODE, str(lock), str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(ROOT / "scripts")},
    )


def test_trainings_on_a_machine_take_turns(tmp_path):
    first = start(tmp_path / "lock", 1.5)
    assert first.stdout.readline() == "0.0\n"
    begin = time.monotonic()
    second = start(tmp_path / "lock", 0)
    output, errors = second.communicate(timeout=20)
    assert float(output) > 0.3
    assert time.monotonic() - begin > 0.5
    assert "waiting for another training" in errors
    first.communicate()


def test_whoever_comes_first_others_may_lock_too(tmp_path):
    code = "import os; os.umask(0o077)\n" + CODE
    lock = tmp_path / "lock"
    subprocess.run(
        [sys.executable, "-c", code, str(lock), "0"],
        check=True,
        env={"PYTHONPATH": str(ROOT / "scripts")},
    )
    assert lock.stat().st_mode & 0o777 == 0o644


def test_a_killed_training_does_not_block(tmp_path):
    first = start(tmp_path / "lock", 60)
    first.stdout.readline()
    first.kill()
    first.communicate()
    assert start(tmp_path / "lock", 0).communicate(timeout=20)[0] == "0.0\n"
