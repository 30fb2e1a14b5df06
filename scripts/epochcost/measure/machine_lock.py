"""One training run at a time on a machine, whoever starts it."""

import fcntl
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import psutil

from epochcost.measure.clock import Stopwatch

# The environment variable that names another lock file, as tests have.
LOCK = "EPOCHCOST_LOCK"
# The same for everybody: batch systems give each job a TMPDIR of its own.
_SHARED = Path("/tmp")
# The file is everybody's, so what it says is looked at before it is repeated.
_NAME = re.compile(r"[\w./-]{1,200}", re.ASCII)
_MOST_BYTES = 1000


@contextmanager
def hold(who: str = "") -> Iterator[float]:
    """Wait until no other training run of epochcost is on this machine; yields seconds waited.

    Args:
        who: what others that wait are told to wait for.
    """
    handle = _open()
    waited = 0.0
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stopwatch = Stopwatch()
            print(f"waiting for {holder()} to end", file=sys.stderr, flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
            waited = stopwatch.seconds()
        since = datetime.now(UTC).isoformat(timespec="seconds")
        _note(handle, json.dumps({"who": who, "process": os.getpid(), "since": since}))
        yield waited
    finally:
        os.close(handle)


def is_held() -> bool:
    """Whether a training run of epochcost is on this machine."""
    handle = _open()
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(handle)


def holder() -> str:
    """Who trains and since when, as far as that is noted."""
    try:
        noted = json.loads(_path().read_bytes()[:_MOST_BYTES])
        who, process = noted["who"], noted["process"]
        since = datetime.fromisoformat(noted["since"]).astimezone().strftime("%H:%M:%S")
        if _NAME.fullmatch(who) and psutil.pid_exists(process):
            return f"another training on this machine ({who}, process {process}, since {since})"
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        pass  # nobody noted it, or not so that it can be read
    return "another training on this machine"


def _path() -> Path:
    """The lock file of this machine."""
    folder = _SHARED if _SHARED.is_dir() else Path(tempfile.gettempdir())
    return Path(os.environ.get(LOCK) or folder / "epochcost-training.lock")


def _note(handle: int, text: str) -> None:
    """Say in the lock file who trains, where that may be written."""
    with suppress(OSError):
        os.ftruncate(handle, 0)
        os.pwrite(handle, text.encode(), 0)


def _open() -> int:
    """Open the lock file, which may be another user's: read access is enough to lock it."""
    path = _path()
    for how in (os.O_RDWR, os.O_RDONLY):
        with suppress(PermissionError, FileNotFoundError):
            return os.open(path, how)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    with suppress(PermissionError):
        os.fchmod(handle, 0o666)  # whatever the umask: everybody notes themselves
    return handle
