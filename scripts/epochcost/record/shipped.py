"""Measurements that come with the clone: a file per machine, a header and a record per line.

The schema of the header, config/schemas/measured.schema.json, is made of this module:
`PYTHONPATH=scripts python -m epochcost.record.shipped`.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from epochcost import files
from epochcost.errors import InputError, one_line
from epochcost.record import record as records
from epochcost.record import schema
from epochcost.record.types import Hash, Machine, Record, document

MEASURED = Path("data/measured")
SUFFIX = ".jsonl"
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
                header = _header(path, next(lines, ""))
                for number, line in enumerate(lines, start=2):
                    where = Path(f"{path}:{number}")
                    try:
                        yield where, _record(where, line, header)
                    except InputError as error:
                        aside[where] = one_line(error)
        except (InputError, OSError, UnicodeDecodeError) as error:
            aside[path] = one_line(error)


def files_in(folder: Path) -> list[Path]:
    """The files of measurements in a folder, sorted."""
    return sorted(folder.glob(f"*{SUFFIX}"))


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
            yield path, record


def is_shipped(path: Path) -> bool:
    """Whether a record is from a line of a shipped file, not from one of its own."""
    return path.suffix.startswith(f"{SUFFIX}:")


def write(found: Iterable[Record], folder: Path, rented: str) -> list[Path]:
    """Write a file per machine; returns where. What such a file holds already stays in it."""
    by_machine: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for one in found:
        by_machine[one.run.hardware, one.machine.id].append(one)
    written = []
    for (hardware, machine), some in by_machine.items():
        path, aside = folder / f"{hardware}-{machine}{SUFFIX}", {}
        there = [one for _, one in read_all(path, aside)] if path.exists() else []
        if aside:
            raise InputError(next(iter(aside.values())))
        every = sorted({one.identity: one for one in (*some, *there)}.values(), key=_order)
        days = sorted(one.run.started_at[:10] for one in every)
        newest = max(every, key=lambda one: one.run.started_at).machine
        header = Header(1, hardware, machine, in_words(newest), days[0], days[-1], rented)
        files.write_text(path, "".join(map(_line, (header, *every))))
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


def _header(path: Path, line: str) -> Header:
    try:
        return schema.read(Header, json.loads(line))
    except (InputError, RecursionError, ValueError) as error:
        raise InputError(f"{path} has no header of measurements ({one_line(error)})") from None


def _record(where: Path, line: str, header: Header) -> Record:
    try:
        content = json.loads(line)
    except (RecursionError, ValueError) as error:
        raise InputError(f"{where} is not a record ({one_line(error)})") from None
    record = records.of_content(content, where)
    if (record.run.hardware, record.machine.id) != (header.hardware, header.machine):
        raise InputError(f"{where} is of another machine than its file")
    return record


def _order(record: Record) -> tuple[Any, ...]:
    run = record.run
    return run.workload, run.framework, run.variant, run.started_at


def _line(part: Any) -> str:
    return json.dumps(document(part), separators=(",", ":"), ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(json.dumps(schema.json_schema(Header), indent=1))
