"""From a finished (or failed) clock to the content of a record."""

import hashlib
import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from epochcost.measure import activity
from epochcost.measure.clock import Clock, Epoch
from epochcost.measure.pauses import SUSPENDED
from epochcost.record import types
from epochcost.record.check import LOSS, reached
from epochcost.record.passes import passes
from epochcost.record.types import (
    EVALUATE,
    FAILED,
    FULL,
    OK,
    SCHEMA_VERSION,
    SYNTHETIC,
    TRAIN,
    Record,
)


def now() -> str:
    """The current date and time, for people: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class About:
    """What is known of a run before it trains, as its record has it; settings: the recipe."""

    machine: types.Machine
    yardstick: types.Yardstick | None
    git: types.Commit | None
    seed: int
    settings: dict[str, Any]
    data: types.Data
    weights: types.Weights | None


def record(
    run: types.Run,
    about: About,
    software: types.Software,
    clock: Clock,
    shares: dict[str, Any],
    seen: dict[str, Any],
    failure: types.Failure | None,
) -> Record:
    """The record of a run.

    Args:
        run: its end is that of the record.
        shares: what the processor did (`activity.Activity.summary`).
        seen: what the sampler saw (`sampler.Observed.summary`).
        failure: of a run that failed.
    """
    recipe = about.settings
    # Generated data say nothing about quality, and neither does partial training.
    generated = about.data.source == SYNTHETIC
    judged = run.scale == FULL and failure is None and not generated
    batch = recipe["batch_size"]
    blocks = () if failure else _blocks(clock, batch)
    wall = clock.wall() - _slept(seen)
    # The energy that an earlier process used was not counted.
    joules, method = (None, None) if clock.interruptions else energy(seen)
    return Record(
        schema_version=SCHEMA_VERSION,
        run=replace(run, finished_at=now()),
        status=FAILED if failure else OK,
        failure=failure,
        **vars(about),
        software=software,
        wall_s=wall,
        phases=_phases(clock, wall),
        epochs=_epochs(clock, recipe["quality"]["metric"]),
        blocks=blocks,
        input=clock.input and types.Input(**clock.input),
        sample=clock.sample,
        quality=_quality(clock, recipe["quality"], judged),
        flop_per_sample=_flop(clock),
        steady_state=_steady_state(clock, blocks, batch),
        utilisation=utilisation(shares, seen),
        energy_j=joules,
        energy_method=method,
        interruptions=clock.interruptions,
        noise=activity.noise(shares, seen, clock.interruptions, clock.during),
    )


def data_part(manifest: dict[str, Any], samples: tuple[int, int]) -> types.Data:
    """What a record says about the data.

    Args:
        manifest: of the prepared arrays.
        samples: the numbers of training and validation samples.
    """
    return types.Data(
        dataset=manifest["dataset"],
        source=manifest["source"],
        complete=manifest["kind"] == "complete",
        train_samples=samples[0],
        validation_samples=samples[1],
        skipped=sum(manifest["skipped"].values()),
        sha256=_fingerprint(manifest),
    )


def _epochs(clock: Clock, metric: str) -> tuple[types.Epoch, ...]:
    """The epochs that were trained to their end."""
    extent = clock.extent
    return tuple(
        types.Epoch(
            epoch=epoch.number,
            train_s=epoch.train_s,
            eval_s=epoch.eval_s,
            samples=extent.samples,
            eval_samples=extent.evaluation_samples,
            loss=_finite(epoch.loss),
            metric=_metric(epoch, metric),
        )
        for epoch in clock.epochs
        if epoch.done
    )


def _quality(clock: Clock, wanted: dict[str, Any], judged: bool) -> types.Quality:
    """The quality after the last epoch, or by an extra pass after it, and the recipe's target."""
    metric, target = wanted["metric"], wanted["target"]
    value = _metric(clock.epochs[-1], metric) if clock.epochs else None
    if clock.accuracy is not None:
        value = _finite(clock.accuracy)
    is_reached = reached(metric, value, target) if judged else None
    return types.Quality(metric, value, target, is_reached)


def utilisation(shares: dict[str, Any], seen: dict[str, Any]) -> types.Utilisation:
    """How much of the machine the run used; GPUs one by one, and averaged in `gpu_share`."""
    gpus = tuple(_gpu_use(gpu) for gpu in seen.get("gpus", []))
    known = [gpu.share for gpu in gpus if gpu.share is not None]
    peaks = [activity.peak_rss_mib(), seen.get("peak_rss_mib")]
    return types.Utilisation(
        cpu_share=None if shares["cpu"] is None else round(shares["cpu"], 4),
        gpu_share=round(fmean(known), 4) if known else None,
        peak_rss_mib=max((peak for peak in peaks if peak), default=None),
        gpus=gpus,
        samples=seen.get("samples", 0),
    )


