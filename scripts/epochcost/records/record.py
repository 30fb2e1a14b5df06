"""A record: the JSON that a run leaves. Raw observation, never edited, never overwritten."""

import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from epochcost import files
from epochcost.errors import InputError

SCHEMA_VERSION = 1
_RESERVED_BYTES = 64 * 1024
_NAME = re.compile(r"^(?P<variant>[a-z0-9_]+)-(?P<trial>[1-9][0-9]*)$")


def path_of(
    root: Path, hardware: str, workload: str, framework: str, variant: str, trial: int
) -> Path:
    """Where the record of a run lies below `root` (results/runs)."""
    return root / hardware / workload / framework / f"{variant}-{trial}.json"


class Place:
    """The place of a record that is still to be written.

    Space for it is taken at once, so that a disk that fills up during a run cannot cost the
    record of that run.

    Raises:
        InputError: a record is there already.
        OSError: the space cannot be had.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists():
            raise InputError(f"{path} is there already; records are never overwritten")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        self._file = os.fdopen(handle, "r+b")
        self._temporary = Path(name)
        self._file.write(b" " * _RESERVED_BYTES)
        self._file.flush()
        os.fsync(self._file.fileno())

    def write(self, record: dict[str, Any]) -> None:
        """Write the record whole, or not at all.

        Raises:
            InputError: somebody else's record took the name; this one is kept beside it.
        """
        content = (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode()
        self._file.seek(0)
        self._file.write(content)
        self._file.truncate(len(content))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._temporary.chmod(0o444)
        try:
            os.link(self._temporary, self.path)
        except FileExistsError:
            raise InputError(
                f"{self.path} appeared during this run and is not overwritten; "
                f"this run's record is kept as {self._temporary.name}"
            ) from None
        self._temporary.unlink()

    def leave(self) -> None:
        """Give the place back without a record."""
        self._file.close()
        self._temporary.unlink(missing_ok=True)


def find(root: Path) -> list[Path]:
    """The paths of all records below `root`, sorted; half-written files are not among them."""
    return sorted(path for path in Path(root).glob("*/*/*/*.json") if _NAME.match(path.stem))


def read(path: Path) -> dict[str, Any]:
    """Read one record and check what every reader relies on.

    Raises:
        InputError: the file is no record, or lies where its content does not belong.
    """
    try:
        record = files.read_json(path)
        run = record["run"]
        place = path_of(
            Path(),
            *(run[key] for key in ("hardware", "workload", "framework", "variant")),
            run["trial"],
        )
        version = record["schema_version"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is not a record ({errors_text(error)})") from None
    if version != SCHEMA_VERSION:
        raise InputError(f"{path} has schema version {version}; this epochcost reads 1")
    if Path(*path.parts[-4:]) != place:
        raise InputError(f"{path} holds the record of {place}; put it back where it belongs")
    return record


def errors_text(error: Exception) -> str:
    """What was wrong with a file, short."""
    return f"no {error}" if isinstance(error, KeyError) else str(error).split(": ", 1)[-1]


def read_all(root: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """All records below `root`, with their paths."""
    for path in find(root):
        yield path, read(path)


def trial_of(path: Path) -> int:
    """The trial number in a record's name."""
    return int(_NAME.match(path.stem)["trial"])
