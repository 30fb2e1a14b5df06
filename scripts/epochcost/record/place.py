"""Where a record is written: whole or not at all, and never over another one."""

import fcntl
import os
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import IO

from epochcost.errors import InputError, one_line
from epochcost.record.names import RunName
from epochcost.record.types import Record, Run, encoded

_RESERVED_BYTES = 64 * 1024


class Place:
    """The place of a record that is still to be written, reserved for one process.

    Space for the record is reserved at once, so that a disk that fills up during a run cannot cost
    the record of that run. What a killed process leaves behind is no record, and is reused.

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
            self.leave()
            raise InputError(
                f"{path} already exists; records are never overwritten; choose another "
                "--trial or --record"
            )
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

    def write(self, record: Record) -> None:
        """Write the record whole, or not at all; the file is then read-only.

        Raises:
            FileExistsError: another record has appeared there in the meantime.
        """
        self.write_bytes(encoded(record))

    def write_bytes(self, content: bytes) -> None:
        """Write an encoded record as it is, such as one from elsewhere."""
        self._file.seek(0)
        self._file.write(content)
        self._file.truncate(len(content))
        self._sync()
        try:
            os.link(self._part, self.path)  # unlike a rename, this never replaces a file
        except FileExistsError:
            raise
        except OSError:
            # A file system without hard links: the lock keeps other trainings out meanwhile.
            if self.path.exists():
                raise FileExistsError(f"{self.path} appeared during this run") from None
            self._part.rename(self.path)
        self.leave()
        self.path.chmod(0o444)

    def leave(self) -> None:
        """Release the place."""
        self._part.unlink(missing_ok=True)
        self._file.close()

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())


def copies(root: Path) -> Path:
    """Where the copies of the records below `root` are: results/runs-kept of results/runs."""
    return root.with_name(f"{root.name}-kept")


def add(root: Path, run: Run, content: bytes) -> Path:
    """Keep a record and its copy under the first free trial, from its own on; returns where.

    Its content is left unchanged. Readers of records go by the number in their names.
    """
    target = put(root, run, content)
    copy(root, run, target)
    return target


def put(root: Path, run: Run, content: bytes) -> Path:
    """Write a record below `root` under the first free trial, from its own on; returns where."""
    name = RunName.of(run)
    for trial in count(name.trial):
        target = replace(name, trial=trial).path(root)
        try:
            Place(target).write_bytes(content)
        except (InputError, FileExistsError):  # taken, or another process is taking it
            continue
        return target


def copy(root: Path, run: Run, path: Path) -> None:
    """Keep a copy of a record below `root`. Without one, the next call of the workflow makes it."""
    try:
        put(copies(root), run, path.read_bytes())
    except OSError as error:
        print(f"epochcost: {path} has no copy yet: {one_line(error)}", file=sys.stderr)


def keep(place: Place, root: Path, record: Record) -> None:
    """Write a record and its copy: to its place, or beside what appeared there during the run."""
    try:
        place.write(record)
    except FileExistsError:
        place.leave()
        target = add(root, record.run, encoded(record))
        said = f"{place.path} appeared during this run, which is saved as {target}"
        print(f"epochcost: {said}", file=sys.stderr)
    else:
        copy(root, record.run, place.path)
