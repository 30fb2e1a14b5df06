"""From a finished (or failed) clock to the content of a record."""

import hashlib
import math
from datetime import UTC, datetime
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from epochcost.measure import activity
from epochcost.measure.clock import Clock, Epoch
from epochcost.measure.pauses import SUSPENDED
from epochcost.record.check import LOSS, reached
from epochcost.record.names import RunName
from epochcost.record.passes import EVALUATE, TRAIN, passes
from epochcost.record.phases import PHASES
from epochcost.record.record import SCHEMA_VERSION


def now() -> str:
    """The current date and time, for people: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def record(
    run: dict[str, Any],
    about: dict[str, Any],
    clock: Clock,
    shares: dict[str, Any],
    seen: dict[str, Any],
    failure: dict[str, str] | None,
) -> dict[str, Any]:
    """The record of a run.

    Args:
        run: hardware, workload, framework, variant, trial, scale, started_at.
        about: parts of the record that come from elsewhere: machine, yardstick, software, git,
            seed, settings (the recipe), data, weights.
        shares: what the processor did (`activity.Activity.summary`).
        seen: what the sampler saw (`sampler.Observed.summary`).
        failure: phase and reason when the run failed, else None.
    """
    recipe = about["settings"]
    # Generated data say nothing about quality, and neither does partial training.
    generated = about["data"]["source"] == "synthetic"
    judged = run["scale"] == "full" and failure is None and not generated
    batch = recipe["batch_size"]
    blocks = [] if failure else _blocks(clock, batch)
    wall = clock.wall() - _slept(seen)
    # The energy that an earlier process used was not counted.
    energy, method = (None, None) if clock.interruptions else _energy(seen)
    return {
        "schema_version": SCHEMA_VERSION,
        "run": {
            "id": str(RunName.of(run)),
            **run,
            "finished_at": now(),
        },
        "status": "failed" if failure else "ok",
        "failure": failure,
        **about,
        "wall_s": wall,
        "phases": _phases(clock, wall),
        "epochs": _epochs(clock, recipe["quality"]["metric"]),
        "blocks": blocks,
        "input": clock.input,
        "sample": clock.sample,
        "quality": _quality(clock, recipe["quality"], judged),
        "flop_per_sample": _flop(clock),
        "steady_state": _steady_state(clock, blocks, batch),
        "utilisation": _utilisation(shares, seen),
        "energy_j": energy,
        "energy_method": method,
        "interruptions": clock.interruptions,
        "noise": activity.noise(shares, seen, clock.interruptions, clock.during),
    }


def data_part(manifest: dict[str, Any], samples: tuple[int, int]) -> dict[str, Any]:
    """What a record says about the data.

    Args:
        manifest: of the prepared arrays.
        samples: the numbers of training and validation samples.
    """
    return {
        "dataset": manifest["dataset"],
        "source": manifest["source"],
        "complete": manifest["kind"] == "complete",
        "train_samples": samples[0],
        "validation_samples": samples[1],
        "skipped": sum(manifest["skipped"].values()),
        "sha256": _fingerprint(manifest),
    }


def _epochs(clock: Clock, metric: str) -> list[dict[str, Any]]:
    """The epochs that were trained to their end."""
    return [
        {
            "epoch": epoch.number,
            "train_s": epoch.train_s,
            "eval_s": epoch.eval_s,
            "samples": clock.extent.samples,
            "eval_samples": clock.extent.evaluation_samples,
            "loss": _finite(epoch.loss),
            "metric": _metric(epoch, metric),
        }
        for epoch in clock.epochs
        if epoch.done
    ]


def _quality(clock: Clock, wanted: dict[str, Any], judged: bool) -> dict[str, Any]:
    """The quality after the last epoch, or by an extra pass after it, and the recipe's target."""
    metric, target = wanted["metric"], wanted["target"]
    value = _metric(clock.epochs[-1], metric) if clock.epochs else None
    if clock.accuracy is not None:
        value = _finite(clock.accuracy)
    return {
        "metric": metric,
        "value": value,
        "target": target,
        "reached": reached(metric, value, target) if judged else None,
    }


def _utilisation(shares: dict[str, Any], seen: dict[str, Any]) -> dict[str, Any]:
    """How much of the machine the run used; GPUs one by one, and averaged in `gpu_share`."""
    gpus = seen.get("gpus", [])
    known = [gpu["share"] for gpu in gpus if gpu["share"] is not None]
    peaks = [activity.peak_rss_mib(), seen.get("peak_rss_mib")]
    return {
        "cpu_share": None if shares["cpu"] is None else round(shares["cpu"], 4),
        "gpu_share": round(fmean(known), 4) if known else None,
        "peak_rss_mib": max((peak for peak in peaks if peak), default=None),
        "gpus": gpus,
        "samples": seen.get("samples", 0),
    }


def _slept(seen: dict[str, Any]) -> float:
    """Seconds that the machine was suspended: the age of a process counts them, no other time."""
    pauses = seen.get("pauses", [])
    return sum(pause["seconds"] for pause in pauses if pause["cause"] == SUSPENDED)


def _energy(seen: dict[str, Any]) -> tuple[float | None, str | None]:
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
    values = [value for epoch in clock.epochs for value in (epoch.loss, epoch.accuracy)]
    return any(value is not None and not math.isfinite(value) for value in values)


def _phases(clock: Clock, wall: float) -> dict[str, float | None]:
    """Seconds by phase, which add up to the wall time; `train` excludes the first step."""
    phases: dict[str, float | None] = dict.fromkeys(PHASES)
    phases.update(clock.phases)
    if clock.epochs:
        # For a framework that does several steps per call, it is the first of these calls.
        first = min(clock.epochs[0].marks.values(), default=None)
        train = sum(epoch.train_s for epoch in clock.epochs)
        phases["first_step"] = first
        phases["train"] = train - (first or 0.0) if train else None
        done = [epoch.eval_s for epoch in clock.epochs if epoch.eval_s is not None]
        phases["evaluate"] = sum(done) if done else None
    phases["other"] = wall - sum(seconds or 0.0 for seconds in phases.values())
    return phases


def _metric(epoch: Epoch, name: str) -> float | None:
    """What a run's quality is judged by: held-out accuracy, or the training loss."""
    return _finite(epoch.loss if name == LOSS else epoch.accuracy)


def _blocks(clock: Clock, batch: int) -> list[dict[str, Any]]:
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
                {
                    "epoch": epoch.number,
                    "part": part,
                    "steps": end - start,
                    "samples": min(end * batch, samples) - start * batch,
                    "seconds": until - since,
                }
                for (start, since), (end, until) in pairwise(borders)
            ]
    return blocks


def _steady_state(clock: Clock, blocks: list[dict[str, Any]], batch: int) -> dict[str, Any] | None:
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
    return {
        "samples_per_second": median(parts),
        "low": min(parts),
        "high": max(parts),
        "parts": len(parts),
    }


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
