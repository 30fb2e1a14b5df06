"""`epochcost.steps`, while somebody watches."""

import sys
import time
from contextlib import suppress

from .marks import EXPLICIT

clock = time.perf_counter
_marks = None


def begin(marks) -> None:
    """What `steps` counts in."""
    global _marks
    _marks = marks


class Steps:
    """Goes over what it is given, and counts; for all else it is what it was given."""

    def __init__(self, iterable, total: int | None = None) -> None:
        self._epochcost = iterable, total

    def __iter__(self):
        iterable, total = self._epochcost
        marks = _marks
        source = marks.source("epochcost.steps", "epochcost.steps", EXPLICIT)
        if total and marks.facts.planned_by != "given":
            marks.facts.planned, marks.facts.planned_by = int(total), "epochcost.steps"
        with suppress(Exception):  # it has no length
            marks.facts.loops.knows(sys._getframe(1), len(iterable))
        turns = iter(iterable)
        while True:
            begin, waited = clock(), marks.waited
            try:
                item = next(turns)
            except StopIteration:
                return
            if marks.waited == waited:  # a loader of PyTorch counts its waits itself
                marks.waited += clock() - begin
            yield item
            marks.mark(source)

    def __len__(self) -> int:
        return len(self._epochcost[0])

    def __getattr__(self, name: str):
        return getattr(self._epochcost[0], name)
