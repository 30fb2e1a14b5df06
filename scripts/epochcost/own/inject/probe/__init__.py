"""The probe: counts the steps of a training from inside an unchanged script.

It imports no framework. What goes wrong in it is noted as a problem, and the script goes on.
"""

import json
import os
import sys
import time

from . import errors, hooks, lines, steps
from .marks import Marks

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))


def install() -> None:
    """Begin to watch this interpreter."""
    folder = os.environ["EPOCHCOST_OWN"]
    with open(os.path.join(folder, "limits.json"), encoding="utf-8") as file:
        limits = json.load(file)
    _say_hello(folder)
    marks = Marks(folder, limits)
    os.register_at_fork(after_in_child=marks.reset)
    steps.begin(marks)
    errors.watch(folder, marks)
    hooks.install(marks, _PACKAGE)
    if limits["loop"]:
        lines.watch(marks, limits["loop"])


def _say_hello(folder: str) -> None:
    """Leave a note that this interpreter reads PYTHONPATH."""
    words = getattr(sys, "orig_argv", sys.argv)
    content = {
        "pid": os.getpid(),
        "argv": words,
        "python": sys.version.split()[0],
        "at": time.perf_counter(),
    }
    with open(os.path.join(folder, f"hello-{os.getpid()}"), "w", encoding="utf-8") as file:
        json.dump(content, file)
