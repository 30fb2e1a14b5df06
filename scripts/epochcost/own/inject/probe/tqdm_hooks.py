"""Progress bars of tqdm: the turns of a loop, where nothing surer tells the steps."""

import sys
from functools import wraps

from .marks import BAR


def bars(hooking, module) -> None:
    """Mark the turns of loops over bars; a loop is the line that it is in."""
    marks, original = hooking.marks, module.tqdm.__iter__

    @wraps(original)
    def __iter__(self):
        frame = sys._getframe(1)
        key = (frame.f_code.co_filename, frame.f_lineno)
        marks.facts.loops.knows(frame, getattr(self, "total", None))
        del frame
        for item in original(self):
            yield item
            marks.mark(marks.source(key, "tqdm", BAR))

    module.tqdm.__iter__ = __iter__
