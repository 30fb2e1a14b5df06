"""Which calls work in a folder: locks that the system releases when a process ends.

Snakemake's own locks are of files. It leaves them behind when it is killed, and any call that ends
removes those of all others.
"""

import fcntl
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from epochcost.errors import InputError

_ANY = "epochcost.lock"
_held: list[IO] = []  # open, and so locked, until this process ends


def enter(folder: Path) -> None:
    """Say that this process works in `folder` (.snakemake), until it ends."""
    folder.mkdir(exist_ok=True)
    _take(folder / _ANY, fcntl.LOCK_SH)


def claim(folder: Path, hardware: Iterable[str]) -> None:
    """Keep others from training on some hardware from `folder`, until this process ends.

    Raises:
        InputError: another call trains on it.
    """
    for name in hardware:
        if not _take(folder / f"epochcost-{name}.lock", fcntl.LOCK_EX | fcntl.LOCK_NB):
            raise InputError(
                f"another call in this folder trains on {name}; wait until it has ended"
            )


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the lock that a file stands for; who comes second says so, and waits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("epochcost: waiting for another call that brings records", file=sys.stderr)
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:  # a file system without locks, such as some of clusters
            pass
        try:
            yield
        finally:
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)  # also for a process forked meanwhile


def is_held(folder: Path) -> bool:
    """Whether a call works in `folder`; also where the file system cannot tell."""
    if not folder.is_dir():
        return False
    with open(folder / _ANY, "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def is_stale(folder: Path) -> bool:
    """Whether `folder` holds locks of Snakemake's that a killed call left behind."""
    return any((folder / "locks").glob("*")) and not is_held(folder)


def _take(path: Path, how: int) -> bool:
    """Lock a file until this process ends; False if another one has it."""
    file = open(path, "a+")  # noqa: SIM115 - it stays open
    _held.append(file)
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, such as some of clusters
        pass
    return True
