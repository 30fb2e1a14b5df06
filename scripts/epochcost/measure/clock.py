"""The clock of a run: phases, epochs, and blocks of steps, on one monotonic clock.

Epochs are timed as in the published logs: from start to end including the validation pass, with
graph building inside epoch 1, but process start and data loading outside. The device is
synchronised where a time is taken and nowhere else.
"""

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil

from epochcost.errors import InputError, one_line
from epochcost.measure.extent import Extent

_INPUT_ROUNDS = 3


@dataclass
class Epoch:
    """One epoch as timed.

    marks, eval_marks: seconds since training, or validation, began, by the steps done by then.
    eval_s, held_out: None where the recipe has no validation.
    """

    number: int
    marks: dict[int, float] = field(default_factory=dict)
    train_s: float = 0.0
    eval_marks: dict[int, float] = field(default_factory=dict)
    eval_s: float | None = None
    loss: float | None = None
    held_out: float | None = None

    @property
    def done(self) -> bool:
        """Whether the epoch was trained to its end."""
        return self.loss is not None


class Stopwatch:
    """Seconds since its creation."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self._start


def process_age() -> float:
    """Seconds since this process started, according to the system (10 ms steps).

    Linux counts from boot. The boot time, which psutil adds, is in whole seconds, and would make
    each process seem up to a second older than it is.
    """
    try:
        # The name before the closing bracket may contain spaces; the 22nd field is the start time.
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError):
        return max(0.0, time.time() - psutil.Process().create_time())


def _first_after(step: int, marks: tuple[int, ...]) -> float:
    return next((mark for mark in marks if mark > step), math.inf)


class Clock:
    """Times one run.

    A framework sets `synchronise` to a function that returns when the device is idle (and
    `steps_per_call`, if one call does several steps), then calls `epoch_begin`, `step` before each
    step, `train_end`, `evaluation_step` before each step of validation, `epoch_end` and
    `checkpoint`.

    Args:
        extent: how far the run trains.
        waited: seconds since the process started that do not count.
    """

    def __init__(self, extent: Extent, waited: float = 0.0) -> None:
        self.extent = extent
        self.waited = waited
        self.synchronise: Callable[[], None] = lambda: None
        self.steps_per_call = 1  # steps that one `step` may stand for
        self.phases: dict[str, float] = {}
        self.phase_now = "import"
        self.epochs: list[Epoch] = []
        self.input: dict[str, float] | None = None
        self.sample: str | None = None
        # What this process has timed: its name, begin and end on this clock.
        self.spans: list[tuple[str, float, float]] = []
        self.accuracy: float | None = None  # of the finished model, where an extra pass gives it
        # In the forward pass of one sample; None if not counted.
        self.multiply_adds: int | None = None
        # For a run that resumes after an interruption (checkpoints.py):
        self.interruptions = 0
        self.wall_before = 0.0
        self.resume_from: Path | None = None
        self.keep: Callable[[Clock, Callable[[Path], None]], None] = lambda clock, write: None
        # Told of each epoch before it is timed: its number, and how many there are.
        self.begins: Callable[[int, int], None] = lambda number, epochs: None
        self.began = self._eval_begin = 0.0
        self._next_mark = self._next_eval_mark = math.inf
        self._index = -1  # of the last step reported in this part of the epoch

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a phase; `phase_now` names the phase in which a failure happened."""
        self.phase_now = name
        start = time.perf_counter()
        try:
            yield
        finally:
            end = time.perf_counter()
            self.add(name, end - start)
            self.spans.append((name, start, end))

    def add(self, phase: str, seconds: float) -> None:
        """Add seconds that were timed elsewhere to a phase."""
        self.phases[phase] = self.phases.get(phase, 0.0) + seconds

    def epoch_begin(self) -> None:
        """An epoch begins; the device is idle."""
        self.phase_now = "train" if self.epochs else "first_step"
        self.epochs.append(Epoch(len(self.epochs) + 1))
        self.begins(len(self.epochs), self.extent.epochs)
        self._next_mark = _first_after(0, self.extent.marks)
        self.synchronise()
        self.began = time.perf_counter()

    def step(self, index: int) -> None:
        """Step `index` of the epoch (from 0) is about to start.

        A framework that does several steps per call reports only the first of them.
        """
        self._index = index
        if index < self._next_mark:
            return
        self.synchronise()
        self.epochs[-1].marks[index] = time.perf_counter() - self.began
        self._next_mark = _first_after(index, self.extent.marks)
        self.phase_now = "train"

    def train_end(self) -> None:
        """The training part of the epoch is over, validation begins."""
        self.synchronise()
        self._eval_begin = time.perf_counter()
        self._check_steps("training", self.extent.steps)
        self._next_eval_mark = _first_after(0, self.extent.evaluation_marks)
        self.epochs[-1].train_s = self._eval_begin - self.began
        self.phase_now = "evaluate"

    def evaluation_step(self, index: int) -> None:
        """Step `index` of the validation pass (from 0) is about to start."""
        self._index = index
        if index < self._next_eval_mark:
            return
        self.synchronise()
        self.epochs[-1].eval_marks[index] = time.perf_counter() - self._eval_begin
        self._next_eval_mark = _first_after(index, self.extent.evaluation_marks)

    def epoch_end(self, loss: float, held_out: float | None = None) -> None:
        """The epoch is over, with its mean training loss and its held-out accuracy or loss.

        Both are numbers of Python: whoever has them has waited for the device.
        """
        epoch = self.epochs[-1]
        if self.extent.evaluation_steps:
            epoch.eval_s = time.perf_counter() - self._eval_begin
            self._check_steps("validation", self.extent.evaluation_steps)
        epoch.loss, epoch.held_out = loss, held_out
        self.spans.append((f"epoch {epoch.number}", self.began, time.perf_counter()))

    def during(self, begin: float, end: float) -> str | None:
        """What most of a time was spent in, `epoch 3` or a phase; None if in neither.

        Args:
            begin, end: by `time.perf_counter`.
        """
        spans = self.spans
        if self.epochs and not self.epochs[-1].done:  # it failed in this epoch
            spans = [*spans, (f"epoch {self.epochs[-1].number}", self.began, math.inf)]
        shared = {
            name: min(end, until) - max(begin, since)
            for name, since, until in spans
            if min(end, until) > max(begin, since)
        }
        return max(shared, key=shared.__getitem__) if shared else None

    def _check_steps(self, part: str, planned: int) -> None:
        """Refuse a pass with more or fewer steps than planned: its time would be for other work."""
        last, self._index = self._index, -1
        if last >= planned:
            raise RuntimeError(f"{part} had step {last + 1} of {planned}")
        if last + self.steps_per_call < planned:
            raise RuntimeError(f"{part} ended in step {last + 1} of {planned}")

    def resume(self, restore: Callable[[Path], None]) -> None:
        """Resume where an interrupted process left off, if there was one.

        Args:
            restore: reads the framework's state from a path.

        Raises:
            InputError: the checkpoint cannot be read; it is left where it is.
        """
        if self.resume_from is None:
            return
        with self.phase("build"):
            try:
                restore(self.resume_from)
            except Exception as error:
                raise InputError(
                    f"cannot resume from {self.resume_from} ({one_line(error)}); "
                    f"delete {self.resume_from.parent} to start over"
                ) from error

    def checkpoint(self, write: Callable[[Path], None]) -> None:
        """The epoch is over: save what is needed to resume from here, if that is wanted.

        Args:
            write: writes the framework's state to a path.
        """
        self.keep(self, write)

    def wall(self) -> float:
        """Seconds of the run's processes so far, excluding waits for other training runs."""
        return self.wall_before + process_age() - self.waited

    def time_input(
        self, steps: int, take: Callable[[], None], loop: Callable[[], None] | None = None
    ) -> None:
        """Time loading `steps` batches and doing nothing with them.

        Done after training, so that it disturbs nothing. Each is timed three times, alternating,
        and the median counts. If a framework prepares its next batch while it trains, the wait for
        data within training is shorter than this.

        Args:
            take: loads that many batches.
            loop: does the same with a batch that is already there: the framework's own loop, which
                takes time even without input.
        """
        takes, loops = [], []
        with self.phase("measuring"):
            for _ in range(_INPUT_ROUNDS):
                if loop:
                    loops.append(_seconds_of(loop))
                takes.append(_seconds_of(take))
        loop_s = median(loops) if loops else 0.0
        self.input = {"steps": steps, "seconds": median(takes), "loop_s": loop_s}


def _seconds_of(work: Callable[[], None]) -> float:
    stopwatch = Stopwatch()
    work()
    return stopwatch.seconds()
