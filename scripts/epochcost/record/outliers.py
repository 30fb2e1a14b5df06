"""The slowest epoch of a record: what stopped it may not have been seen otherwise."""

from statistics import median

from epochcost.record.passes import passes
from epochcost.record.types import TRAIN, Record

OUTLIER = "an epoch far slower than the others"
# Waits between epochs made some twice as long as the others, other work 2.9 times.
_FAR = 3
_FEWEST = 3
FLAGS = {OUTLIER: f"more than {_FAR} times their median; in tables alone"}


def slowest_epoch(record: Record) -> float | None:
    """The slowest epoch after the first over their median; for a quick run, by the time per step.

    None where there are no such epochs.
    """
    times = _times(record)
    middle = median(times) if times else 0.0
    return max(times) / middle if middle > 0 else None


def flags_of(record: Record) -> list[str]:
    """The flags of a record, and one more where an epoch is far slower than the others."""
    times, flags = sorted(_times(record)), record.noise.flags
    if len(times) > _FEWEST and times[-1] > _FAR * median(times[:-1]):
        return [*flags, OUTLIER]
    return list(flags)


def _times(record: Record) -> list[float]:
    """Seconds that each epoch after the first trained; or of a step in it."""
    if record.run.scale == "quick":
        return [one.step_s for one in passes(record.blocks, TRAIN)[1:]]
    return [epoch.train_s for epoch in record.epochs[1:]]
