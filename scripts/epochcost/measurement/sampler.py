"""Looks at the machine twice a second while a run goes on, from a process of its own.

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
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from epochcost.measurement import gpus, limits

INTERVAL_S = 0.5
_PATIENCE_S = 10


class Sampler:
    """Samples this process and its machine from its making until `stop`.

    Args:
        alive: a file to touch at each sample, as long as its folder is there.
    """

    def __init__(self, alive: Path | None = None) -> None:
        package = Path(__file__).resolve().parents[2]
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(os.getpid()), *([str(alive)] if alive else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(package)},
        )

    def stop(self) -> dict[str, Any]:
        """What was seen (`Observed.summary`); {} where the sampler came to harm."""
        try:
            answer, _ = self._process.communicate(timeout=_PATIENCE_S)
            return json.loads(answer)
        except (subprocess.TimeoutExpired, ValueError, OSError):
            self._process.kill()
            self._process.wait()
            return {}


class Observed:
    """What the samples of a run say together.

    Args:
        pid: the process of the run; those that it starts belong to it.
    """

    def __init__(self, pid: int) -> None:
        self._run = psutil.Process(pid)
        self._since = time.perf_counter()
        self._memory = [0]
        self._clocks: list[float] = []
        self._counters = _counters()
        self._energy = _Rapl()
        self._gpus = gpus.watch()
        self.samples = 0

    def sample(self) -> None:
        """Look once."""
        self._memory.append(self._resident())
        if frequency := psutil.cpu_freq():
            self._clocks.append(frequency.current)
        self._energy.read()
        for gpu in self._gpus:
            gpu.sample()
        self.samples += 1

    def summary(self) -> dict[str, Any]:
        """Memory, clocks, throttling, pressure and energy, for a record.

        null is for what this machine does not tell.
        """
        seconds = time.perf_counter() - self._since
        before, after = self._counters, _counters()
        grown = {
            name: None if before[name] is None or value is None else value - before[name]
            for name, value in after.items()
        }
        stalled = grown.pop("stalled_s")
        waited = grown.pop("quota_waited_s")
        return {
            "samples": self.samples,
            "seconds": seconds,
            "peak_rss_mib": round(max(self._memory) / 2**20, 1),
            "cpu_mhz": spread(self._clocks),
            **grown,
            "memory_stalled_share": None if stalled is None else round(stalled / seconds, 4),
            "quota_waited_share": None if waited is None else round(waited / seconds, 4),
            "gpus": [gpu.summary(seconds) for gpu in self._gpus],
            "cpu_energy_j": self._energy.joules,
        }

    def _resident(self) -> int:
        """Bytes that the run's processes hold in memory; what they share counts for each."""
        total = 0
        try:
            family = [self._run, *self._run.children(recursive=True)]
        except psutil.Error:
            return 0
        for process in family:
            try:
                total += process.memory_info().rss if process.pid != os.getpid() else 0
            except psutil.Error:  # it has just ended
                continue
        return total


class _Rapl:
    """The energy counters of the processor packages, where they are there and can be read."""

    def __init__(self, folder: Path = Path("/sys/class/powercap")) -> None:
        self._packages = [path for path in folder.glob("intel-rapl:*") if path.name.count(":") == 1]
        self._last = self._values()
        self.joules: float | None = 0.0 if self._last else None

    def read(self) -> None:
        """Add what was used since the last time; a counter that ran over starts at 0 again."""
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


def spread(values: list[float]) -> dict[str, float] | None:
    """The least, the median and the most of some values; None of none."""
    if not values:
        return None
    return {
        name: round(of(values), 1) for name, of in (("low", min), ("median", median), ("high", max))
    }


def _counters() -> dict[str, float | None]:
    """Counters that only grow; None where the system has none.

    throttled: times that a processor was slowed down for its heat. swapped_mib: memory moved to
    or from the disk. stalled_s: seconds that some process waited for memory.
    """
    swap = psutil.swap_memory()
    return {
        "throttled": _throttled(),
        "swapped_mib": (swap.sin + swap.sout) / 2**20,
        "stalled_s": _stalled(),
        "quota_waited_s": limits.throttled_seconds(),
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


def _observe(pid: int, alive: Path | None) -> None:
    """Sample until standard input is closed, then print the summary."""
    # A signal to end is for the run, which then ends this process too.
    for notice in (signal.SIGTERM, signal.SIGINT):
        signal.signal(notice, signal.SIG_IGN)
    observed = Observed(pid)
    ended = False
    while not ended:
        observed.sample()
        ended = bool(select.select([sys.stdin], [], [], INTERVAL_S)[0])
        if alive and alive.parent.is_dir():
            alive.touch()
    observed.sample()
    print(json.dumps(observed.summary()), flush=True)


if __name__ == "__main__":
    try:
        _observe(int(sys.argv[1]), Path(sys.argv[2]) if sys.argv[2:] else None)
    except (psutil.Error, BrokenPipeError):
        sys.exit(1)  # the run was killed, and nobody asks any more
