"""Processes that end early: given up, told to stop, or left by whoever started them."""

import ctypes
import faulthandler
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from epochcost.measure.clock import Clock

# How long a training run that was told to stop has to do so by itself.
_GRACE_S = 3.0
# How long one beyond its time limit has to leave a record.
_PATIENCE_S = 600.0
_PR_SET_PDEATHSIG = 1


class GivenUpError(Exception):
    """Raised when epochcost ends a training run, which then counts as failed."""


@contextmanager
def time_limit(seconds: float | None, clock: Clock) -> Iterator[None]:
    """Give up on a training run once its processes have taken this long."""

    def give_up(*_) -> None:
        raise GivenUpError(f"not done within its time limit of {seconds:g} s")

    signal.signal(signal.SIGALRM, give_up)
    if seconds:
        # Repeatedly, as Python ignores what is raised within a destructor.
        left = max(0.001, seconds - clock.wall())
        signal.setitimer(signal.ITIMER_REAL, left, 5.0)
        # A call into a library that never returns, as on a GPU that is gone, is ended by force.
        faulthandler.dump_traceback_later(left + _PATIENCE_S, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


def end_now(*_) -> None:
    """Exit because this process was told to, as by a cloud before it reclaims a machine."""
    # A batch system may signal all processes, and start.py then signals this one again.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("epochcost: told to end; a full run resumes after its last checkpoint", file=sys.stderr)
    status = 128 + signal.SIGTERM
    # Python ignores an exit raised within a destructor; then the alarm ends the process.
    signal.signal(signal.SIGALRM, lambda *_: os._exit(status))
    signal.setitimer(signal.ITIMER_REAL, _GRACE_S)
    sys.exit(status)


def end_with_parent() -> None:
    """Have the system kill this process when its parent ends; only Linux does that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
