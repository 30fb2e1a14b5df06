"""What a training needs to go on after it was killed: the model's state, and that of its clock.

A checkpoint is kept at the end of each epoch. The work of an interrupted process since then is
lost, and is charged: `alive` is touched twice a second by the sampler, so that the next process
knows how long the last one lived.
"""

import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from epochcost import errors, files
from epochcost.measurement.clock import Clock, Epoch

# A process that never gets to the end of an epoch is not started for ever.
MOST_STARTS = 3


class Checkpoints:
    """The folder of one run's checkpoint, made before the sampler of this process begins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.alive = folder / "alive"
        self._last_alive = self.alive.stat().st_mtime if self.alive.exists() else 0.0
        self._state: dict[str, Any] = {}
        self._may_keep = True

    def begin(self, run: dict[str, Any], clock: Clock, started_at: str) -> str:
        """Bring the clock to where the last process left it, if one did, and note this start.

        Args:
            run: what must be the same for a training to go on: recipe, data, software, kind of
                machine.
            started_at: the time of day at which this process began.

        Returns:
            The time of day at which the first process of the run began.
        """
        before = self._before(run)
        if before:
            lost = max(0.0, self._last_alive - before["saved_at"])
            clock.epochs = [_epoch(epoch) for epoch in before["epochs"]]
            clock.phases = before["phases"] | {"lost": before["phases"].get("lost", 0.0) + lost}
            clock.wall_before = before["wall_s"] + lost
            clock.interruptions = before["interruptions"] + 1
            if before["file"]:
                clock.resume_from = self.folder / before["file"]
        self._state = {
            "run": run,
            "file": before.get("file"),
            "starts": before.get("starts", 0) + 1,
            "started_at": before.get("started_at", started_at),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        # Nothing of this process is kept yet, so all of it would be lost.
        self._save(clock, clock.wall_before, time.time() - (clock.wall() - clock.wall_before))
        clock.keep = self.keep
        return self._state["started_at"]

    @property
    def starts(self) -> int:
        """How often a process has begun since the last finished epoch, with this one."""
        return self._state["starts"]

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
            self._state |= {"file": name, "starts": 0}
            self._save(clock, clock.wall(), time.time())
        except OSError as error:
            self._may_keep = False
            print(f"epochcost: no more checkpoints: {errors.one_line(error)}", file=sys.stderr)
            return
        if old and old != name:
            (self.folder / old).unlink(missing_ok=True)

    def leave(self) -> None:
        """This process was asked to end; the next one goes on, however often that happens."""
        path = self.folder / "state.json"
        if self._state and path.exists():
            state = files.read_json(path)
            files.write_json(path, state | {"starts": max(0, state["starts"] - 1)})
            self.alive.touch()

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
            f"epochcost: the checkpoint in {self.folder} is of other {' and '.join(differs)}; "
            "beginning anew",
            file=sys.stderr,
        )
        self.drop()
        return {}

    def _save(self, clock: Clock, wall: float, saved_at: float) -> None:
        state = self._state | {
            "epochs": [asdict(epoch) for epoch in clock.epochs],
            "phases": clock.phases,
            "wall_s": wall,
            "interruptions": clock.interruptions,
            "saved_at": saved_at,
        }
        files.write_json(self.folder / "state.json", state)


def _epoch(state: dict[str, Any]) -> Epoch:
    marks = {int(step): seconds for step, seconds in state["marks"].items()}
    return Epoch(**state | {"marks": marks})
