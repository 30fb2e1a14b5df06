"""Whether others use so much of this machine that the time of a training says nothing."""

import time

import psutil

from epochcost.measure import machine_lock
from epochcost.measure.sampler import Work
from epochcost.record import usable
from epochcost.record.types import Machine

_LOOK_S = 1.0


class Crowd:
    """What others use, from one look to the next.

    Args:
        machine: the machine at hand.
        training: the process of a training, if there is one; it and its children are no others.
    """

    def __init__(self, machine: Machine, training: int | None = None) -> None:
        self._machine, self._training = machine, training
        self._last = self._work()

    def look(self) -> str:
        """That others use too much since the last look, as half a sentence; else empty."""
        now = self._work()
        cores = now.others_since(self._last)
        if cores is None:  # too soon
            return ""
        self._last = now
        there, own = self._machine.logical_cores, self._machine.usable_cores
        # A training is on one GPU, if nobody asks for more.
        if not usable.is_crowded(cores, there, own, gpus=min(1, len(self._machine.gpus))):
            return ""
        return f"others use {min(1.0, cores / there):.0%} of the processors"

    def _work(self) -> Work:
        try:
            run = [psutil.Process(self._training)] if self._training else []
            return Work(*run, *(child for one in run for child in one.children(recursive=True)))
        except psutil.Error:  # it has just ended
            return Work()


def warning(machine: Machine) -> str:
    """What to know before trainings start on this machine; empty where it is quiet enough.

    Another training of epochcost is waited for, and so disturbs none.
    """
    crowd = Crowd(machine)
    time.sleep(_LOOK_S)
    said = crowd.look()
    if not said or machine_lock.is_held():
        return ""
    return (
        f"{said} of this machine now: trainings take longer, and a time of which others took more "
        f"than {usable.MOST_TAKEN:.0%} is left out, as it says nothing; better stop (Ctrl-C), and "
        "call again when the machine is free"
    )
