"""A record: the JSON that a run leaves. Raw observation, never edited, never overwritten."""

import fcntl
import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from itertools import count
from pathlib import Path
from statistics import fmean
from typing import IO, Any

from epochcost import files
from epochcost.errors import InputError
from epochcost.records.passes import EVALUATE, TRAIN

SCHEMA_VERSION = 1
# What a run is judged by where no accuracy is.
LOSS = "loss"
_RESERVED_BYTES = 64 * 1024
_SCHEMA = Path(__file__).resolve().parents[3] / "config/schemas/record.schema.json"
# What makes two trainings of a workload the same; titles and targets do not.
_RECIPE = (
    "dataset", "weights", "epochs", "batch_size", "loss", "optimizer", "model", "fine_tuning",
)  # fmt: skip
# What the first records were not sampled for.
_SAMPLED = (
    "disturbed_share",
    "cpu_mhz",
    "throttled",
    "swapped_mib",
    "memory_stalled_share",
    "quota_waited_share",
)
# Of what has none of these in the schema, nothing can be missing.
_WITH_PARTS = {"properties", "items", "oneOf"}
# Folders between the root and a record: hardware, workload, framework.
_DEPTH = 3
_NAME = re.compile(r"^(?P<variant>[a-z0-9_]+)-(?P<trial>[1-9][0-9]*)$")


def path_of(
    root: Path, hardware: str, workload: str, framework: str, variant: str, trial: int
) -> Path:
    """Where the record of a run lies below `root` (results/runs)."""
    return root / hardware / workload / framework / f"{variant}-{trial}.json"


class Place:
    """The place of a record that is still to be written, taken for one process.

    Space for the record is taken at once, so that a disk that fills up during a run cannot cost
    the record of that run. What a killed process leaves is no record, and is used again.

    Raises:
        InputError: a record is there already, or another process is making it.
        OSError: the space cannot be had.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._part = path.with_name(f".{path.name}.part")
        self._file = self._take()
        if path.exists():
            self.leave()
            raise InputError(f"{path} is there already; records are never overwritten")
        self._file.write(b" " * _RESERVED_BYTES)
        self._sync()

    def _take(self) -> IO[bytes]:
        """The part file, locked: the one that is there, or a new one."""
        while True:
            try:
                handle = os.open(self._part, os.O_RDWR | os.O_CREAT, 0o644)
            except PermissionError:  # its writer was killed just before it became the record
                self._part.unlink()
                continue
            file = os.fdopen(handle, "r+b")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(handle).st_ino == self._part.stat().st_ino:
                    return file
            except BlockingIOError:
                file.close()
                raise InputError(f"{self.path} is being made by another process") from None
            except FileNotFoundError:
                pass
            file.close()  # its holder has just removed it

    def write(self, record: dict[str, Any]) -> None:
        """Write the record whole, or not at all; the file can then be read only.

        Raises:
            FileExistsError: another record has come to be there meanwhile.
        """
        self.write_bytes(_encoded(record))

    def write_bytes(self, content: bytes) -> None:
        """Write a record that somebody else wrote, as it is."""
        self._file.seek(0)
        self._file.write(content)
        self._file.truncate(len(content))
        self._sync()
        self._part.chmod(0o444)
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

    def leave(self) -> None:
        """Give the place back."""
        self._part.unlink(missing_ok=True)
        self._file.close()

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())


def add(root: Path, run: dict[str, Any], content: bytes) -> Path:
    """Keep a record under the first trial that is free, from its own number on; returns where.

    Its content stays as it is. What reads records goes by the number in their names.
    """
    names = (run[key] for key in ("hardware", "workload", "framework", "variant"))
    series = (root, *names)
    for trial in count(run["trial"]):
        target = path_of(*series, trial)
        try:
            Place(target).write_bytes(content)
        except (InputError, FileExistsError):  # taken, or another process is taking it
            continue
        return target


def keep(place: Place, root: Path, record: dict[str, Any]) -> None:
    """Write a record to its place, or beside one that has come to be there during the run."""
    try:
        place.write(record)
    except FileExistsError:
        place.leave()
        target = add(root, record["run"], _encoded(record))
        said = f"{place.path} appeared during this run, which is {target}"
        print(f"epochcost: {said}", file=sys.stderr)


def _encoded(record: dict[str, Any]) -> bytes:
    return (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode()


def recipe_id(settings: dict[str, Any]) -> str:
    """A short name for what is trained: equal for equal recipes."""
    content = json.dumps({key: settings.get(key) for key in _RECIPE}, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:8]


def parts_of_name(name: str) -> tuple[str, str, str, int]:
    """Workload, framework, variant and trial of a run's name: mnist_mlp/pytorch/default-1.

    Raises:
        InputError: no run is called so.
    """
    try:
        workload, framework, rest = name.split("/")
        variant, trial = rest.rsplit("-", 1)
        return workload, framework, variant, int(trial)
    except ValueError:
        raise InputError(
            f"'{name}' is no name of a run, such as mnist_mlp/pytorch/default-1"
        ) from None


def find(root: Path) -> list[Path]:
    """The paths of all records below `root`, sorted; half-written files are not among them.

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
    """What cannot be read is said: without it, records would be missing and nobody would know."""
    raise error