def _gpu_use(seen: dict[str, Any]) -> types.GpuUse:
    clock, held_down = seen["clock_mhz"], seen["held_down_by"]
    parts = {
        "clock_mhz": clock and types.Spread(**clock),
        "held_down_by": None if held_down is None else tuple(held_down),
    }
    return types.GpuUse(**seen | parts)


def _slept(seen: dict[str, Any]) -> float:
    """Seconds that the machine was suspended: the age of a process counts them, no other time."""
    pauses = seen.get("pauses", [])
    return sum(pause["seconds"] for pause in pauses if pause["cause"] == SUSPENDED)


def energy(seen: dict[str, Any]) -> tuple[float | None, str | None]:
    """Total joules of processor and GPUs, as far as they are measured, and by which methods."""
    parts = {}
    if seen.get("cpu_energy_j") is not None:
        parts["RAPL"] = seen["cpu_energy_j"]
    for gpu in seen.get("gpus", []):
        if gpu["energy_j"] is not None:
            parts[gpu["energy_method"]] = parts.get(gpu["energy_method"], 0.0) + gpu["energy_j"]
    return (round(sum(parts.values()), 1), " + ".join(parts)) if parts else (None, None)


def diverged(clock: Clock) -> bool:
    """Whether a loss or an accuracy of the run is not a finite number."""
    values = [value for epoch in clock.epochs for value in (epoch.loss, epoch.held_out)]
    return any(value is not None and not math.isfinite(value) for value in values)


def _phases(clock: Clock, wall: float) -> types.Phases:
    """Seconds by phase, which add up to the wall time; `train` excludes the first step."""
    phases: dict[str, float | None] = dict(clock.phases)
    if clock.epochs:
        # For a framework that does several steps per call, it is the first of these calls.
        first = min(clock.epochs[0].marks.values(), default=None)
        train = sum(epoch.train_s for epoch in clock.epochs)
        phases["first_step"] = first
        phases["train"] = train - (first or 0.0) if train else None
        done = [epoch.eval_s for epoch in clock.epochs if epoch.eval_s is not None]
        phases["evaluate"] = sum(done) if done else None
    phases["other"] = wall - sum(seconds or 0.0 for seconds in phases.values())
    return types.Phases.of(phases)


def _metric(epoch: Epoch, name: str) -> float | None:
    """What a run's quality is judged by: held-out accuracy or loss, or the training loss."""
    return _finite(epoch.loss if name == LOSS else epoch.held_out)


def _blocks(clock: Clock, batch: int) -> tuple[types.Block, ...]:
    """The stretches of steps between readings of the clock, in all epochs."""
    extent, blocks = clock.extent, []
    for epoch in clock.epochs:
        parts = [(TRAIN, epoch.marks, extent.steps, epoch.train_s, extent.samples)]
        if epoch.eval_s is not None:
            held_out = extent.evaluation_steps, epoch.eval_s, extent.evaluation_samples
            parts.append((EVALUATE, epoch.eval_marks, *held_out))
        for part, marks, steps, seconds, samples in parts:
            borders = [(0, 0.0), *sorted(marks.items()), (steps, seconds)]
            blocks += [
                types.Block(
                    epoch=epoch.number,
                    part=part,
                    steps=end - start,
                    samples=min(end * batch, samples) - start * batch,
                    seconds=until - since,
                )
                for (start, since), (end, until) in pairwise(borders)
            ]
    return tuple(blocks)


def _steady_state(
    clock: Clock, blocks: tuple[types.Block, ...], batch: int
) -> types.SteadyState | None:
    """Samples per second once warmed up: over the epochs after the first.

    For a quick run, whose epochs are short, without the time an epoch takes beside its steps.
    `low` and `high` are the slowest and the fastest of the parts.
    """
    extent = clock.extent
    parts = [extent.samples / epoch.train_s for epoch in clock.epochs[1:] if epoch.train_s]
    if len(extent.marks) > 1:
        parts = [batch / one.step_s for one in passes(blocks, TRAIN)[1:]]
    if not parts:
        return None
    return types.SteadyState(median(parts), min(parts), max(parts), len(parts))


def _flop(clock: Clock) -> int | None:
    """Operations to train on one sample: the backward pass takes twice those of the forward pass.

    Only dense, convolutional and recurrent layers are counted, each multiply-add as two operations.
    """
    return None if clock.multiply_adds is None else 3 * 2 * clock.multiply_adds


def _fingerprint(manifest: dict[str, Any]) -> str:
    """One sha256 for all arrays of a data set."""
    parts = [f"{name} {a['sha256']}" for name, a in sorted(manifest["arrays"].items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
