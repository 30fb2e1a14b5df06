"""Passes over data in a record: the time per step, and what a pass takes on top of its steps."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from epochcost.record.types import Block


@dataclass(frozen=True)
class Pass:
    """One pass over samples.

    steps, seconds: of the whole pass.
    step_s: seconds per step once the pass is under way: neither its first step nor its last ones.
    """

    epoch: int
    steps: int
    seconds: float
    step_s: float

    @property
    def beside_s(self) -> float:
        """Seconds that a pass takes on top of its steps, however many there are."""
        return self.seconds - self.steps * self.step_s

    def seconds_of(self, steps: int) -> float:
        """Seconds of a pass with `steps` steps."""
        return self.beside_s + steps * self.step_s


def passes(blocks: Iterable[Block], part: str) -> list[Pass]:
    """The passes of a part (TRAIN or EVALUATE), by epoch.

    Args:
        blocks: of a record, whose clock was read around the middle steps of a pass, or after its
            first step.
    """
    epoch_of = attrgetter("epoch")
    chosen = sorted((block for block in blocks if block.part == part), key=epoch_of)
    return [_pass(epoch, list(group)) for epoch, group in groupby(chosen, epoch_of)]


def _pass(epoch: int, blocks: list[Block]) -> Pass:
    middle = blocks[1:-1] or blocks[1:] or blocks
    steps, seconds = _sum(middle)
    return Pass(epoch, *_sum(blocks), seconds / steps)


def _sum(blocks: Iterable[Block]) -> tuple[int, float]:
    return sum(block.steps for block in blocks), sum(block.seconds for block in blocks)
