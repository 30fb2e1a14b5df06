"""One training run at a time on a machine, whoever starts it."""

import fcntl
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from epochcost.measurement.clock import Stopwatch

# The same for everybody: batch systems give each job a TMPDIR of its own.
_SHARED = Path("/tmp")
LOCK = (_SHARED if _SHARED.is_dir() else Path(tempfile.gettempdir())) / "epochcost-training.lock"


@contextmanager
def turn() -> Iterator[float]:
    """Wait until no other training run of epochcost is on this machine; yields seconds waited."""
    stopwatch = Stopwatch()
    handle = _open()
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another training on this machine to end", file=sys.stderr)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield stopwatch.seconds()
    finally:
        os.close(handle)


def _open() -> int:
    """Open the lock file, which may be another user's: read access is enough to lock it."""
    try:
        return os.open(LOCK, os.O_RDONLY)
    except FileNotFoundError:
        handle = os.open(LOCK, os.O_RDONLY | os.O_CREAT, 0o644)
        os.fchmod(handle, 0o644)  # whatever the umask
        return handle
