"""A record: the JSON that a run leaves behind; where it is, how it is found and read."""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from epochcost import files
from epochcost.errors import InputError
from epochcost.records import early, parts
from epochcost.records.names import RunName

SCHEMA_VERSION = 1
# What a run is judged by where there is no accuracy.
LOSS = "loss"
# What makes two trainings of a workload the same; titles and targets do not.
_RECIPE = (
    "dataset", "weights", "epochs", "batch_size", "loss", "optimizer", "model", "fine_tuning",
)  # fmt: skip
# Folders between the root and a record: hardware, workload, framework.
_DEPTH = 3
_NAME = re.compile(r"^(?P<variant>[a-z0-9_]+)-(?P<trial>[1-9][0-9]*)$")


def recipe_id(settings: dict[str, Any]) -> str:
    """A short name for what is trained: equal for equal recipes."""
    what = {key: settings.get(key) for key in _RECIPE}
    if "code" in settings:  # that of a workload of one's own
        what["code"] = settings["code"]
    content = json.dumps(what, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:8]


def find(root: Path) -> list[Path]:
    """The paths of all records below `root`, sorted, without half-written files.

    Raises:
        OSError: a folder cannot be read.
    """
    if not Path(root).exists():
        return []
    found = []
    for folder, inner, names in os.walk(root, onerror=_raise, followlinks=True):
        place = Path(folder)
        if len(place.relative_to(root).parts) == _DEPTH:
            inner.clear()
            found += [place / name for name in names if name.endswith(".json")]
    return sorted(path for path in found if _NAME.match(path.stem))


def _raise(error: OSError) -> None:
    """Report what cannot be read: otherwise records would be missing without anybody knowing."""
    raise error


def read(path: Path) -> dict[str, Any]:
    """Read one record and check what every reader relies on.

    Each machine numbers its trials from 1. So the number in the file's name counts, which was
    assigned when the records of several machines were put together.

    Raises:
        InputError: the file is no record, or is where its content does not belong.
    """
    with _named(path):
        record = files.read_json(path)
        version = _version_of(record)
    if version != SCHEMA_VERSION:
        raise InputError(
            f"{path} has schema version {version}; this epochcost reads {SCHEMA_VERSION}"
        )
    with _named(path):
        parts.check(early.completed(record))
        run = record["run"]
        run["trial"] = trial_of(path)
        name = RunName.of(run)
        run["id"], place = str(name), name.path(Path())
    if Path(*path.parts[-4:]) != place:
        raise InputError(f"{path} holds the record of {place}; put it back where it belongs")
    return record


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Say of which file it is that something is wrong with its content."""
    try:
        yield
    except (InputError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is not a record ({_wrong(error)})") from None


def _version_of(record: Any) -> int:
    if not isinstance(record, dict):
        raise TypeError("it holds no object")
    return record["schema_version"]


def reached(metric: str, value: float | None, target: float) -> bool:
    """Whether a run is as good as its recipe asks; a lower loss is better."""
    if value is None:
        return False
    return value <= target if metric == LOSS else value >= target


def kind_of(data: dict[str, Any]) -> str:
    """Which data a run used: complete, subset or synthetic."""
    if data["source"] == "synthetic":
        return "synthetic"
    return "complete" if data["complete"] else "subset"


def gpus_used(record: dict[str, Any]) -> int:
    """How many GPUs trained; 0 where the processor did."""
    if record["software"].get("device") != "gpu" or not record["machine"]["gpus"]:
        return 0
    return record["software"]["settings"].get("devices", 1)


def identity(record: dict[str, Any]) -> tuple[str, ...]:
    """What identifies a run, whatever its file is called.

    Copies of one image may have one id, and begin in the same second.
    """
    run = record["run"]
    names = ("hardware", "workload", "framework", "variant", "started_at", "finished_at")
    return (*(run[key] for key in names), record["machine"]["id"], str(record["seed"]))


def _wrong(error: Exception) -> str:
    """What was wrong with a file, in short."""
    return f"no {error.args[0]}" if isinstance(error, KeyError) else str(error).split(": ", 1)[-1]


def read_all(root: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """All records below `root`, with their paths.

    Raises:
        InputError: one is there twice.
    """
    seen: dict[tuple[str, ...], Path] = {}
    for path in find(root):
        record = read(path)
        first = seen.setdefault(identity(record), path)
        if first != path:
            raise InputError(f"{path} is a copy of {first}; take one of them away")
        yield path, record


def trial_of(path: Path) -> int:
    """The trial number in a record's name.

    Raises:
        InputError: it has none.
    """
    if not (name := _NAME.match(path.stem)):
        raise InputError("its name is not <variant>-<trial>.json")
    return int(name["trial"])
