"""Adds records from elsewhere to the local ones: each once, checked, and as it was written."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from epochcost.errors import InputError, nearest, one_line
from epochcost.record import backup, place, record
from epochcost.record.names import PLACE
from epochcost.record.types import Record

# More names than these hide what became of the records.
_MOST_NAMED = 10


@dataclass
class Merged:
    """What became of the records of a folder.

    added: from where to where.
    known: those that were there already.
    refused: why, by path.
    left: what else was in the folder.
    back: records that were gone from here, by where they are again, and their copies.
    """

    added: dict[Path, Path] = field(default_factory=dict)
    known: list[Path] = field(default_factory=list)
    refused: dict[Path, str] = field(default_factory=dict)
    left: list[Path] = field(default_factory=list)
    back: dict[Path, Path] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """What became of them: each that came or was refused, and the numbers."""
        said = [*came_back(self.back), *map(str, self.added.values())]
        said += [f"refused: {reason}" for reason in self.refused.values()]
        said += [f"left: {path!s}" for path in self.left[:_MOST_NAMED]]
        if self.left:
            more = len(self.left) - _MOST_NAMED
            others = f"left: {more} more; " if more > 0 else ""
            said.append(f"{others}what is left is at no place of a record: {PLACE}")
        counts = (len(self.added), len(self.known), len(self.refused))
        return [*said, "{} records merged, {} here already, {} refused".format(*counts)]


def came_back(back: dict[Path, Path]) -> list[str]:
    """A line for each record that was gone; of many, how many more."""
    said = [
        f"{path} was gone and is back from {copy}; to be rid of a record, delete both"
        for path, copy in list(back.items())[:_MOST_NAMED]
    ]
    more = len(back) - _MOST_NAMED
    return [*said, f"{more} more records were gone and are back"] if more > 0 else said


def merge(folder: Path, own: Path, hardware: Collection[str]) -> Merged:
    """Copy the records below `folder` (results/runs of another clone), or one file, to `own`.

    A run that is there already is recognised by its machine, time and seed. A record's content is
    left unchanged. Of two calls at once, one waits for the other.

    Args:
        hardware: ids of the catalogue; records of others are refused.
    """
    merged = Merged(back=backup.settle(own))
    with backup.alone(own):
        _merge(folder, own, hardware, merged)
    return merged


def _merge(folder: Path, own: Path, hardware: Collection[str], merged: Merged) -> None:
    there = {one.identity for _, one in record.read_all(own)}
    if folder.is_dir():
        merged.left += record.strays(folder)
    for path in record.find(folder) if folder.is_dir() else [folder]:
        try:
            content = _checked(path, hardware)
        except (InputError, OSError) as error:
            merged.refused[path] = one_line(error)
            continue
        if content.identity in there:
            merged.known.append(path)
            continue
        there.add(content.identity)
        merged.added[path] = place.add(own, content, path.read_bytes())


def _checked(path: Path, hardware: Collection[str]) -> Record:
    """A record that passes the checks."""
    content = record.read(path)
    name = content.run.hardware
    if name not in hardware:
        raise InputError(f"{path}: unknown hardware '{name}'; {nearest(name, hardware)}")
    return content
