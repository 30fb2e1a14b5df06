"""Samples the machine twice a second during a run, from a process of its own.

The process ends, and prints what it saw as JSON, when its standard input is closed: by the run
when it is done, by the system when the run is killed.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from epochcost.measure import cgroups, gpus
from epochcost.measure.pauses import Pauses

INTERVAL_S = 0.5
# Others that keep more cores busy than this disturb a run.
OTHERS_LIMIT_CORES = 0.25
# Processor time that is not one of the processes'. Interrupts may well be those of the run's own
# GPU. Guests are in user time, too.
OF_NO_PROCESS = ("idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
_PATIENCE_S = 10


class Sampler:
    """Samples this process and its machine from creation until `stop`.

    Args:
        gpus_used: how many GPUs the run trains on, if there are any.
        alive: a file to touch at each sample, as long as it exists.
    """

    def __init__(self, gpus_used: int = 1, alive: Path | None = None) -> None:
        package = Path(__file__).resolve().parents[2]
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", __name__, str(os.getpid()), str(gpus_used)),
                *([str(alive)] if alive else []),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(package)},
        )

    def stop(self) -> dict[str, Any]:
        """What was seen (`Observed.summary`); {} if the sampler failed."""
        try:
            answer, _ = self.process.communicate(timeout=_PATIENCE_S)
            return json.loads(answer)
        except (subprocess.TimeoutExpired, ValueError, OSError):
            self.process.kill()
            self.process.wait()
            return {}


class Observed:
    """What the samples of a run add up to.

    Args:
        pid: the process of the run; those that it starts count towards it.
        gpus_used: how many GPUs it trains on, if there are any.
    """

    def __init__(self, pid: int, gpus_used: int) -> None:
        self._gpus = gpus.watch(gpus_used, pid)  # first, before the run is on them itself
        self._run = psutil.Process(pid)
        self._since = time.perf_counter()
        self._memory = [0]
        self._work = Work(*self._family())
        self._others: list[float] = []
        self._clocks: list[float] = []
        self.read_counters = read_counters()
        self._energy = _Rapl()
        self._pauses = Pauses(INTERVAL_S)
        self.samples = 0

    def sample(self) -> None:
        """Take one sample."""
        family = self._family()
        self._pauses.look(family)
        self._memory.append(_resident(family))
        work = Work(*family)
        if (others := work.others_since(self._work)) is not None:
            self._others.append(others)
            self._work = work
        if frequency := psutil.cpu_freq():
            self._clocks.append(frequency.current)
        self._energy.read()
        for gpu in self._gpus:
            gpu.sample()
        self.samples += 1

    def summary(self) -> dict[str, Any]:
        """Memory, clocks, throttling, pressure, energy and pauses, for a record.

        null for what this machine does not report.
        """
        seconds = time.perf_counter() - self._since
        before, after = self.read_counters, read_counters()
        grown = {
            name: None if before[name] is None or value is None else value - before[name]
            for name, value in after.items()
        }
        stalled = grown.pop("stalled_s")
        waited = grown.pop("quota_waited_s")
        return {
            "samples": self.samples,
            "peak_rss_mib": round(max(self._memory) / 2**20, 1),
            "cpu_mhz": spread(self._clocks),
            "disturbed_share": _share_above(self._others, OTHERS_LIMIT_CORES),
            **grown,
            "memory_stalled_share": None if stalled is None else round(stalled / seconds, 4),
            "quota_waited_share": None if waited is None else round(waited / seconds, 4),
            "gpus": [gpu.summary(seconds) for gpu in self._gpus],
            "cpu_energy_j": self._energy.joules,
            "pauses": [asdict(pause) for pause in self._pauses.found],
        }

    def _family(self) -> list[psutil.Process]:
        """The processes of the run, except this one."""
        try:
            family = [self._run, *self._run.children(recursive=True)]
        except psutil.Error:
            return []
        return [process for process in family if process.pid != os.getpid()]


class Work:
    """Processor time spent so far, by all processes and by given ones."""

    def __init__(self, *processes: psutil.Process) -> None:
        self.at = time.perf_counter()
        spent = psutil.cpu_times()
        self._all = sum(getattr(spent, name) for name in spent._fields if name not in OF_NO_PROCESS)
        # A parent knows the time of a child that has ended, once it has waited for it.
        self._own = sum(sum(_asked(process.cpu_times, (0.0,))[:4]) for process in processes)
        # This process is not counted among the others: its disturbance cannot be helped.
        self._own += sum(psutil.Process().cpu_times()[:2])

    def others_since(self, before: "Work") -> float | None:
        """Cores that others kept busy since `before`; None if the time is too short to tell."""
        seconds = self.at - before.at
        if seconds < INTERVAL_S / 2:
            return None
        return max(0.0, self._all - before._all - (self._own - before._own)) / seconds


def _resident(processes: list[psutil.Process]) -> int:
    """Bytes that processes hold in memory; what they share counts for each of them."""
    return sum(_asked(process.memory_info, (0,))[0] for process in processes)


def _asked(question: Callable[[], Any], otherwise: Any) -> Any:
    """What a process answers; `otherwise` if it has just ended."""
    try:
        return question()
    except psutil.Error:
        return otherwise


class _Rapl:
    """The energy counters of the processor packages, where they exist and can be read."""

    def __init__(self, folder: Path = Path("/sys/class/powercap")) -> None:
        # Besides the packages, the whole platform may be listed, which includes them.
        self._packages = [
            path.parent
            for path in folder.glob("intel-rapl:*/name")
            if path.read_text().startswith("package")
        ]
        self._last = self._values()
        self.joules: float | None = 0.0 if self._last else None

    def read(self) -> None:
        """Add what was used since the last time; a counter that overflows restarts at 0."""
        if self.joules is None:
            return
        now = self._values()
        for path, value in now.items():
            grown = value - self._last.get(path, value)
            if grown < 0:
                grown += int((path / "max_energy_range_uj").read_text())
            self.joules += grown / 1e6
        self._last = now

    def _values(self) -> dict[Path, int]:
        try:
            return {path: int((path / "energy_uj").read_text()) for path in self._packages}
        except (OSError, ValueError):
            return {}


def _share_above(values: list[float], limit: float) -> float | None:
    return round(sum(value > limit for value in values) / len(values), 4) if values else None


def spread(values: list[float]) -> dict[str, float] | None:
    """The minimum, median and maximum of some values; None if there are none."""
    if not values:
        return None
    return {
        name: round(of(values), 1) for name, of in (("low", min), ("median", median), ("high", max))
    }


def read_counters() -> dict[str, float | None]:
    """Counters that only grow; None where the system has none.

    throttled: how often a processor was slowed down because of heat. swapped_mib: memory moved to
    or from disk. stalled_s: seconds that some process waited for memory.
    """
    swap = psutil.swap_memory()
    return {
        "throttled": _throttled(),
        "swapped_mib": (swap.sin + swap.sout) / 2**20,
        "stalled_s": _stalled(),
        "quota_waited_s": cgroups.throttled_seconds(),
    }


def _throttled() -> int | None:
    counts = Path("/sys/devices/system/cpu").glob("cpu[0-9]*/thermal_throttle/core_throttle_count")
    try:
        values = [int(path.read_text()) for path in counts]
    except (OSError, ValueError):
        return None
    return sum(values) if values else None


def _stalled() -> float | None:
    try:
        line = Path("/proc/pressure/memory").read_text().splitlines()[0]
    except (OSError, IndexError):
        return None
    return int(line.rpartition("total=")[2]) / 1e6


def _observe(pid: int, gpus_used: int, alive: Path | None) -> None:
    """Sample until standard input is closed, then print the summary."""
    # A signal to stop is meant for the run, which then ends this process too.
    for notice in (signal.SIGTERM, signal.SIGINT):
        signal.signal(notice, signal.SIG_IGN)
    observed = Observed(pid, gpus_used)
    ended = False
    while not ended:
        observed.sample()
        ended = bool(select.select([sys.stdin], [], [], INTERVAL_S)[0])
        if alive and alive.exists():
            with suppress(OSError):
                alive.touch()
    observed.sample()
    print(json.dumps(observed.summary()), flush=True)


if __name__ == "__main__":
    try:
        _observe(*map(int, sys.argv[1:3]), Path(sys.argv[3]) if sys.argv[3:] else None)
    except (psutil.Error, BrokenPipeError):
        sys.exit(1)  # the run was killed, and nobody needs the summary
