"""Commands as a user gives them, and what is expected of those that refuse."""

import os
import subprocess
import sys

from epochcost import ROOT


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
