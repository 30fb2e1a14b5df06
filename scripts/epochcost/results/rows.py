"""Runs and epochs as rows: one shape for records made here and for published measurements."""

import math
import re
import shlex
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from epochcost.errors import one_line
from epochcost.hardware import LOCAL
from epochcost.record import hosts, outliers, shipped
from epochcost.record.names import mark_of
from epochcost.record.record import recipe_id
from epochcost.record.types import QUICK, SYNTHETIC, Machine, Own, Record, Software, Weights
from epochcost.record.usable import UNUSABLE, why_unusable
from epochcost.statistics import own
from epochcost.statistics.prediction import predict

OWN = "own"
# In a GiB.
_MIB = 1024
RANDOM = "random"


@dataclass(frozen=True)
class RunRow:
    """One run; the columns of runs.csv, in their order. `results.columns` says what each holds."""

    run_id: str
    source_id: str
    workload: str
    framework: str
    framework_version: str
    variant: str
    trial: int
    seed: int | None
    hardware_id: str
    hardware_label: str
    machine: str
    machine_id: str
    host: str
    mixed_hosts: bool
    driver: str
    date: str
    started_at: str
    scale: str
    status: str
    reason: str
    data_source: str
    data_complete: bool
    train_samples: int | None
    skipped: int | None
    data_id: str
    weights: str
    settings: str
    synthetic: bool
    predicted: bool
    gpu_count: int | None
    gpus_used: int | None
    gpu: str
    gpu_busy: float | None
    gpu_memory_gib: float | None
    vcpus: int | None
    epochs: int | None
    steps: int | None
    batch_size: int | None
    recipe: str
    time_s: float | None
    time_low: float | None
    time_high: float | None
    wall_s: float | None
    overhead_s: float | None
    start_s: float | None
    metric: str
    metric_value: float | None
    quality_target: float | None
    quality_reached: bool | None
    input_share: float | None
    gflops: float | None
    gflops_share: float | None
    noise: str
    paused_s: float | None
    price_per_hour_usd_stated: float | None
    notes: str
    copy_of: str
    commit: str = ""
    shipped: str = ""


@dataclass(frozen=True)
class EpochRow:
    """One epoch; the columns of epochs.csv.

    Published epochs have no parts, only `time_s`. The epochs of a quick run are short: `samples`
    says how short.
    """

    run_id: str
    source_id: str
    workload: str
    framework: str
    variant: str
    hardware_id: str
    epoch: int
    samples: int | None
    time_s: float
    train_s: float | None
    eval_s: float | None
    loss: float | None
    metric: str
    metric_value: float | None
    scale: str
    status: str
    synthetic: bool
    data_complete: bool
    weights: str


@dataclass(frozen=True)
class Rows:
    """What a folder of records gives.

    more: what else was made of each record.
    aside: the files that give nothing, and why.
    """

    runs: list[RunRow]
    epochs: list[EpochRow]
    more: list[Any]
    aside: dict[Path, str]


def of_folder(
    folder: Path,
    labels: dict[str, str],
    also: Callable[[Record], Any] | None = None,
    measured: Path | None = None,
) -> Rows:
    """The rows of all records below a folder, and of those that came with the clone.

    One that cannot be believed, or gives no row, is set aside; all others are analysed.

    Args:
        labels: of hardware, by its id.
        also: makes another row of a record.
        measured: the folder of what came with the clone, such as data/measured; None for none.
    """
    found = Rows([], [], [], {})
    for path, content in shipped.with_own(folder, measured, found.aside):
        try:
            content = told_apart(content, {run.run_id for run in found.runs})
            run = _written(run_row(content, labels.get(content.run.hardware, "")))
            if shipped.is_shipped(path):
                run = replace(run, shipped=run.date)
            epochs = [_written(row) for row in epoch_rows(content, run.run_id)]
            more = [_written(also(content))] if also else []
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            found.aside[path] = f"{path} gives no row: {type(error).__name__}: {one_line(error)}"
            continue
        found.runs.append(run)
        found.epochs.extend(epochs)
        found.more.extend(more)
    return found


def told_apart(record: Record, names: Container[str]) -> Record:
    """A record, named by its machine and start where another run has the name of its run."""
    if run_id(record) not in names:
        return record
    name = f"{record.run.id}@{mark_of(record)}"
    return replace(record, run=replace(record.run, id=name))


def _written(row: Any) -> Any:
    """A row whose text is printable, so that a table of it can be read again.

    Raises:
        ValueError: one of its numbers is not finite.
    """
    changed = {}
    for name, value in vars(row).items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name} is {value}")
        if isinstance(value, str) and not value.isprintable():
            changed[name] = "".join(sign if sign.isprintable() else " " for sign in value)
    return replace(row, **changed)


