"""One training at a time on a machine, whoever starts it."""

import fcntl
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from epochcost.measurement.clock import Stopwatch

LOCK = Path(tempfile.gettempdir(), "epochcost-training.lock")


@contextmanager
def turn() -> Iterator[float]:
    """Wait until no other training of epochcost runs on this machine; gives the seconds waited."""
    stopwatch = Stopwatch()
    handle = os.open(LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another training on this machine to end", file=sys.stderr)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield stopwatch.seconds()
    finally:
        os.close(handle)
