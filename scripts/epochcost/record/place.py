"""Where a record is written: whole or not at all, and never over another one."""

import fcntl
import os
from itertools import count
from pathlib import Path
from typing import IO

from epochcost.errors import InputError
from epochcost.record.names import RunName, path_of
from epochcost.record.types import Record, encoded

_RESERVED_BYTES = 64 * 1024


class Place:
    """The place of a record that is still to be written, reserved for one process.

    Space for the record is reserved at once, so that a disk that fills up during a run cannot cost
    the record of that run. What a killed process leaves behind is no record, and is reused.

    Args:
        path: named by the run alone where the record gets a name of its own (`keep`).

    Raises:
        InputError: a record is there already, or another process is making it.
        OSError: the space cannot be reserved.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._part = path.with_name(f".{path.name}.part")
        self._file = self._take()
        if path.exists():
            self.refuse(path)
        self._file.write(b" " * _RESERVED_BYTES)
        self._sync()

    def _take(self) -> IO[bytes]:
        """The part file, locked: the existing one, or a new one."""
        while True:
            handle = os.open(self._part, os.O_RDWR | os.O_CREAT, 0o644)
            file = os.fdopen(handle, "r+b")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                opened = os.fstat(handle)
                if opened.st_ino == self._part.stat().st_ino:
                    if opened.st_nlink == 1:
                        return file
                    self._part.unlink()  # its writer was killed when it had become the record
            except BlockingIOError:
                file.close()
                raise InputError(f"{self.path} is being made by another process") from None
            except FileNotFoundError:
                pass
            file.close()  # its holder has just removed it

    def refuse(self, path: Path) -> None:
        """Release the place, for a record that is there already.

        Raises:
            InputError: always.
        """
        self.leave()
        raise InputError(
            f"{path} already exists; records are never overwritten; choose another --trial or "
            "--record"
        )

    def write(self, content: bytes, path: Path | None = None) -> None:
        """Write an encoded record whole, or not at all; the file is then read-only.

        Args:
            path: where, if not at this place: beside it.

        Raises:
            FileExistsError: another record has appeared there in the meantime.
        """
        path = path or self.path
        self._file.seek(0)
        self._file.write(content)
        self._file.truncate(len(content))
        self._sync()
        try:
            os.link(self._part, path)  # unlike a rename, this never replaces a file
        except FileExistsError:
            raise
        except OSError:
            # A file system without hard links: the lock keeps other trainings out meanwhile.
            if path.exists():
                raise FileExistsError(f"{path} appeared during this run") from None
            self._part.rename(path)
        self.leave()
        path.chmod(0o444)

    def leave(self) -> None:
        """Release the place."""
        self._part.unlink(missing_ok=True)
        self._file.close()

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())


def reserve(root: Path, run: RunName, machine: str) -> Place:
    """The place of a record that a run on this machine is to leave below `root`.

    Raises:
        InputError: this machine has one of that name, or is making it.
    """
    place = Place(run.path(root))
    for path in run.records(root, machine):
        place.refuse(path)
    return place


def keep(place: Place, root: Path, record: Record) -> Path:
    """Write a record to its own name at a reserved place; returns where."""
    content = encoded(record)
    path = path_of(record, root)
    try:
        place.write(content, path)
    except FileExistsError:
        place.leave()
        return add(root, record, content)
    return path


def add(root: Path, record: Record, content: bytes) -> Path:
    """Write a record from elsewhere below `root`, unchanged; returns where.

    That is at its own name, or under a free trial: what has its name already is damaged, or of a
    clone of its machine, started in the same second.
    """
    for trial in count(record.run.trial):
        path = path_of(record, root, trial)
        try:
            Place(path).write(content)
        except (InputError, FileExistsError):  # taken, or another process is taking it
            continue
        return path
