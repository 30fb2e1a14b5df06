"""What a quick run says about the full run."""

import math
from dataclasses import dataclass
from statistics import fmean
from typing import Any

# Steps before the stretches that a prediction is made from.
WARM_UP_STEPS = 30


@dataclass(frozen=True)
class Prediction:
    """Seconds of all epochs with their validation passes.

    low, high: the same, were every step as fast as in the fastest and as slow as in the slowest
    stretch of the quick run. It is a range of what was seen, not a confidence interval.
    """

    seconds: float
    low: float | None
    high: float | None


def predict(record: dict[str, Any]) -> Prediction:
    """Predict the full run from the record of a quick one.

    A recipe for fine-tuning has epochs of different kinds; its quick run is a part of each of
    them, and the prediction is the sum of their times, scaled to all samples, without a range.
    Otherwise the sum is start-up + epochs x (steps x seconds per step + validation). Start-up is
    what the warm-up stretch, the last step and the first validation pass took beyond the later
    ones.
    """
    settings, data = record["settings"], record["data"]
    if "fine_tuning" in settings:
        return Prediction(_scaled(record), None, None)
    epochs = settings["epochs"]
    steps = math.ceil(data["train_samples"] / settings["batch_size"])
    blocks, others = _split_blocks(record["blocks"])
    per_step = [block["seconds"] / block["steps"] for block in blocks]
    evaluations = [
        (e["seconds"], data["validation_samples"] / e["samples"]) for e in record["evaluations"]
    ]
    passes = [seconds * share for seconds, share in evaluations]
    first = record["epochs"][0]
    whole_pass = 0.0  # of a recipe without validation
    if first["eval_samples"]:
        whole_pass = first["eval_s"] * data["validation_samples"] / first["eval_samples"]
    later_pass = fmean(passes) if passes else whole_pass
    # What the first pass takes beyond a later one is paid once, however many samples there are.
    extra_pass = 0.0
    if evaluations:
        extra_pass = max(0.0, first["eval_s"] - fmean(seconds for seconds, _ in evaluations))
    other_seconds = sum(block["seconds"] for block in others)
    other_steps = sum(block["steps"] for block in others)

    def total(step: float, evaluation: float) -> float:
        start_up = max(0.0, other_seconds - other_steps * step)
        return extra_pass + start_up + epochs * (steps * step + evaluation)

    return Prediction(
        total(fmean(per_step), later_pass),
        total(min(per_step), min(passes, default=later_pass)),
        total(max(per_step), max(passes, default=later_pass)),
    )


def _scaled(record: dict[str, Any]) -> float:
    """Seconds of each epoch and of the final predictions, as if all samples had been used."""
    data = record["data"]
    # The first step builds what all others use; it is paid once.
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


def _split_blocks(blocks: list[dict[str, Any]]) -> tuple[list, list]:
    """The timed stretches, and the others: the warm-up in front, the single step at the end."""
    done, warm_up = 0, 0
    while warm_up < len(blocks) and done < WARM_UP_STEPS:
        done += blocks[warm_up]["steps"]
        warm_up += 1
    if len(blocks) > warm_up + 1:
        return blocks[warm_up:-1], [*blocks[:warm_up], blocks[-1]]
    if len(blocks) > warm_up:
        return blocks[warm_up:], blocks[:warm_up]
    return blocks[1:] or blocks, blocks[:1]
