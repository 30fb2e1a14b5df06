"""How far a training run is, for whoever waits for it.

The run notes it at the borders of epochs, in a few microseconds outside of what is timed, into an
open file. Another process (scripts/start.py) reads it there, once a minute.
"""

import json
import os
import time
from contextlib import suppress
from typing import Any

# Bytes of a note, however short: a reader never sees the end of an earlier one.
_SIZE = 4096


class Progress:
    """The notes of a run.

    Args:
        file: the descriptor of an open file that somebody reads; None if nobody does.
    """

    def __init__(self, file: int | None) -> None:
        self._file = file
        self._begun: list[float] = []

    def waits(self) -> None:
        """It waits until nobody else trains on the machine."""
        self._note({"waits": True})

    def prepares(self) -> None:
        """It has the machine, and does what comes before the first epoch."""
        self._note({})

    def epoch(self, number: int, epochs: int) -> None:
        """An epoch is about to begin."""
        self._begun.append(time.monotonic())
        # The first one of a process builds what the others use, and says nothing about them.
        last_s = self._begun[-1] - self._begun[-2] if len(self._begun) > 2 else None
        note = {"epoch": number, "epochs": epochs, "began": self._begun[-1], "last_s": last_s}
        self._note(note)

    def failed(self, why: str) -> None:
        """It failed, which its record says."""
        self._note({"failed": why})

    def lost(self, why: str) -> None:
        """It ended well, and its time says nothing."""
        self._note({"lost": why})

    def _note(self, facts: dict[str, Any]) -> None:
        if self._file is None:
            return
        # Nothing is measured worse because nobody can be told.
        with suppress(OSError):
            os.pwrite(self._file, json.dumps(facts).encode().ljust(_SIZE)[:_SIZE], 0)


def read(file: int) -> dict[str, Any]:
    """What was noted last: waits; or epoch, epochs, began, last_s; or failed, lost; else nothing.

    Args:
        file: the descriptor that `Progress` writes to.
    """
    try:
        return json.loads(os.pread(file, _SIZE, 0) or b"{}")
    except (OSError, ValueError):
        return {}


def seconds_left(noted: dict[str, Any]) -> float | None:
    """Seconds until the last epoch ends, as long as each takes what the last one did; else None."""
    if noted.get("last_s") is None:
        return None
    ahead = (noted["epochs"] - noted["epoch"] + 1) * noted["last_s"]
    return max(0.0, ahead - (time.monotonic() - noted["began"]))
