"""Reads data/reference: reference speeds, data sheets of GPUs, their sources. Nobody else does."""

import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from epochcost import ROOT, sheets

FOLDER = ROOT / "data/reference"
FILES = ("speeds", "gpus", "sources", "intervals")
# The first generation of GPUs that has TF32 and bfloat16.
_AMPERE = 8.0
# Settings of a training. `tf32`: TF32 where the GPU has it, else FP32. `unknown`: not stated.
PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "fp8", "unknown")


@dataclass(frozen=True)
class Gpu:
    """The data sheet of a GPU, per chip as it is counted; None where a figure is not known.

    memory: GB. bandwidth: GB/s. fp32, tf32, fp16, bf16: TFLOP/s, dense, with tensor cores where
    there are any. capability: NVIDIA's compute capability. catalogue: its name in
    config/hardware.yaml, and form, as there. names: others, such as NVML's. From gpus.csv.
    """

    name: str
    vendor: str
    released: str | None
    capability: float | None
    memory: float | None
    bandwidth: float | None
    fp32: float | None
    tf32: float | None
    fp16: float | None
    bf16: float | None
    catalogue: str | None
    form: str | None
    names: tuple[str, ...]
    source: str

    @property
    def is_ampere(self) -> bool:
        """Whether it has TF32 and bfloat16."""
        return (self.capability or 0) >= _AMPERE

    def runs(self, stated: str, asked: str) -> bool:
        """Whether work at the precision `stated` is here the same arithmetic as at `asked`."""
        both = {stated, asked}
        return stated == asked or (both == {"fp32", "tf32"} and not self.is_ampere)

    def peak(self, precision: str) -> float | None:
        """TFLOP/s at a precision; None where it is not known."""
        if precision in ("fp16", "bf16"):
            return (self.bf16 or self.fp16) if precision == "bf16" else self.fp16 or self.fp32
        if precision == "tf32" and self.is_ampere:
            # Of these chips TF32 is half of FP16.
            return self.tf32 or (self.fp16 and self.fp16 / 2)
        return self.fp32 if precision in ("fp32", "tf32") else None


@dataclass(frozen=True)
class Cell:
    """A reference workload on a GPU: the median of its rows in one suite and software.

    rate: natural logarithm of the speed, in units of its suite. batch: natural logarithm of the
    batch size, None where it is not stated. network: the model, whatever its size and name.
    """

    suite: str
    framework: str
    version: str
    quantity: str
    precision: str
    count: int
    workload: str
    network: str
    gpu: str
    rate: float
    batch: float | None
    source: str


@dataclass(frozen=True)
class Width:
    """How far estimates of a kind are off: 90 of 100 lie within exp(half x scale), from errors.csv.

    half: in scales of the estimate. errors, networks: what it was calibrated on.
    """

    half: float
    errors: int
    networks: int


def gpus(folder: Path = FOLDER) -> dict[str, Gpu]:
    """The data sheets, by name."""
    return {row["gpu"]: _gpu(row) for row in rows("gpus", folder)}


def widths(folder: Path = FOLDER) -> dict[str, Width]:
    """How far estimates are off, by kind."""
    return {
        row["kind"]: Width(row["half_width"], int(row["errors"]), int(row["networks"]))
        for row in rows("intervals", folder)
    }


def cells(folder: Path = FOLDER) -> tuple[Cell, ...]:
    """The reference speeds."""
    return cells_of(rows("speeds", folder))


def rows(name: str, folder: Path = FOLDER) -> list[sheets.Row]:
    """The rows of one of `FILES`, checked.

    Raises:
        InputError: names the file, the line and the column of what is wrong.
    """
    schema = ROOT / f"config/schemas/reference_{name}.schema.json"
    return [row for _, row in sheets.read(folder / f"{name}.csv", schema)]


def cells_of(speeds: list[sheets.Row]) -> tuple[Cell, ...]:
    """The rows of speeds.csv, those that differ in nothing but their run as one."""
    groups: dict[tuple, list[sheets.Row]] = defaultdict(list)
    keys = ("suite", "framework", "framework_version", "quantity", "precision", "gpu_count")
    for row in speeds:
        groups[(*(row[key] for key in keys), row["workload"], row["gpu"])].append(row)
    return tuple(_cell(key, group) for key, group in groups.items())


def _cell(key: tuple, group: list[sheets.Row]) -> Cell:
    suite, framework, version, quantity, precision, count, workload, gpu = key
    sign = 1 if quantity == "throughput" else -1
    stated = [row["batch_size"] for row in group if row["batch_size"]]
    return Cell(
        suite, framework, version or "", quantity, precision, int(count), workload,
        group[0]["network"], gpu,
        sign * math.log(median(row["value"] for row in group)),
        math.log(median(stated)) if stated else None,
        group[0]["source_id"],
    )  # fmt: skip


def _gpu(row: sheets.Row) -> Gpu:
    kinds = ("fp32", "tf32", "fp16", "bf16")
    return Gpu(
        row["gpu"], row["vendor"], row["released"], row["compute_capability"], row["memory_gib"],
        row["bandwidth_gb_s"], *(row[f"{kind}_tflops"] for kind in kinds),
        row["catalogue"], row["form"],
        tuple(name.strip() for name in (row["names"] or "").split(";")), row["source"],
    )  # fmt: skip
