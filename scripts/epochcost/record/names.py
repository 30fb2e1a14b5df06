"""The names of runs and of the files of their records."""

import re
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from epochcost.errors import InputError, short
from epochcost.record.types import Record

_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Folders between the root and a record: hardware, workload, framework.
DEPTH = 3
_FILE = "<variant>-<trial>@<machine>-<start>.json"
PLACE = f"<hardware>/<workload>/<framework>/{_FILE}"
# A record that is on its way to its place, or of an early version, has the name of its run alone.
_NAME = re.compile(
    r"(?P<variant>[a-z0-9_]+)-(?P<trial>[1-9][0-9]{0,8})"
    r"(@(?P<mark>[0-9a-f]{12}-\d{8}T\d{6}))?\.json\Z"
)


@dataclass(frozen=True)
class RunName:
    """A run by its parts; as text local/mnist_mlp/pytorch/default-1.

    Runs of several machines may have one name. The files of their records differ.
    """

    hardware: str
    workload: str
    framework: str
    variant: str
    trial: int

    def __str__(self) -> str:
        folder = f"{self.hardware}/{self.workload}/{self.framework}"
        return f"{folder}/{self.variant}-{self.trial}"

    def path(self, root: Path, mark: str | None = None) -> Path:
        """A file of the run below `root` (results/runs).

        Args:
            mark: that of its record (`mark_of`), which makes it the record's own.

        Raises:
            InputError: a part is none that a file can be called by, such as `..`.
        """
        for part in (self.hardware, self.workload, self.framework, self.variant):
            if not _PART.fullmatch(part):
                raise InputError(
                    f"'{short(part)}' is no part of a run's name (letters, digits, -._)"
                )
        return root / f"{self}{f'@{mark}' if mark else ''}.json"

    def records(self, root: Path, machine: str = "") -> list[Path]:
        """The records of the run below `root`: one of each machine that made it, or of one."""
        bare = self.path(root)
        named = sorted(bare.parent.glob(f"{bare.stem}@{machine}*.json"))
        return [path for path in (bare, *named) if path.exists()]

    @classmethod
    def of(cls, run: Any) -> "RunName":
        """The name of a record's run, or of anything else that has its parts."""
        return cls(*(getattr(run, field.name) for field in fields(cls)))

    @classmethod
    def at(cls, path: Path) -> "RunName":
        """The name of the run whose record a file is, or was.

        Raises:
            InputError: no record is called that.
        """
        name = _NAME.match(path.name)
        if not name:
            raise InputError(f"its name is not {_FILE}")
        return cls(*path.parts[-DEPTH - 1 : -1], name["variant"], int(name["trial"]))

    @classmethod
    def on(cls, hardware: str, name: str) -> "RunName":
        """The run on `hardware` that is called, for example, mnist_mlp/pytorch/default-1 there."""
        return cls(hardware, *parts_of_name(name))


def mark_of(record: Record) -> str:
    """What tells the file of a record from all others: its machine, and when it started (UTC)."""
    started = datetime.fromisoformat(record.run.started_at)
    return f"{record.machine.id}-{started:%Y%m%dT%H%M%S}"


def path_of(record: Record, root: Path, trial: int | None = None) -> Path:
    """The place of a record below `root` (results/runs), under its own trial or another one."""
    run = RunName.of(record.run)
    return replace(run, trial=trial or run.trial).path(root, mark_of(record))


def is_record(name: str) -> bool:
    """Whether a file is called as records are."""
    return bool(_NAME.match(name))


def has_mark(path: Path) -> bool:
    """Whether a record's file has a name of its own, not only that of its run."""
    return "@" in path.name


def parts_of_name(name: str) -> tuple[str, str, str, int]:
    """Workload, framework, variant and trial of a run's name: mnist_mlp/pytorch/default-1.

    Raises:
        InputError: no run is called that.
    """
    try:
        workload, framework, rest = name.split("/")
        variant, trial = rest.rsplit("-", 1)
        return workload, framework, variant, int(trial)
    except ValueError:
        raise InputError(
            f"'{name}' is not the name of a run, such as mnist_mlp/pytorch/default-1"
        ) from None
