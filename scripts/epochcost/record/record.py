"""Records as files: where they are, how they are found and read."""

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

from epochcost import files
from epochcost.errors import InputError, one_line
from epochcost.record import check
from epochcost.record.names import DEPTH, PLACE, RunName, has_mark, is_record, mark_of, path_of
from epochcost.record.schema import instant
from epochcost.record.types import SCHEMA_VERSION, Record, parse

# What makes two trainings of a workload the same; titles and targets do not.
_RECIPE = (
    "dataset", "weights", "epochs", "batch_size", "loss", "optimizer", "model", "fine_tuning",
)  # fmt: skip
_FOLDER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\Z")
# A record has some ten to twenty thousand bytes, and a hundred for each epoch of a full run.
_LARGEST_BYTES = 64 * 2**20


def recipe_id(settings: dict[str, Any]) -> str:
    """A short name for what is trained: equal for equal recipes."""
    keys = ("command",) if "command" in settings else _RECIPE
    what = {key: settings.get(key) for key in keys}
    if "code" in settings:  # that of a workload of one's own, or of an own training
        what["code"] = settings["code"]
    content = json.dumps(what, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:8]


def find(root: Path) -> list[Path]:
    """The paths of all records below `root`, sorted, without half-written files.

    Raises:
        OSError: a folder cannot be read: otherwise records would be missing unnoticed.
    """

    def unreadable(error: OSError) -> None:
        raise error

    return _files(root, unreadable)[0] if Path(root).exists() else []


def strays(root: Path) -> list[Path]:
    """What else is below `root`, as far as it can be read: at no place of a record, or a folder."""
    return _files(root, lambda error: None)[1]


def _files(root: Path, unreadable: Callable[[OSError], None]) -> tuple[list[Path], list[Path]]:
    """The records below `root`, and what else is there but hidden files; both sorted."""
    found, others = [], []
    for folder, inner, names in os.walk(root, onerror=unreadable, followlinks=True):
        place = Path(folder)
        parts = place.relative_to(root).parts
        is_place = len(parts) == DEPTH and all(map(_FOLDER.match, parts))
        for name in names:
            if not name.startswith("."):
                (found if is_place and is_record(name) else others).append(place / name)
        if len(parts) >= DEPTH:
            others += [place / name for name in inner]
            inner.clear()
    return sorted(found), sorted(others)


def taken(folder: Path) -> set[RunName]:
    """The runs whose record's name something in a folder has, whatever it is."""
    names = os.listdir(folder) if folder.is_dir() else []
    return {RunName.at(folder / name) for name in names if is_record(name)}


def read(path: Path) -> Record:
    """Read one record and check what every reader relies on: its schema, and that it can be.

    Each clone numbers its trials from 1. The number in the file's name counts, which early versions
    assigned when they put the records of several machines together. Dates are then UTC, however
    they were written.

    Raises:
        InputError: the file is no record, contradicts itself, or is where its content does not
            belong.
        OSError: it cannot be read.
    """
    with _named(path):
        content = _content(path)
    record = of_content(content, path)
    with _named(path):
        trial = RunName.at(path).trial
        name = replace(RunName.of(record.run), trial=trial)
        place = name.path(Path(), mark_of(record) if has_mark(path) else None)
    if Path(*path.parts[-DEPTH - 1 :]) != place:
        raise InputError(f"{path} holds the record of {place}; put it back where it belongs")
    return replace(record, run=replace(record.run, trial=trial, id=str(name)))


def of_content(content: Any, path: Path) -> Record:
    """A record from its JSON, checked as `read` does; its dates are then UTC.

    Args:
        path: where it is from, for messages.

    Raises:
        InputError: it is no record, or contradicts itself.
    """
    with _named(path):
        version = _version_of(content)
    if version != SCHEMA_VERSION:
        raise InputError(
            f"{path} has schema version {version!r:.40}; this epochcost reads {SCHEMA_VERSION}"
        )
    with _named(path):
        record = parse(_in_utc(content))
        reason = check.contradiction(record)
    if reason:
        raise InputError(f"{path} contradicts itself: {reason}")
    return record


def _content(path: Path) -> Any:
    """The JSON of a file of a size that a record may have."""
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise InputError("it is no file")
    if facts.st_size > _LARGEST_BYTES:
        raise InputError(f"it has {facts.st_size} bytes")
    return files.read_json(path)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Say of which file it is that something is wrong with its content."""
    try:
        yield
    except (
        InputError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError,
        ValueError,
    ) as error:  # fmt: skip
        raise InputError(f"{path} is not a record ({_wrong(error, path)})") from None


def _version_of(record: Any) -> Any:
    if not isinstance(record, dict):
        raise TypeError("it holds no object")
    return record["schema_version"]


def _in_utc(content: dict[str, Any]) -> dict[str, Any]:
    """A record whose dates are in UTC, however they were written."""
    try:
        for key in ("started_at", "finished_at"):
            begin_or_end = instant(content["run"][key])
            content["run"][key] = begin_or_end.astimezone(UTC).isoformat()
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        parse(content)  # which can say what is wrong with it
        raise
    return content


def _wrong(error: Exception, path: Path) -> str:
    """What was wrong with a file, in short."""
    if isinstance(error, KeyError):
        return f"no {error.args[0]}"
    return one_line(error).removeprefix(f"{path} is not ").removeprefix("JSON: ")


def read_all(root: Path, aside: dict[Path, str] | None = None) -> Iterator[tuple[Path, Record]]:
    """All records below `root` that can be believed, each run once, with their paths.

    Args:
        aside: takes the others, and what lies between the records, with the reason.
    """
    aside = {} if aside is None else aside
    seen: dict[tuple[str, ...], Path] = {}

    def unreadable(error: OSError) -> None:
        aside[Path(error.filename)] = one_line(error)

    found, others = _files(root, unreadable) if Path(root).exists() else ([], [])
    for path in others:
        what = "is a folder" if path.is_dir() else f"is not at the place of a record: {PLACE}"
        aside[path] = f"{path} {what}"
    for path in found:
        try:
            record = read(path)
        except (InputError, OSError) as error:
            aside[path] = one_line(error)
            continue
        first = seen.setdefault(record.identity, path)
        if first != path:
            aside[path] = f"{path} is a copy of {first}; take one of them away"
            continue
        yield path, record


def migrate(root: Path) -> None:
    """Give records of early versions below `root`, called by their run alone, names of their own.

    Their contents stay as they are. What cannot be read keeps its name.
    """
    for path in find(root):
        if has_mark(path):
            continue
        try:
            own = path_of(read(path), root)
        except (InputError, OSError):
            continue
        if not own.exists():
            path.rename(own)
