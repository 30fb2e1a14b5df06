"""What a training run needs to resume after it was killed: the state of its model and clock.

A checkpoint is saved at the end of each epoch (of large models that train fast, of some). What an
interrupted process did after that is lost, but charged. Each process has a file, named after its
start time, that the sampler touches twice a second, so the next process knows how long it lived,
and how many starts came to nothing.
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
from epochcost.measure.clock import Clock, Epoch, Stopwatch, process_age
from epochcost.measure.observation import About
from epochcost.record import record

# A run that never gets to the end of an epoch is not restarted forever.
MOST_STARTS = 3
# Saving takes at most this share of the time, or so few seconds that nobody minds.
_SHARE, _FEW_SECONDS = 0.05, 1
_ALIVE = "alive-"


def what_runs(
    about: About, clock: Clock, software: list[Any], device: str, code: str
) -> dict[str, Any]:
    """What must match for an interrupted training run to resume.

    Args:
        software: the framework's version, what the variant changes in its settings, and environment
            variables that change how it computes.
        device: what is trained on (`gpu` or `cpu`).
        code: which epochcost this is (`revision.code`).
    """
    here = about.machine
    return {
        "recipe": record.recipe_id(about.settings),
        "data": about.data.sha256,
        "weights": about.weights and asdict(about.weights),
        "seed": about.seed,
        "steps": clock.extent.steps,
        "software": software,
        "code": code,
        "hardware": [
            here.cpu_model, here.cpu_kind, here.usable_cores, [gpu.name for gpu in here.gpus],
            device,
        ],
    }  # fmt: skip


class Checkpoints:
    """The checkpoint folder of one run, as used by this process.

    Args:
        waited: seconds since this process started that do not count.
    """

    def __init__(self, folder: Path, waited: float) -> None:
        self.folder = folder
        began = time.time() - (process_age() - waited)
        self.alive = folder / f"{_ALIVE}{int(began * 1e9)}"
        self._state: dict[str, Any] = {}
        self._may_keep = True
        self._took_s, self._since = 0.0, Stopwatch()  # of the last save; since its end
        folder.mkdir(parents=True, exist_ok=True)
        self.alive.touch()

    @property
    def starts(self) -> int:
        """How many processes have started since the last checkpoint, including this one.

        Those that were asked to stop are not counted.
        """
        return 1 + len(self._others())

    def begin(self, run: dict[str, Any], clock: Clock, started_at: str) -> str:
        """Set the clock to where the previous process left off, if there was one.

        Args:
            run: what must match for training to resume: recipe, data, software, kind of machine.
            started_at: the date and time at which this process started.

        Returns:
            The date and time at which the first process of the run started.
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
        # Nothing from this process is saved yet, so all of it would be lost.
        self._save(clock, clock.wall_before, _moment(self.alive))
        clock.keep = self.keep
        return self._state["started_at"]

    def keep(self, clock: Clock, write: Callable[[Path], None]) -> None:
        """Save the end of an epoch; the previous one is deleted only once this one is complete.

        Not while the last one, which took long, is too recent. A full disk costs the checkpoint,
        not the run.

        Args:
            write: writes the framework's state to a path.
        """
        few = max(_FEW_SECONDS, _SHARE * self._since.seconds())
        if not self._may_keep or self._took_s > few:
            return
        saving = Stopwatch()
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
        self._took_s, self._since = saving.seconds(), Stopwatch()

    def leave(self) -> None:
        """This process was asked to stop: charge its time, but not as a failed start."""
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
            self.folder.rmdir()  # if it holds no state

    def drop(self) -> None:
        """Delete the checkpoint, for instance once the run has its record."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _before(self, run: dict[str, Any]) -> dict[str, Any]:
        """The state left by an interrupted process of the same run; {} if there is none."""
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
        """Files of the process that left a state, and of later ones killed while starting."""
        return [sign for sign in self._others() if _moment(sign) >= before["since"]]

    def _lost(self, before: dict[str, Any]) -> float:
        """Seconds that killed processes lived after the last save, to their last sign of life."""
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
    """The time at which a process started, from the name of its file."""
    return int(alive.name.removeprefix(_ALIVE)) / 1e9


def _epoch(state: dict[str, Any]) -> Epoch:
    # JSON keys cannot be numbers.
    marks = {
        name: {int(step): seconds for step, seconds in state.get(name, {}).items()}
        for name in ("marks", "eval_marks")
    }
    return Epoch(**state | marks)