def read(path: Path) -> dict[str, Any]:
    """Read one record and check what every reader relies on.

    Each machine counts its trials from 1. So the number in the file's name counts, which was given
    when the records of several machines were put together.

    Raises:
        InputError: the file is no record, or lies where its content does not belong.
    """
    try:
        record = _completed(files.read_json(path))
        _check_parts(record, _schema())
        run = record["run"]
        run["trial"] = trial_of(path)
        run["id"] = "{hardware}/{workload}/{framework}/{variant}-{trial}".format(**run)
        place = Path(f"{run['id']}.json")
        version = record["schema_version"]
    except (InputError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is not a record ({_wrong(error)})") from None
    if version != SCHEMA_VERSION:
        raise InputError(f"{path} has schema version {version}; this epochcost reads 1")
    if Path(*path.parts[-4:]) != place:
        raise InputError(f"{path} holds the record of {place}; put it back where it belongs")
    return record


def reached(metric: str, value: float | None, target: float) -> bool:
    """Whether a run is as good as its recipe asks; a lower loss is better."""
    if value is None:
        return False
    return value <= target if metric == LOSS else value >= target


def kind_of(data: dict[str, Any]) -> str:
    """Which data a record is of: complete, subset or synthetic."""
    if data["source"] == "synthetic":
        return "synthetic"
    return "complete" if data["complete"] else "subset"


def identity(record: dict[str, Any]) -> tuple[str, ...]:
    """What no two runs have in common, whatever their files are called."""
    run = record["run"]
    names = (run[key] for key in ("hardware", "workload", "framework", "variant"))
    return (*names, record["machine"]["id"], run["started_at"])


def duration(record: dict[str, Any]) -> float:
    """Seconds that the processes of a run took in all."""
    if record["wall_s"] is not None:
        return record["wall_s"]
    begin, end = (record["run"][key] for key in ("started_at", "finished_at"))
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


def _completed(record: dict[str, Any]) -> dict[str, Any]:
    """A record with what its epochcost did not know yet: things that it did not do or measure.

    The file stays as it is.
    """
    if not isinstance(record, dict):
        raise TypeError("it holds no object")
    record.setdefault("weights", None)
    record.setdefault("input", None)
    record.setdefault("sample", None)
    record["data"].setdefault("skipped", 0)
    for name in ("cloud", "hypervisor", "cache_kib", "cuda_driver", "limits"):
        record["machine"].setdefault(name, None)
    record["software"].setdefault("settings", {})
    record["software"].setdefault("environment", None)
    for name in ("wall_s", "energy_method", "yardstick", "flop_per_sample"):
        record.setdefault(name, None)
    record["blocks"] = _blocks(record)
    record["utilisation"].setdefault("gpus", [])
    record["utilisation"].setdefault("samples", None)
    for name in _SAMPLED:
        record["noise"].setdefault(name, None)
    for phase in ("finish", "predict", "sample", "lost", "measuring", "other"):
        record.get("phases", {}).setdefault(phase, None)
    return record


def _blocks(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The timed stretches; the first records had those of the first epoch's training alone."""
    blocks = record.get("blocks", [])
    if not blocks or "part" in blocks[0]:
        return blocks
    blocks = [{"epoch": 1, "part": TRAIN} | block for block in blocks]
    first, batch = record["epochs"][0], record["settings"]["batch_size"]
    if first["eval_s"] is not None and first["eval_samples"]:
        steps = math.ceil(first["eval_samples"] / batch)
        # Those passes that followed had nothing to build.
        later = [one["seconds"] for one in record.get("evaluations", [])]
        seconds = fmean(later) if later else first["eval_s"]
        whole = {"steps": steps, "samples": first["eval_samples"], "seconds": seconds}
        blocks.append({"epoch": 1, "part": EVALUATE} | whole)
    return blocks


@cache
def _schema() -> dict[str, Any]:
    return files.read_json(_SCHEMA)


def _check_parts(value: Any, schema: dict[str, Any], name: str = "") -> None:
    """Raise a KeyError or TypeError that names what a record lacks, in whatever depth.

    Whether each value is as the schema says takes a validator, and a hundred times as long.
    """
    kinds = schema.get("oneOf", [schema])
    if value is None:
        if not any(_may_be_null(kind) for kind in kinds):
            raise TypeError(f"{name} is empty")
        return
    schema = next((kind for kind in kinds if "properties" in kind), schema)
    if "properties" in schema:
        if not isinstance(value, dict):
            raise TypeError(f"{name} is no object")
        for key in schema.get("required", []):
            if key not in value:
                raise KeyError(f"{name} {key}".strip())
        for key, inner in schema["properties"].items():
            if key in value and not _WITH_PARTS.isdisjoint(inner):
                _check_parts(value[key], inner, f"{name} {key}".strip())
    elif "items" in schema:
        if not isinstance(value, list):
            raise TypeError(f"{name} is no list")
        if not _WITH_PARTS.isdisjoint(schema["items"]):
            for item in value:
                _check_parts(item, schema["items"], name)


def _may_be_null(schema: dict[str, Any]) -> bool:
    kinds = schema.get("type", "null")  # what has no type may be anything
    return "null" in ([kinds] if isinstance(kinds, str) else kinds)


def _wrong(error: Exception) -> str:
    """What was wrong with a file, short."""
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
