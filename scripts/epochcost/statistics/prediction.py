"""What a quick run says about the full run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from statistics import fmean, stdev

from epochcost.record.passes import passes
from epochcost.record.types import EVALUATE, TRAIN, Block, Record
from epochcost.statistics import spread, waits
from epochcost.statistics.intervals import CONFIDENCE


@dataclass(frozen=True)
class Prediction:
    """Seconds of all epochs with their validation passes.

    waits_s: of these, seconds that Keras on TensorFlow waits between epochs.
    low, high: 95 % interval for a full run in the same hour: the observed variation from one epoch
        to the next, and how far full runs were from predictions of the same hour, as each process
        has a speed of its own (`statistics.spread`). None on a GPU, where the latter was never
        measured, and where too few epochs, or epochs of different kinds, say nothing about how they
        vary.
    """

    seconds: float
    low: float | None
    high: float | None
    waits_s: float = 0.0


def predict(record: Record) -> Prediction:
    """Predict the full run from the record of a quick one.

    Each short epoch gives the time of a whole one: the fixed time of a pass, plus as many steps as
    all samples need. The first one is left out; what it took beyond the others is the start-up,
    and counts once. Keras on TensorFlow waits between epochs, the longer the longer they are; so
    its waits are taken off, and those of whole epochs added.

    A recipe for fine-tuning has epochs of different kinds; its quick run does a part of each of
    them, and the prediction is the sum of their times, scaled to all samples.
    """
    settings, data = record.settings, record.data
    if "fine_tuning" in settings:
        return Prediction(_scaled(record), None, None)
    epochs, batch = settings["epochs"], settings["batch_size"]
    whole = {
        TRAIN: math.ceil(data.train_samples / batch),
        EVALUATE: math.ceil(data.validation_samples / batch),
    }
    if len({block.epoch for block in record.blocks}) == 1:
        return Prediction(_from_one_epoch(record.blocks, whole, epochs), None, None)
    waited = waits.seen(record)
    seen = {part: _whole_passes(record, part, steps, waited) for part, steps in whole.items()}
    by_epoch = [sum(both) for both in zip(*filter(None, seen.values()), strict=True)]
    waits_s, by_chance = 0.0, 0.0
    if waited:
        later = [fmean(seconds[1:]) if seconds else 0.0 for seconds in seen.values()]
        waits_s, by_chance = waited.expected(*later, epochs)
    seconds = _start_up(record, waited) + epochs * fmean(by_epoch[1:]) + waits_s
    if len(by_epoch) < 3 or record.software.device == "gpu":
        return Prediction(seconds, None, None, waits_s)
    process = spread.shipped()[spread.PREDICTED].hour * seconds
    chance = spread.REACH * math.hypot(process, by_chance)
    reach = math.hypot(_reach(by_epoch[1:], epochs), chance)
    return Prediction(seconds, max(0.0, seconds - reach), seconds + reach, waits_s)


def _whole_passes(record: Record, part: str, steps: int, waited: waits.Waits | None) -> list[float]:
    """Seconds of the passes of a part, by epoch, as if they had so many steps and no wait."""
    return [
        one.seconds_of(steps) - (waited.of(part, one.epoch) if waited else 0.0)
        for one in passes(record.blocks, part)
    ]


def _start_up(record: Record, waited: waits.Waits | None) -> float:
    """Seconds that the first epoch took beyond the others, as short as they were, without waits."""
    by_epoch: dict[int, float] = {}
    for block in record.blocks:
        by_epoch[block.epoch] = by_epoch.get(block.epoch, 0.0) + block.seconds
    for part, epoch in waited.seconds if waited else ():
        by_epoch[epoch] -= waited.of(part, epoch)
    first, *later = (by_epoch[epoch] for epoch in sorted(by_epoch))
    return max(0.0, first - fmean(later))


def _from_one_epoch(blocks: Sequence[Block], whole: dict[str, int], epochs: int) -> float:
    """Seconds by an older quick run: all training time outside its steps is start-up."""
    (training,) = passes(blocks, TRAIN)
    validating = sum(one.seconds_of(whole[EVALUATE]) for one in passes(blocks, EVALUATE))
    return max(0.0, training.beside_s) + epochs * (whole[TRAIN] * training.step_s + validating)


def _reach(seen: list[float], epochs: int) -> float:
    """Half the width of the prediction interval for the sum of `epochs` epochs, by Student's t."""
    from scipy import special  # which takes long to import, and `stats` twice as long

    spread = stdev(seen) * math.sqrt(epochs + epochs**2 / len(seen))
    return float(special.stdtrit(len(seen) - 1, (1 + CONFIDENCE) / 2)) * spread


def _scaled(record: Record) -> float:
    """Seconds of each pass and of the final predictions, as if all samples had been used."""
    data = record.data
    whole = {TRAIN: data.train_samples, EVALUATE: data.validation_samples}
    which = attrgetter("epoch", "part")
    seconds = record.phases.predict * whole[EVALUATE] / record.epochs[-1].eval_samples
    for (_, part), blocks in groupby(sorted(record.blocks, key=which), which):
        seconds += _whole_pass(list(blocks), whole[part])
    return seconds


def _whole_pass(blocks: Sequence[Block], samples: int) -> float:
    """Seconds of a pass over so many samples; its first step builds what others use, once."""
    first, *later = blocks
    if not later:
        return first.seconds * samples / first.samples
    each = sum(block.seconds for block in later) / sum(block.samples for block in later)
    return first.seconds + each * (samples - first.samples)
