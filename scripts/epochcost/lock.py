"""Which call works in a folder: a lock that the system releases when its process ends.

Snakemake's own locks are of files. It leaves them behind when it is killed, and any call that ends
removes those of all others.
"""

import fcntl
from pathlib import Path
from typing import IO

from epochcost.errors import InputError

_NAME = "epochcost.lock"
_held: list[IO] = []  # open, and so locked, until this process ends


def claim(folder: Path, alone: bool) -> None:
    """Hold `folder` (.snakemake) until this process ends.

    Args:
        alone: whether no other call may be at work there, as this one trains.

    Raises:
        InputError: another one is, and this one must be alone.
    """
    file = open(folder / _NAME, "a")  # noqa: SIM115 - it stays open
    _held.append(file)
    if not _locked(file) and alone:
        raise InputError("another call is at work in this folder; wait until it has ended")


def is_stale(folder: Path) -> bool:
    """Whether Snakemake's locks in `folder` are of a call that was killed."""
    if not any((folder / "locks").glob("*")):
        return False
    with open(folder / _NAME, "a") as file:
        return _locked(file)


def _locked(file: IO) -> bool:
    """Lock an open file; False if another process has it locked.

    Raises:
        OSError: the file system has no locks.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
