"""What a quick run says about the full run."""

import math
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev
from typing import Any

from epochcost.records.passes import EVALUATE, TRAIN, passes
from epochcost.statistics.repeats import CONFIDENCE

# How far a full run is off beyond what its epochs show, as a standard deviation over the predicted
# time: each process has a speed of its own. Measured with 26 quick runs just before or after 13
# full ones on a virtual machine with two cores (docs/results.md): 0.13, raised as they are so few.
BETWEEN_PROCESSES = 0.14
_NORMAL = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True)
class Prediction:
    """Seconds of all epochs with their validation passes.

    low, high: 95 % interval for a full run in the same hour: the observed variation from one epoch
        to the next, and that from one process to the next (BETWEEN_PROCESSES). None where too few
        epochs, or epochs of different kinds, say nothing about how they vary.
    """

    seconds: float
    low: float | None
    high: float | None


def predict(record: dict[str, Any]) -> Prediction:
    """Predict the full run from the record of a quick one.

    Each short epoch gives the time of a whole one: the fixed time of a pass, plus as many steps as
    all samples need. The first one is left out; what it took beyond the others is the start-up,
    and counts once.

    A recipe for fine-tuning has epochs of different kinds; its quick run does a part of each of
    them, and the prediction is the sum of their times, scaled to all samples.
    """
    settings, data = record["settings"], record["data"]
    if "fine_tuning" in settings:
        return Prediction(_scaled(record), None, None)
    epochs, batch = settings["epochs"], settings["batch_size"]
    whole = {
        TRAIN: math.ceil(data["train_samples"] / batch),
        EVALUATE: math.ceil(data["validation_samples"] / batch),
    }
    seen, short = _by_epoch(record, whole)
    if len(seen) == 1:
        return Prediction(_from_one_epoch(record["blocks"], whole, epochs), None, None)
    start_up = max(0.0, short[0] - fmean(short[1:]))
    seconds = start_up + epochs * fmean(seen[1:])
    if len(seen) < 3:
        return Prediction(seconds, None, None)
    reach = math.hypot(_reach(seen[1:], epochs), _NORMAL * BETWEEN_PROCESSES * seconds)
    return Prediction(seconds, max(0.0, seconds - reach), seconds + reach)


def _by_epoch(record: dict[str, Any], whole: dict[str, int]) -> tuple[list[float], list[float]]:
    """Seconds of each epoch, as if it were a whole one, and as short as it was."""
    seen, short = {}, {}
    for part, steps in whole.items():
        for one in passes(record["blocks"], part):
            seen[one.epoch] = seen.get(one.epoch, 0.0) + one.seconds_of(steps)
            short[one.epoch] = short.get(one.epoch, 0.0) + one.seconds
    return list(seen.values()), list(short.values())


def _from_one_epoch(blocks: list[dict[str, Any]], whole: dict[str, int], epochs: int) -> float:
    """Seconds by an older quick run: all training time outside its steps is start-up."""
    (training,) = passes(blocks, TRAIN)
    validating = sum(one.seconds_of(whole[EVALUATE]) for one in passes(blocks, EVALUATE))
    return max(0.0, training.beside_s) + epochs * (whole[TRAIN] * training.step_s + validating)


def _reach(seen: list[float], epochs: int) -> float:
    """Half the width of the prediction interval for the sum of `epochs` epochs, by Student's t."""
    from scipy import stats  # importing it takes as long as making a plan

    spread = stdev(seen) * math.sqrt(epochs + epochs**2 / len(seen))
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, len(seen) - 1)) * spread


def _scaled(record: dict[str, Any]) -> float:
    """Seconds of each epoch and of the final predictions, as if all samples had been used."""
    data = record["data"]
    # The first step builds what all others use; it counts once.
    seconds = first_step = record["phases"]["first_step"] or 0.0
    for epoch in record["epochs"]:
        steps = math.ceil(epoch["samples"] / record["settings"]["batch_size"])
        trained = epoch["train_s"]
        if epoch["epoch"] == 1 and steps > 1:
            trained = (trained - first_step) * steps / (steps - 1)
        seconds += trained * data["train_samples"] / epoch["samples"]
        held_out = data["validation_samples"] / epoch["eval_samples"]
        seconds += epoch["eval_s"] * held_out
    return seconds + record["phases"]["predict"] * held_out
