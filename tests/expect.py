"""Commands as a user gives them, what is expected of those that refuse, and waits."""

import os
import subprocess
import sys
import time
from collections.abc import Callable

from epochcost import ROOT

# What a wait takes at most. Nothing is slow enough to need it, on however busy a machine.
LONGEST_S = 900


def script(name: str, *words, check: bool = True, cwd=ROOT, **environment: str):
    """Run one of scripts/ with the Python of the workflow.

    Args:
        check: whether it must end well.
        environment: variables beside those of the tests.
    """
    done = subprocess.run(
        [sys.executable, str(ROOT / f"scripts/{name}.py"), *map(str, words)],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=600,
    )
    assert not (check and done.returncode), done.stderr[-4000:]
    return done


def refused(done: subprocess.CompletedProcess, said: str = "") -> str:
    """The line with which a command refuses: with status 1, it alone, and no traceback.

    Args:
        said: what is in it; other lines of ours may be printed beside it.
    """
    printed = done.stderr + done.stdout
    assert done.returncode == 1, printed[-4000:]
    assert "Traceback" not in printed
    lines = [line for line in printed.splitlines() if line.startswith("epochcost: ")]
    (line,) = [line for line in lines if said in line] or [f"not said: {said}\n{printed[-4000:]}"]
    assert line.startswith("epochcost: "), line
    return line


def wait_until(
    reached: Callable[[], object],
    what: str,
    in_vain: Callable[[], bool] = lambda: False,
    every_s: float = 0.05,
) -> None:
    """Until something is so.

    Args:
        what: it is, for who reads that it was not.
        in_vain: whether it cannot come any more.
    """
    end = time.monotonic() + LONGEST_S
    while not reached():
        assert time.monotonic() < end and not in_vain(), f"in vain: {what}"
        time.sleep(every_s)
