"""When a process stood still: stopped, frozen with all around it, or its machine suspended.

A clock that is read at both ends of a stretch counts a pause as work. A second process that looks
at the first at intervals can tell: it sees the first one stopped (a signal), or did not get to look
itself (a batch system suspends the job, a container is paused, a machine is moved), or finds that
the clock that counts sleep went on alone (a laptop was closed). Only the standard library and
psutil are needed, and nothing is known of the process but its number.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import psutil

STOPPED, FROZEN, SUSPENDED = "stopped", "frozen", "suspended"
_STATES = {psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP}
# A look that comes later than this may have been kept from coming. Sooner, load explains it.
_LATE_S = 2.0
# Clocks that count sleep and those that do not differ by less without one.
_SLEEP_S = 0.5


@dataclass(frozen=True)
class Pause:
    """A time in which nothing was done.

    begin, end: by `time.perf_counter`, which is the same clock in all processes; it does not count
        the sleep of a suspended machine.
    seconds: how long it was; up to one interval between looks more or less.
    cause: STOPPED, FROZEN or SUSPENDED.
    """

    begin: float
    end: float
    seconds: float
    cause: str


class Pauses:
    """Looks for pauses of some processes; `look` is called at about equal intervals.

    Args:
        interval_s: seconds between two looks.
        clock, slept: clocks; others in tests. `slept` also counts the sleep of the machine.
    """

    def __init__(
        self,
        interval_s: float,
        clock: Callable[[], float] = time.perf_counter,
        slept: Callable[[], float] | None = None,
    ) -> None:
        self.found: list[Pause] = []
        self._interval_s = interval_s
        self._clock, self._slept = clock, slept or _with_sleep
        self._last: tuple[float, float, float] | None = None
        self._busy = 0.0  # cores, between the last two looks

    def look(self, processes: Iterable[psutil.Process]) -> None:
        """Look once at the process and those that it started."""
        states, work = _states_and_work(processes)
        now = (self._clock(), self._slept(), work)
        before, self._last = self._last or now, now
        passed, with_sleep, worked = (new - old for new, old in zip(now, before, strict=True))
        if with_sleep - passed > _SLEEP_S:
            self._add(before[0], now[0], with_sleep - passed, SUSPENDED)
        if states & _STATES:
            self._add(before[0], now[0], passed, STOPPED)
        elif passed > self._interval_s + _LATE_S and not self._went_on(worked):
            # Work went on for up to an interval after the last look.
            self._add(before[0], now[0], passed - self._interval_s, FROZEN)
        if passed > 0:
            self._busy = worked / passed

    def _went_on(self, worked: float) -> bool:
        """Whether the process worked while nobody looked: then the looking alone was held up."""
        return worked > 2 * self._interval_s * max(self._busy, 0.5)

    def _add(self, begin: float, end: float, seconds: float, cause: str) -> None:
        """Add a pause, or make the last one longer where it goes on."""
        last = self.found[-1] if self.found else None
        if last and last.cause == cause and last.end == begin:
            begin, seconds = last.begin, last.seconds + seconds
            self.found.pop()
        self.found.append(Pause(begin, end, seconds, cause))


def _states_and_work(processes: Iterable[psutil.Process]) -> tuple[set[str], float]:
    """The states of processes, and the seconds that they kept a core busy until now."""
    states, work = set(), 0.0
    for process in processes:
        try:
            states.add(process.status())
            # A parent knows the time of a child that has ended, once it has waited for it.
            work += sum(process.cpu_times()[:4])
        except psutil.Error:
            continue  # it has just ended
    return states, work


def _with_sleep() -> float:
    """A clock that goes on while the machine is suspended: Linux and macOS call it differently."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
