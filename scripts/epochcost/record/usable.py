"""Whether the time of a run says anything: not where others, or pauses, took too much of it."""

from epochcost.record.types import Record

# The status of such a run in all tables; its record says what was seen, and stays as it is.
UNUSABLE = "unusable"
# The share of the processors that others may take, or of the timed epochs that pauses may. The
# records in data/measured reach 0.26, with predictions as close to the full runs as those of quiet
# runs (0.72 to 1.36 of them). A training that wants all processors and gets 0.7 of them takes 1.43
# times as long: more than any prediction was off. Threads that wait for each other lose far more;
# no record shows how much.
MOST_TAKEN = 0.3


# The cause of a pause that no clock of the run has counted (`measurement.pauses`).
_IN_NO_TIME = "suspended"


def why_unusable(record: Record) -> str:
    """Why the time of a run says nothing, in words; empty where it does say something."""
    return _paused(record) or _crowded(record)


def _paused(record: Record) -> str:
    """That pauses took too much of the epochs."""
    seconds = sum(
        pause.seconds
        for pause in record.noise.pauses or ()
        if (pause.during or "").startswith("epoch ") and pause.cause != _IN_NO_TIME
    )
    timed = sum(epoch.seconds for epoch in record.epochs)
    if seconds <= MOST_TAKEN * timed:
        return ""
    return f"pauses took {seconds:.0f} s of {timed:.0f} s"


def _crowded(record: Record) -> str:
    """That others used too much of the machine.

    How much others used a GPU is in no record, only that they were there, which is a flag.
    """
    noise, machine = record.noise, record.machine
    others, stolen = noise.others_cpu_share or 0.0, noise.steal_share or 0.0
    there = machine.logical_cores
    if not is_crowded((others + stolen) * there, there, machine.usable_cores, record.gpus_used):
        return ""
    if stolen > others:
        return f"the host gave {stolen:.0%} of the processors to others"
    return f"others used {others:.0%} of the processors"


def is_crowded(busy: float, there: int, usable: int, gpus: int) -> bool:
    """Whether others, and the host, take more than MOST_TAKEN of the processors of a run.

    A training on GPUs needs few processors: there, less than one is left for each GPU.

    Args:
        busy: the cores that they use.
        there, usable: the cores of the machine, and those that the run may use. What it may not use
            is there for others.
        gpus: how many GPUs it trains on.
    """
    taken = max(0.0, busy - (there - usable)) / usable
    return taken > MOST_TAKEN and not (gpus and usable * (1 - taken) >= gpus)
