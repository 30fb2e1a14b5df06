"""Adds records from elsewhere to the local ones: each once, checked, and as it was written."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from epochcost.errors import InputError, nearest, one_line
from epochcost.record import backup, place, record, shipped
from epochcost.record.names import PLACE
from epochcost.record.types import Record, encoded

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
    """Copy the records below `folder` (results/runs of another clone), or of one file, to `own`.

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
