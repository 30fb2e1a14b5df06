"""A run that goes on beyond its time limit."""

import subprocess
import sys

from epochcost import ROOT

# As in a call that never returns: no handler of Python's is ever called.
STUCK = """
import signal, time
from epochcost.measure import clock, termination
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
termination._PATIENCE_S = 0.5
with termination.time_limit(0.1, clock.Clock(None)):
    time.sleep(60)
"""


def test_a_run_that_does_not_answer_is_ended_by_force():
    done = subprocess.run(
        [sys.executable, "-c", STUCK],
        env={"PYTHONPATH": str(ROOT / "scripts")},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 1
    assert "Timeout" in done.stderr
