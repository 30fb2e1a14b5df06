"""The names of runs, which say where their records are."""

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from epochcost.errors import InputError, short

_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class RunName:
    """A run by its parts; as text local/mnist_mlp/pytorch/default-1."""

    hardware: str
    workload: str
    framework: str
    variant: str
    trial: int

    def __str__(self) -> str:
        folder = f"{self.hardware}/{self.workload}/{self.framework}"
        return f"{folder}/{self.variant}-{self.trial}"

    def path(self, root: Path) -> Path:
        """Where its record is below `root` (results/runs).

        Raises:
            InputError: a part is none that a file can be called by, such as `..`.
        """
        for part in (self.hardware, self.workload, self.framework, self.variant):
            if not _PART.fullmatch(part):
                raise InputError(
                    f"'{short(part)}' is no part of a run's name (letters, digits, -._)"
                )
        return root / f"{self}.json"

    @classmethod
    def of(cls, run: Any) -> "RunName":
        """The name of a record's run, or of anything else that has its parts."""
        return cls(*(getattr(run, field.name) for field in fields(cls)))

    @classmethod
    def on(cls, hardware: str, name: str) -> "RunName":
        """The run on `hardware` that is called, for example, mnist_mlp/pytorch/default-1 there."""
        return cls(hardware, *parts_of_name(name))


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
