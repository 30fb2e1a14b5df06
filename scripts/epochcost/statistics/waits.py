"""How long Keras on TensorFlow waits between epochs, from what a quick run saw.

Each epoch, and each validation, has a thread that tunes its input. It sleeps 20 ms, 40 ms, 80 ms,
..., and at most a minute. When its pass is over TensorFlow wakes it up to end it, but often too
early for the thread to see that it is to end; so it sleeps on, and the training waits. Such a wait
can be as long as the pass itself: a second where a quick run has a short epoch, half a minute where
a full run has a whole one (study/benchmarks/epoch_waits.py).
"""

import math
from dataclasses import dataclass
from statistics import fmean

from epochcost.record.types import EVALUATE, TRAIN, Record

_FRAMEWORK, _SETTING = "keras-tensorflow", "input_autotuning"
# Of the sleeps, in seconds (tensorflow/core/framework/model.h).
_SHORTEST, _LONGEST = 0.01, 60
# Of passes longer than this nobody knows at which second of a minute they end.
_FAR_S = 1e6
# How exactly a pass of a full run is known; the time to the next wake jumps where a sleep ends.
_AROUND = (0.8, 0.9, 1.0, 1.1, 1.2)


@dataclass(frozen=True)
class Waits:
    """What passes waited for threads that slept.

    seconds: by part (TRAIN: before the first step; EVALUATE: after the last) and epoch.
    share: of the time that the threads would have slept on, had none been ended.
    effective_passes: how many equally long sleeps would tell as much of the share.
    """

    seconds: dict[tuple[str, int], float]
    share: float
    effective_passes: float

    def of(self, part: str, epoch: int) -> float:
        """Seconds that a pass waited."""
        return self.seconds.get((part, epoch), 0.0)

    def expected(self, train_s: float, eval_s: float, epochs: int) -> tuple[float, float]:
        """Seconds that whole epochs wait in all, and their standard deviation.

        Args:
            train_s, eval_s: of a whole epoch's training and validation (0: none), without waits.
        """
        after = _until_wake(eval_s) if eval_s else 0.0  # each validation
        before = _until_wake(train_s + eval_s + self.share * after)  # all epochs but the first
        sleeps = epochs * after + (epochs - 1) * before
        # That none or all waited in a few passes does not mean that none or all ever do.
        rate = (self.share * self.effective_passes + 0.5) / (self.effective_passes + 1)
        squares = epochs * after**2 + (epochs - 1) * before**2 + sleeps**2 / self.effective_passes
        variance = rate * (1 - rate) * squares
        return self.share * sleeps, math.sqrt(variance)


def seen(record: Record) -> Waits | None:
    """The waits in a run of several epochs; None if its framework has none.

    A wait is what the first step of a training pass, or the last ones of a validation, took beyond
    the quickest of their kind. The first epoch is left out.
    """
    if record.run.framework != _FRAMEWORK or not record.software.settings.get(_SETTING, True):
        return None
    first, last = {}, {}
    for block in record.blocks:
        if block.part == TRAIN:
            first.setdefault(block.epoch, block.seconds)
        else:
            last[block.epoch] = block.seconds
    epochs = {epoch.epoch: epoch for epoch in record.epochs}
    seconds, sleeps = {}, []
    for part, ends in ((TRAIN, first), (EVALUATE, last)):
        later = {epoch: end for epoch, end in ends.items() if epoch > 1}
        for epoch, end in later.items():
            longer = end - min(later.values())
            if part == TRAIN:  # The thread is that of the epoch before, begun after its wait.
                before = epochs[epoch - 1]
                waited = ends[epoch - 1] - min(later.values())
                age = before.train_s - waited + (before.eval_s or 0.0)
            else:
                age = epochs[epoch].eval_s - longer
            sleep = next_wake(age) - age
            seconds[part, epoch] = min(longer, sleep)
            sleeps.append(sleep)
    share = sum(seconds.values()) / sum(sleeps)
    return Waits(seconds, share, sum(sleeps) ** 2 / sum(sleep**2 for sleep in sleeps))


def next_wake(age: float) -> float:
    """Seconds after its start at which a thread of this age wakes up next."""
    if age > _FAR_S:
        return age + _LONGEST / 2
    wake, sleep = 0.0, _SHORTEST
    while wake <= age:
        sleep = min(2 * sleep, _LONGEST)
        wake += sleep
    return wake


def _until_wake(age: float) -> float:
    """Seconds to the next wake, for an age that is about this."""
    return fmean(next_wake(age * factor) - age * factor for factor in _AROUND)
