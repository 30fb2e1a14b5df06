"""Trainings that end before they are done: given up, or told to end."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from epochcost.measurement.clock import Clock

# A training that was told to end has so long to do it by itself.
_GRACE_S = 3.0


class GivenUpError(Exception):
    """A training is ended by epochcost, and that is a failure of it."""


@contextmanager
def time_limit(seconds: float | None, clock: Clock) -> Iterator[None]:
    """Give a training up when its processes have taken so long."""

    def give_up(*_) -> None:
        raise GivenUpError(f"not done within its time limit of {seconds:g} s")

    signal.signal(signal.SIGALRM, give_up)
    if seconds:
        # Again and again: Python ignores what is raised within a destructor.
        signal.setitimer(signal.ITIMER_REAL, max(0.001, seconds - clock.wall()), 5.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def end_now(*_) -> None:
    """Somebody asks this process to end, as a cloud does before it takes a machine away."""
    # A batch system may tell all processes, and start.py tells this one again.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("epochcost: told to end; a full run resumes after its last whole epoch", file=sys.stderr)
    status = 128 + signal.SIGTERM
    # Where the exit is raised within a destructor, Python ignores it; then the alarm ends us.
    signal.signal(signal.SIGALRM, lambda *_: os._exit(status))
    signal.setitimer(signal.ITIMER_REAL, _GRACE_S)
    sys.exit(status)