def run_row(record: Record, hardware_label: str) -> RunRow:
    """The row of a record."""
    run, machine = record.run, record.machine
    local = run.hardware == LOCAL
    time_s, time_low, time_high = times_of(record)
    return RunRow(
        run_id=run_id(record),
        source_id=OWN,
        workload=run.workload,
        framework=run.framework,
        framework_version=record.software.framework_version,
        variant=run.variant,
        trial=run.trial,
        seed=record.seed,
        hardware_id=run.hardware,
        hardware_label=_machine_label(machine, record.software.device) if local else hardware_label,
        machine=hosts.key_of(record),
        machine_id=machine.id if local else "",
        host=hosts.host_of(machine, record.software.environment) if local else "",
        mixed_hosts=hosts.may_be_several(record),
        driver=(record.gpus_used and machine.driver) or "",
        date=run.started_at[:10],
        started_at=run.started_at,
        scale=run.scale,
        status=status_of(record),
        reason=_reason(record),
        weights=_weights(record.weights),
        settings=_settings(record.software),
        predicted=run.scale == QUICK,
        gpu_count=len(machine.gpus),
        gpus_used=record.gpus_used,
        **_of_gpus(record),
        vcpus=machine.usable_cores,
        recipe=recipe_id(record.settings),
        time_s=time_s,
        time_low=time_low,
        time_high=time_high,
        wall_s=record.wall_s,
        overhead_s=record.phases.overhead,
        start_s=record.phases.overhead - (record.phases.lost or 0.0),
        input_share=_input_share(record),
        gflops=gflops(record),
        gflops_share=gflops_share(record),
        noise="; ".join(outliers.flags_of(record)),
        paused_s=record.noise.paused_s,
        price_per_hour_usd_stated=None,
        notes=_unknown_total(record),
        copy_of="",
        commit=_commit(record),
        **(_of_own(record.own) if record.own else _of_recipe(record)),
    )


def _of_gpus(record: Record) -> dict[str, Any]:
    """Which GPUs trained, how much of the training they worked, and the most memory of one.

    They stand still while a process starts and ends, so that their work is of the rest.
    """
    used = record.gpus_used and record.utilisation
    if not used or not used.gpus:
        return {"gpu": "", "gpu_busy": None, "gpu_memory_gib": None}
    training_s = (record.wall_s or 0.0) - record.phases.overhead
    known = used.gpu_share is not None and training_s > 0
    busy = min(1.0, used.gpu_share * record.wall_s / training_s) if known else None
    peaks = [one.peak_memory_mib for one in used.gpus if one.peak_memory_mib]
    return {
        "gpu": record.machine.gpus[0].name,
        "gpu_busy": busy,
        "gpu_memory_gib": max(peaks) / _MIB if peaks else None,
    }


def _of_own(seen: Own) -> dict[str, Any]:
    """The same of an own training, of which nobody knows data and quality: one pass, of steps."""
    return {
        "data_source": "",
        "data_complete": True,
        "train_samples": None,
        "skipped": None,
        "data_id": "",
        "synthetic": False,
        "epochs": 1,
        "steps": own.whole(seen).steps,
        "batch_size": None,
        "metric": "",
        "metric_value": None,
        "quality_target": None,
        "quality_reached": None,
    }


def _of_recipe(record: Record) -> dict[str, Any]:
    """The columns of data and quality, which trainings by a recipe have."""
    data, quality = record.data, record.quality
    synthetic = data.source == SYNTHETIC
    hidden = synthetic or record.run.scale == QUICK
    return {
        "data_source": data.source,
        "data_complete": data.complete,
        "train_samples": data.train_samples,
        "skipped": data.skipped,
        "data_id": data.sha256[:8],
        "synthetic": synthetic,
        "epochs": record.settings["epochs"],
        "steps": None,
        "batch_size": record.settings["batch_size"],
        "metric": quality.metric,
        "metric_value": None if hidden else quality.value,
        "quality_target": quality.target,
        "quality_reached": quality.reached,
    }


def _unknown_total(record: Record) -> str:
    """What a step takes, of an own training of unknown length; empty for all others."""
    if record.own is None or status_of(record) != "ok":
        return ""
    seen = own.whole(record.own)
    return "" if seen.steps else f"{seen.step_s:.4g} s a step, of an unknown number"


def run_id(record: Record) -> str:
    """The name of a run in all tables; runs on hardware `local` are told apart by machine."""
    name = record.run.id
    told = record.run.hardware != LOCAL or "@" in name
    return name if told else f"{name}@{record.machine.id}"


