"""Measurements that travel with the clone: a file per machine, a header and a record per line.

git merges such files by lines (.gitattributes): no record is lost where two clones of one machine
added some. What it writes twice is read once.

The schema of the header, config/schemas/measured.schema.json, is made of this module:
`PYTHONPATH=scripts python -m epochcost.record.shipped`.
"""

import json
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from epochcost import files
from epochcost.errors import InputError, one_line, short
from epochcost.record import record as records
from epochcost.record import schema
from epochcost.record.names import RunName, path_of
from epochcost.record.types import Hash, Machine, Record, document

MEASURED = Path("data/measured")
SUFFIX = ".jsonl"
_HEADER = '{"measured":'
Day = Annotated[str, ("pattern", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


@dataclass(frozen=True, slots=True)
class Header:
    """The machine of a file of measurements: what it is, when it was measured, how it was rented.

    hardware: id of the catalogue, or local. machine: the id that its records have. kind: in words.
    from, to: days of its first and its last run, UTC. rented: in words, as far as known.
    """

    measured: Literal[1]
    hardware: str
    machine: Hash
    kind: str
    from_: Day
    to: Day
    rented: str


def read_all(source: Path, aside: dict[Path, str]) -> Iterator[tuple[Path, Record]]:
    """The records of a file, or of all files in a folder, each with its file and line.

    Args:
        aside: takes what cannot be believed, with the reason.
    """
    for path in files_in(source) if source.is_dir() else [source]:
        try:
            with path.open(encoding="utf-8") as lines:
                header, seen = _header(path, next(lines, "")), set()
                for number, line in enumerate(lines, start=2):
                    where = Path(f"{path}:{number}")
                    try:
                        if line.startswith(_HEADER):  # of the other side of a merge
                            _same_machine(where, header, _header(where, line))
                            continue
                        one = _record(where, line, header)
                        if one.identity not in seen:
                            seen.add(one.identity)
                            yield where, one
                    except InputError as error:
                        aside[where] = one_line(error)
        except UnicodeDecodeError as error:
            aside[path] = f"{path} is no text ({one_line(error)})"
        except (InputError, OSError) as error:
            aside[path] = one_line(error)


def files_in(folder: Path) -> list[Path]:
    """The files of measurements in a folder, sorted."""
    found = folder.glob(f"*{SUFFIX}")
    return sorted(path for path in found if path.name[0].isalnum() and path.is_file())


def with_own(
    own: Path, measured: Path | None, aside: dict[Path, str]
) -> Iterator[tuple[Path, Record]]:
    """The records below `own` (results/runs), then the shipped ones that are not among them.

    Args:
        measured: the folder of the shipped ones; where it is None or not there, none follow.
        aside: as of `read_all`.
    """
    there = set()
    for path, record in records.read_all(own, aside):
        there.add(record.identity)
        yield path, record
    for path, record in read_all(measured, aside) if measured and measured.is_dir() else []:
        if record.identity not in there:
            there.add(record.identity)
            yield path, record


def is_shipped(path: Path) -> bool:
    """Whether a record is from a line of a shipped file, not from one of its own."""
    return path.suffix.startswith(f"{SUFFIX}:")


def marks(folder: Path, aside: Container[str]) -> Iterator[str]:
    """The marks of the records in a folder (`names.mark_of`), read as far as that needs.

    Args:
        aside: places, as of `read_all`, that do not count.
    """
    for path in files_in(folder):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        for number, line in enumerate(lines[1:], start=2):
            try:
                content = json.loads(line)
                started = datetime.fromisoformat(content["run"]["started_at"])
                mark = f"{content['machine']['id']}-{started:%Y%m%dT%H%M%S}"
            except (LookupError, RecursionError, TypeError, ValueError):
                continue
            if f"{path}:{number}" not in aside and str(path) not in aside:
                yield mark


def of_machine(folder: Path, machine: str) -> Iterator[Record]:
    """The records of one machine in the files of a folder, whatever it was measured as."""
    of_it = [path for path in files_in(folder) if path.name.endswith(f"-{machine}{SUFFIX}")]
    for path in of_it:
        yield from (one for _, one in read_all(path, {}))


def write(found: Iterable[Record], folder: Path, rented: str = "") -> list[Path]:
    """Write a file per machine; returns where. What such a file holds already stays in it.

    Args:
        rented: how, in words; without them those of the file stay.
    """
    by_machine: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for one in found:
        by_machine[one.run.hardware, one.machine.id].append(one)
    written = []
    for (hardware, machine), some in by_machine.items():
        path, aside = folder / f"{hardware}-{machine}{SUFFIX}", {}
        known = header(path)
        words = rented or (known.rented if known else "unknown")
        there = [one for _, one in read_all(path, aside)] if path.exists() else []
        if aside:
            raise InputError(next(iter(aside.values())))
        every = sorted({one.identity: one for one in (*some, *there)}.values(), key=_order)
        days = sorted(one.run.started_at[:10] for one in every)
        newest = max(every, key=lambda one: one.run.started_at).machine
        first = Header(1, hardware, machine, in_words(newest), days[0], days[-1], words)
        schema.read(Header, json.loads(_line(first)))
        text = "".join(map(_line, (first, *every)))
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            files.write_text(path, text)
        written.append(path)
    return written


def in_words(machine: Machine) -> str:
    """What a machine is: `NVIDIA H200, 16 cores of AMD EPYC, virtual machine`."""
    gpus = {gpu.name: 0 for gpu in machine.gpus}
    for gpu in machine.gpus:
        gpus[gpu.name] += 1
    parts = [name if number == 1 else f"{number} x {name}" for name, number in gpus.items()]
    which = f" ({machine.cpu_kind})" if machine.cpu_kind else ""
    parts.append(f"{machine.usable_cores} cores of {machine.cpu_model}{which}")
    return ", ".join([*parts, "virtual machine"] if machine.hypervisor else parts)


def header(path: Path) -> Header | None:
    """The header of a file; None where it has none that can be read."""
    try:
        with path.open(encoding="utf-8") as lines:
            return _header(path, next(lines, ""))
    except (InputError, OSError, UnicodeDecodeError):
        return None


def _header(path: Path, line: str) -> Header:
    try:
        return schema.read(Header, json.loads(line))
    except (InputError, RecursionError, ValueError) as error:
        raise InputError(f"{path} has no header of measurements ({one_line(error)})") from None


def _record(where: Path, line: str, header: Header) -> Record:
    try:
        content = files.json_of(line)
    except (RecursionError, ValueError) as error:
        raise InputError(f"{where} is not a record ({one_line(error)})") from None
    record = records.of_content(content, where)
    if (record.run.hardware, record.machine.id) != (header.hardware, header.machine):
        raise InputError(f"{where} is of another machine than its file")
    try:
        name = RunName.at(path_of(record, Path()))
    except InputError as error:
        raise InputError(f"{where} has a name that no file can have: {error}") from None
    if record.run.id != str(name):
        raise InputError(f"{where} is called {short(record.run.id)!r}, and is {short(str(name))!r}")
    return record


def _same_machine(where: Path, first: Header, second: Header) -> None:
    if (first.hardware, first.machine) != (second.hardware, second.machine):
        raise InputError(f"{where} is the header of another machine than the first")


def _order(record: Record) -> tuple[Any, ...]:
    run = record.run
    return run.workload, run.framework, run.variant, run.started_at


def _line(part: Any) -> str:
    return json.dumps(document(part), separators=(",", ":"), ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(json.dumps(schema.json_schema(Header), indent=1))
