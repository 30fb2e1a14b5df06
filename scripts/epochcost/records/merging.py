"""Adds records from elsewhere to the local ones: each once, checked, and as it was written."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from epochcost import schemas
from epochcost.errors import InputError, nearest, one_line
from epochcost.records import place, record

_JUDGED = ("metric", "value", "target")
SCHEMA = schemas.FOLDER / "record.schema.json"


@dataclass
class Merged:
    """What became of the records of a folder.

    added: from where to where.
    known: those that were there already.
    refused: why, by path.
    """

    added: dict[Path, Path] = field(default_factory=dict)
    known: list[Path] = field(default_factory=list)
    refused: dict[Path, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """What became of them: each that came or was refused, and the numbers."""
        renamed = {path: f" (was {path.stem})" for path in self.added}
        said = [
            f"{target}{renamed[path] if path.stem != target.stem else ''}"
            for path, target in self.added.items()
        ]
        said += [f"refused: {reason}" for reason in self.refused.values()]
        counts = (len(self.added), len(self.known), len(self.refused))
        return [*said, "{} records merged, {} here already, {} refused".format(*counts)]


def merge(folder: Path, own: Path, hardware: Collection[str]) -> Merged:
    """Copy the records below `folder` (results/runs of another clone), or one file, to `own`.

    A run that is there already is recognised by its machine, time and seed. Where another run has
    its name, a record takes the next free trial; its content is left unchanged.

    Args:
        hardware: ids of the catalogue; records of others are refused.
    """
    there = {record.identity(content) for _, content in record.read_all(own)}
    merged = Merged()
    for path in [folder] if folder.is_file() else record.find(folder):
        try:
            content = _checked(path, hardware)
        except (InputError, OSError) as error:
            merged.refused[path] = one_line(error)
            continue
        if record.identity(content) in there:
            merged.known.append(path)
            continue
        there.add(record.identity(content))
        merged.added[path] = place.add(own, content["run"], path.read_bytes())
    return merged


def _checked(path: Path, hardware: Collection[str]) -> dict[str, Any]:
    """A record that passes the checks."""
    content = record.read(path)
    schemas.check(content, SCHEMA, str(path))
    name = content["run"]["hardware"]
    if name not in hardware:
        raise InputError(f"{path}: unknown hardware '{name}'; {nearest(name, hardware)}")
    _check_gate(path, content["quality"])
    return content


def _check_gate(path: Path, quality: dict[str, Any]) -> None:
    """Refuse a record whose verdict contradicts its own value and target."""
    if quality["reached"] is None:  # not judged: generated data, or part of a training
        return
    if quality["reached"] != record.reached(*(quality[key] for key in _JUDGED)):
        verdict = "reached" if quality["reached"] else "missed"
        raise InputError(
            f"{path} says that it {verdict} its target, with {quality['metric']} "
            f"{quality['value']} for {quality['target']}"
        )
