"""Why a script ends by itself: the exception that nobody caught."""

import contextlib
import json
import os
import sys

_LONGEST = 300


def watch(folder: str, marks) -> None:
    """Note an exception that ends this interpreter, which then prints it as without us."""
    theirs = sys.excepthook

    def noted(kind, error, trace) -> None:
        if issubclass(kind, Exception):
            with contextlib.suppress(Exception):  # it is the script's error that counts
                _note(folder, marks, kind, error)
        theirs(kind, error, trace)

    sys.excepthook = noted


def _note(folder: str, marks, kind: type, error: Exception) -> None:
    said = " ".join(str(error).split())[:_LONGEST]
    content = {
        "pid": os.getpid(),
        "error": f"{kind.__name__}: {said}" if said else kind.__name__,
        "facts": marks.facts.now(marks),
    }
    with open(os.path.join(folder, f"error-{os.getpid()}"), "w", encoding="utf-8") as file:
        json.dump(content, file)
