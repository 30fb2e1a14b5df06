"""What is known: reference speeds, data sheets, and what follows from both."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from epochcost.errors import nearest
from epochcost.estimate import batches, datasheet, ratios, reference


@dataclass(frozen=True, eq=False)
class Knowledge:
    """All that estimates rest on; what is made of it is made once.

    gpus: by name. cells: reference speeds. widths: of the intervals, by kind.
    """

    gpus: Mapping[str, reference.Gpu]
    cells: tuple[reference.Cell, ...]
    widths: Mapping[str, reference.Width]

    @cached_property
    def _names(self) -> dict[str, str]:
        """The name of a GPU by every other one; of a catalogue's name for several, SXM first."""
        found: dict[str, str] = {}
        for gpu in sorted(self.gpus.values(), key=lambda gpu: (gpu.form or "sxm") != "sxm"):
            if gpu.catalogue:
                found.setdefault(_plain(gpu.catalogue), gpu.name)
        for gpu in self.gpus.values():
            for name in filter(None, (gpu.name, *gpu.names)):
                found.setdefault(_plain(name), gpu.name)
        return found

    def nearest(self, name: str) -> str:
        """A hint for a name that is not known."""
        called = {gpu.catalogue for gpu in self.gpus.values() if gpu.catalogue}
        return nearest(name, self.gpus.keys() | called)

    def named(self, name: str) -> str | None:
        """The GPU of a name, be it ours, the catalogue's or NVML's; None where it is not known."""
        return self._names.get(_plain(name))

    def of_hardware(self, entry: Mapping[str, Any]) -> str | None:
        """The GPU of an entry of config/hardware.yaml, by name, form and memory."""
        fitting = [gpu for gpu in self.gpus.values() if gpu.catalogue == entry.get("gpu")]
        for wanted, has in (("gpu_form", "form"), ("gpu_memory_gib", "memory")):
            if value := entry.get(wanted):
                fitting = [gpu for gpu in fitting if getattr(gpu, has) in (value, None)] or fitting
        fitting.sort(key=lambda gpu: (gpu.form or "sxm") != "sxm")
        return fitting[0].name if fitting and entry.get("gpu") else None

    @cached_property
    def frameworks(self) -> frozenset[tuple[str, str]]:
        """The sources of the reference speeds, and the frameworks that each has."""
        return frozenset((cell.source, cell.framework) for cell in self.cells)

    def at(self, precision: str, count: int) -> ratios.Ratios:
        """The ratios of all pairs of GPUs at a precision and a number of GPUs."""
        if (precision, count) not in self._made:
            pairs = self._pairs(precision, count)
            self._made[precision, count] = ratios.Ratios(pairs, self.gains.of)
        return self._made[precision, count]

    @cached_property
    def sheet(self) -> datasheet.Sheet:
        """What data sheets tell of the ratios of GPUs."""
        return datasheet.fitted(self._of_one, self.gpus)

    @cached_property
    def gains(self) -> batches.Gains:
        """What a larger batch gains, by network."""
        return batches.fitted(self._of_one, self.sheet.slope)

    @cached_property
    def _of_one(self) -> dict[str, dict[tuple[str, str], list[ratios.Ratio]]]:
        return {precision: self._pairs(precision, 1) for precision in datasheet.PRECISIONS}

    @cached_property
    def _made(self) -> dict[tuple[str, int], ratios.Ratios]:
        return {}

    def _pairs(self, precision: str, count: int) -> dict[tuple[str, str], list[ratios.Ratio]]:
        return ratios.pairs(self.cells, self.gpus, precision, count)

    def without(
        self, networks: Collection[str] = (), gpus: Collection[str] = (), suites: Collection = ()
    ) -> "Knowledge":
        """The same without some reference speeds, to see how well the others predict them."""
        kept = (
            cell
            for cell in self.cells
            if cell.network not in networks and cell.gpu not in gpus and cell.suite not in suites
        )
        return replace(self, cells=tuple(kept))


def read(folder: Path = reference.FOLDER) -> Knowledge:
    """What data/reference holds.

    Raises:
        InputError: names the file, the line and the column of what is wrong.
    """
    return Knowledge(reference.gpus(folder), reference.cells(folder), reference.widths(folder))


_VENDORS = {"NVIDIA", "TESLA", "GEFORCE", "AMD"}


def _plain(name: str) -> str:
    """A name without what differs between those who write it: `NVIDIA A100-SXM4-40GB`."""
    words = re.split(r"[\s_-]+", name.strip().upper())
    words = [re.sub(r"^SXM\d$", "SXM", word) for word in words if word not in _VENDORS]
    # The "RTX" of "NVIDIA RTX A6000" came later than its model.
    return re.sub(r"^RTX (?=A\d{4}$)", "", " ".join(words))
