import subprocess
import sys
import time

import pytest

from epochcost import ROOT
from epochcost.measure import machine_lock

CODE = """
import sys, time
from epochcost.measure import machine_lock
with machine_lock.hold(sys.argv[2]) as waited:
    print(round(waited, 3), flush=True)
    time.sleep(float(sys.argv[1]))
"""


def start(lock, seconds: float, code: str = CODE) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", code, str(seconds), "local/mnist_mlp/x-1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(ROOT / "scripts"), machine_lock.LOCK: str(lock)},
    )


def test_trainings_on_a_machine_take_turns(tmp_path):
    first = start(tmp_path / "lock", 1.5)
    assert first.stdout.readline() == "0.0\n"
    begin = time.monotonic()
    second = start(tmp_path / "lock", 0)
    output, errors = second.communicate(timeout=20)
    assert float(output) > 0.3
    assert time.monotonic() - begin > 0.5
    named = f"local/mnist_mlp/x-1, process {first.pid}, since "
    assert f"waiting for another training on this machine ({named}" in errors
    first.communicate()


@pytest.mark.parametrize(
    "noted",
    [
        "",
        "half a no",
        "[]",
        '{"who": "x", "process": 999999999, "since": "2026-01-01T10:00:00+00:00"}',
        '{"who": "\\u001b[2J", "process": 1, "since": "2026-01-01T10:00:00+00:00"}',
        '{"who": "x", "process": 1, "since": "yesterday"}',
        '{"who": "x", "process": "1", "since": null}',
    ],
)
def test_a_note_that_says_nothing_or_too_much_is_not_repeated(tmp_path, monkeypatch, noted):
    (tmp_path / "lock").write_text(noted)
    monkeypatch.setenv(machine_lock.LOCK, str(tmp_path / "lock"))
    assert machine_lock.holder() == "another training on this machine"


def test_the_lock_is_taken_where_the_note_is_somebody_elses(tmp_path):
    """Read access is enough, as to a file that an earlier version made."""
    lock = tmp_path / "lock"
    lock.write_text("")
    lock.chmod(0o444)
    assert start(lock, 0).communicate(timeout=20)[0] == "0.0\n"


def test_whoever_comes_first_others_may_lock_too(tmp_path):
    lock = tmp_path / "lock"
    start(lock, 0, "import os; os.umask(0o077)\n" + CODE).communicate(timeout=20)
    assert lock.stat().st_mode & 0o777 == 0o666, "everybody says that they hold it"


def test_a_killed_training_does_not_block(tmp_path):
    first = start(tmp_path / "lock", 60)
    first.stdout.readline()
    first.kill()
    first.communicate()
    assert start(tmp_path / "lock", 0).communicate(timeout=20)[0] == "0.0\n"
