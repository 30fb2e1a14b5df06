"""Adds records from elsewhere to the local ones: each once, checked, and as it was written."""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from epochcost import lock
from epochcost.errors import InputError, nearest, one_line
from epochcost.record import hosts, place, record, shipped
from epochcost.record.names import PLACE
from epochcost.record.types import Machine, Record, encoded

# More names than these hide what became of the records.
_MOST_NAMED = 10


@dataclass
class Merged:
    """What became of the records of a folder.

    added: from where to where.
    known: those that were there already.
    refused: why, by path.
    left: what else was in the folder.
    """

    added: dict[Path, Path] = field(default_factory=dict)
    known: list[Path] = field(default_factory=list)
    refused: dict[Path, str] = field(default_factory=dict)
    left: list[Path] = field(default_factory=list)

    def lines(self) -> list[str]:
        """What became of them: each that came or was refused, and the numbers."""
        said = [*map(str, self.added.values())]
        said += [f"refused: {reason}" for reason in self.refused.values()]
        said += [f"left: {path!s}" for path in self.left[:_MOST_NAMED]]
        if self.left:
            more = len(self.left) - _MOST_NAMED
            others = f"left: {more} more; " if more > 0 else ""
            said.append(f"{others}what is left is at no place of a record: {PLACE}")
        counts = (len(self.added), len(self.known), len(self.refused))
        return [*said, "{} records merged, {} here already, {} refused".format(*counts)]


def bring_back(own: Path, measured: Path, machine: Machine) -> list[Path]:
    """Copy the records of a host that are in data/measured alone to `own`; returns where."""
    if not gone(own, measured, machine):
        return []
    with lock.alone(own.with_name(f".{own.name}.lock")):
        return [place.add(own, one, encoded(one)) for one in gone(own, measured, machine)]


def gone(own: Path, measured: Path, machine: Machine) -> list[Record]:
    """The records of a host that are in data/measured alone.

    Those of another host of one machine id, such as one that was made of the same image, are not.

    Args:
        own: results/runs.
    """
    here = hosts.host_of(machine, os.environ.get("EPOCHCOST_CONTAINER"))
    shared = [
        one
        for one in shipped.of_machine(measured, machine.id)
        if hosts.host_of(one.machine, one.software.environment) == here
    ]
    there = {one.identity for _, one in record.read_all(own)} if shared else set()
    return [one for one in shared if one.identity not in there]


def merge(folder: Path, own: Path, hardware: Collection[str]) -> Merged:
    """Copy the records below `folder` (results/runs of another clone), or of one file, to `own`.

    A run that is there already is recognised by its machine, time and seed. A record's content is
    left unchanged. Of two calls at once, one waits for the other.

    Args:
        hardware: ids of the catalogue; records of others are refused.
    """
    merged = Merged()
    with lock.alone(own.with_name(f".{own.name}.lock")):
        record.migrate(own)
        _merge(folder, own, hardware, merged)
    return merged


def _merge(folder: Path, own: Path, hardware: Collection[str], merged: Merged) -> None:
    there = {one.identity for _, one in record.read_all(own)}
    for path, content, text in _records(folder, merged):
        if (name := content.run.hardware) not in hardware:
            said = f"{path}: unknown hardware '{name}'; {nearest(name, hardware)}"
            merged.refused[path] = said
        elif content.identity in there:
            merged.known.append(path)
        else:
            there.add(content.identity)
            merged.added[path] = place.add(own, content, text)


def _records(source: Path, merged: Merged) -> Iterator[tuple[Path, Record, bytes]]:
    """The records of a folder or a file that pass the checks, each with its bytes."""
    paths = [source]
    if source.is_dir():
        lines = shipped.files_in(source)
        merged.left += [path for path in record.strays(source) if path not in lines]
        paths = [*lines, *record.find(source)]
    for path in paths:
        if path.suffix == shipped.SUFFIX:
            found = shipped.read_all(path, merged.refused)
            yield from ((where, one, encoded(one)) for where, one in found)
            continue
        try:
            yield path, record.read(path), path.read_bytes()
        except (InputError, OSError) as error:
            merged.refused[path] = one_line(error)
