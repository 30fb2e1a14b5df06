"""What a training needs to go on after it was killed: the model's state, and that of its clock.

A checkpoint is kept at the end of each epoch. What an interrupted process did since then is lost,
and is charged. Each process has a file, named by the moment at which it began, that the sampler
touches twice a second: so the next one knows how long it lived, and how often one began in vain.
"""

import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from epochcost import errors, files
from epochcost.measurement.clock import Clock, Epoch, process_age

# A process that never gets to the end of an epoch is not started for ever.
MOST_STARTS = 3
_ALIVE = "alive-"


class Checkpoints:
    """The folder of one run's checkpoint, as this process has it.

    Args:
        waited: seconds since this process began that do not count.
    """

    def __init__(self, folder: Path, waited: float) -> None:
        self.folder = folder
        began = time.time() - (process_age() - waited)
        self.alive = folder / f"{_ALIVE}{int(began * 1e9)}"
        self._state: dict[str, Any] = {}
        self._may_keep = True
        folder.mkdir(parents=True, exist_ok=True)
        self.alive.touch()

    @property
    def starts(self) -> int:
        """How many processes have begun since the last whole epoch, with this one.

        Those that were asked to end are not among them.
        """
        return 1 + len(self._others())

    def begin(self, run: dict[str, Any], clock: Clock, started_at: str) -> str:
        """Bring the clock to where the last process left it, if one did.

        Args:
            run: what must be the same for a training to go on: recipe, data, software, kind of
                machine.
            started_at: the time of day at which this process began.

        Returns:
            The time of day at which the first process of the run began.
        """
        before = self._before(run)
        if before:
            lost = self._lost(before)
            clock.epochs = [_epoch(epoch) for epoch in before["epochs"]]
            clock.phases = before["phases"] | {"lost": before["phases"].get("lost", 0.0) + lost}
            clock.wall_before = before["wall_s"] + lost
            clock.interruptions = before["interruptions"] + len(self._killed_since(before))
            if before["file"]:
                clock.resume_from = self.folder / before["file"]
        self._state = {
            "run": run,
            "file": before.get("file"),
            "started_at": before.get("started_at", started_at),
            "since": _moment(self.alive),
        }
        # Of this process nothing is kept yet, so all of it would be lost.
        self._save(clock, clock.wall_before, _moment(self.alive))
        clock.keep = self.keep
        return self._state["started_at"]

    def keep(self, clock: Clock, write: Callable[[Path], None]) -> None:
        """Keep the end of an epoch; the one before is dropped only when this one is whole.

        A disk that is full costs the checkpoint, not the run.

        Args:
            write: writes the framework's state to a path.
        """
        if not self._may_keep:
            return
        name, old = f"epoch-{len(clock.epochs)}", self._state["file"]
        try:
            with clock.phase("save"), files.atomic(self.folder / name) as path:
                write(path)
            self._state |= {"file": name}
            self._save(clock, clock.wall(), time.time())
        except OSError as error:
            self._may_keep = False
            print(f"epochcost: no more checkpoints: {errors.one_line(error)}", file=sys.stderr)
            return
        if old and old != name:
            (self.folder / old).unlink(missing_ok=True)
        for sign in self._others():
            sign.unlink(missing_ok=True)

    def leave(self) -> None:
        """This process was asked to end: its time is charged, and it is no start in vain."""
        path = self.folder / "state.json"
        if self._state and path.exists():
            state = files.read_json(path)
            lost = max(0.0, time.time() - state["saved_at"])
            phases = state["phases"] | {"lost": state["phases"].get("lost", 0.0) + lost}
            state |= {"phases": phases, "wall_s": state["wall_s"] + lost}
            state |= {"interruptions": state["interruptions"] + 1}
            files.write_json(path, state | {"saved_at": time.time(), "since": time.time()})
        self.alive.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()  # where no state is in it

    def drop(self) -> None:
        """The run has its record."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _before(self, run: dict[str, Any]) -> dict[str, Any]:
        """The state that an interrupted process left of the same run; {} where there is none."""
        path = self.folder / "state.json"
        if not path.exists():
            return {}
        state = files.read_json(path)
        if state["run"] == run:
            return state
        differs = [name for name, value in run.items() if state["run"].get(name) != value]
        print(
            f"epochcost: the checkpoint in {self.folder} has another {' and '.join(differs)}; "
            "starting over",
            file=sys.stderr,
        )
        self.drop()
        self.folder.mkdir(parents=True)
        self.alive.touch()
        return {}

    def _others(self) -> list[Path]:
        """The files of other processes."""
        return [sign for sign in self.folder.glob(f"{_ALIVE}*") if sign != self.alive]

    def _killed_since(self, before: dict[str, Any]) -> list[Path]:
        """The files of the process that left a state, and of those that got no further than
        their start after it."""
        return [sign for sign in self._others() if _moment(sign) >= before["since"]]

    def _lost(self, before: dict[str, Any]) -> float:
        """Seconds that killed processes lived after what was kept, up to their last sign."""
        return sum(
            max(0.0, sign.stat().st_mtime - max(_moment(sign), before["saved_at"]))
            for sign in self._killed_since(before)
        )

    def _save(self, clock: Clock, wall: float, saved_at: float) -> None:
        state = self._state | {
            "epochs": [asdict(epoch) for epoch in clock.epochs],
            "phases": clock.phases,
            "wall_s": wall,
            "interruptions": clock.interruptions,
            "saved_at": saved_at,
        }
        files.write_json(self.folder / "state.json", state)


def _moment(alive: Path) -> float:
    """The time at which a process began, by the name of its file."""
    return int(alive.name.removeprefix(_ALIVE)) / 1e9


def _epoch(state: dict[str, Any]) -> Epoch:
    # JSON has no numbers as keys.
    marks = {
        name: {int(step): seconds for step, seconds in state.get(name, {}).items()}
        for name in ("marks", "eval_marks")
    }
    return Epoch(**state | marks)
