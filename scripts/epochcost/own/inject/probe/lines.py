"""The turns of a loop that the user names by file and line (Python 3.12 and newer)."""

import os
import sys

from .marks import EXPLICIT

_TOOL = 4  # one of those that Python leaves free


def watch(marks, place: str) -> None:
    """Mark each time that the line is reached; all other lines cost nothing after their first."""
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:
        return
    name, _, number = place.rpartition(":")
    name, line = os.path.realpath(name), int(number)
    monitoring.use_tool_id(_TOOL, "epochcost")
    events = monitoring.events

    def starts(code, offset):
        if os.path.realpath(code.co_filename) == name:
            monitoring.set_local_events(_TOOL, code, events.LINE)
        return monitoring.DISABLE

    def reached(code, number):
        if number != line:
            return monitoring.DISABLE
        marks.mark(marks.source("line", f"line {line}", EXPLICIT))

    monitoring.register_callback(_TOOL, events.PY_START, starts)
    monitoring.register_callback(_TOOL, events.LINE, reached)
    monitoring.set_events(_TOOL, events.PY_START)