def epoch_rows(record: Record, run_id: str) -> list[EpochRow]:
    """The rows of a record's epochs."""
    run = record.run
    return [
        EpochRow(
            run_id=run_id,
            source_id=OWN,
            workload=run.workload,
            framework=run.framework,
            variant=run.variant,
            hardware_id=run.hardware,
            epoch=epoch.epoch,
            samples=epoch.samples,
            time_s=epoch.seconds,
            train_s=epoch.train_s,
            eval_s=epoch.eval_s,
            loss=epoch.loss,
            metric=record.quality.metric,
            metric_value=epoch.metric,
            scale=run.scale,
            status=status_of(record),
            synthetic=record.data.source == SYNTHETIC,
            data_complete=record.data.complete,
            weights=_weights(record.weights),
        )
        for epoch in record.epochs
    ]


def status_of(record: Record) -> str:
    """`ok`, `failed`, or `unusable`: it ended well, but others used too much of the machine."""
    return UNUSABLE if record.status == "ok" and why_unusable(record) else record.status


def times_of(record: Record) -> tuple[float | None, float | None, float | None]:
    """Seconds of all epochs with their validation passes, and the range of a prediction of them.

    For a quick run it is predicted; for one that failed or is unusable there is none.
    """
    if status_of(record) != "ok":
        return None, None, None
    if record.own:
        whole = own.whole(record.own)
        if whole.loop_s is None or not whole.predicted:
            return whole.loop_s, None, None
        # As far off as start and loop together may be.
        share = whole.loop_s / (whole.start_s + whole.loop_s)
        return whole.loop_s, share * whole.low_s, share * whole.high_s
    if record.run.scale == QUICK:
        prediction = predict(record)
        return prediction.seconds, prediction.low, prediction.high
    # Where a recipe ends with test-time-augmented predictions, the clock includes them.
    predicting = record.phases.predict or 0.0
    return sum(epoch.seconds for epoch in record.epochs) + predicting, None, None


def _input_share(record: Record) -> float | None:
    """Time to fetch a batch without training on it, over the time of a training step.

    Without that of the framework's own loop, where it was measured. A quick run has too few steps
    for it.
    """
    alone, steady = record.input, record.steady_state
    if alone is None or steady is None or record.run.scale == QUICK:
        return None
    step = record.settings["batch_size"] / steady.samples_per_second
    return max(0.0, alone.seconds - alone.loop_s) / alone.steps / step


def gflops(record: Record) -> float | None:
    """Useful operations per second of training, in GFLOP/s, once warmed up."""
    steady, flop = record.steady_state, record.flop_per_sample
    if steady is None or flop is None:
        return None
    return steady.samples_per_second * flop / 1e9


def gflops_share(record: Record) -> float | None:
    """`gflops` over the processors' speed in matrix multiplication; unknown for a GPU."""
    achieved, yardstick = gflops(record), record.yardstick
    if achieved is None or yardstick is None or record.software.device != "cpu":
        return None
    return achieved / yardstick.matmul_gflops


def _commit(record: Record) -> str:
    """The commit that trained, with `+` where the clone was changed since; empty if not known."""
    known = record.git
    return f"{known.commit[:12]}{'+' if known.dirty else ''}" if known else ""


def _settings(software: Software) -> str:
    """What differs from the framework's defaults, as `name=value`; empty for nothing."""
    changed = software.settings | software.variables
    return " ".join(f"{name}={shlex.quote(str(changed[name]))}" for name in sorted(changed))


def _weights(started_from: Weights | None) -> str:
    """What a model started from; empty where its recipe names no weights."""
    if started_from is None:
        return ""
    return RANDOM if started_from.source == RANDOM else started_from.name


def _machine_label(machine: Machine, device: str | None) -> str:
    """The part of a machine that trained, in a few words: its GPU, or its processor and cores."""
    if device == "gpu" and machine.gpus:
        return machine.gpus[0].name
    # "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz" is shown as "Intel Xeon Platinum 8481C".
    model = re.sub(r"\((?:R|TM)\)|\b(?:CPU|Processor)\b|@.*", "", machine.cpu_model)
    parts = [" ".join(model.split()), f"{machine.usable_cores} cores"]
    # Virtual machines may hide the number: "AMD EPYC" has been the name of five generations.
    if machine.cpu_kind and not re.search(r"\d", model):
        parts.insert(1, machine.cpu_kind.partition(" stepping")[0])
    return ", ".join(parts)


def _reason(record: Record) -> str:
    failure = record.failure
    return f"{failure.phase}: {failure.reason}" if failure else why_unusable(record)
