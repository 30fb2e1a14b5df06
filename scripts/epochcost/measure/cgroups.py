"""What a container allows its processes: the limits of their control groups (v1 and v2)."""

from collections.abc import Iterator
from pathlib import Path

_UNLIMITED = 2**60  # v1 writes a number as large as this for "no limit"


def cpus(root: Path = Path("/")) -> float | None:
    """Processor time that this process may use, as a number of CPUs; None if unlimited.

    Args:
        root: the file system's root; another one in tests.
    """
    shares = [share for folder in _folders(root, "cpu") if (share := _share(folder)) is not None]
    return min(shares, default=None)


def memory_gib(root: Path = Path("/")) -> float | None:
    """Memory that this process may use, in GiB; None if unlimited."""
    limits = [
        int(text)
        for folder in _folders(root, "memory")
        for name in ("memory.max", "memory.limit_in_bytes")
        if (text := _read(folder / name)).isdigit() and int(text) < _UNLIMITED
    ]
    return round(min(limits) / 2**30, 1) if limits else None


def throttled_seconds(root: Path = Path("/")) -> float | None:
    """Seconds that processes were throttled because a quota was used up, or None.

    Each control group counts them for its own quota, summed over processors; the largest count is
    taken.
    """
    found = []
    for folder in _folders(root, "cpu"):
        facts = dict(line.split() for line in _read(folder / "cpu.stat").splitlines())
        if "throttled_usec" in facts:
            found.append(int(facts["throttled_usec"]) / 1e6)
        elif "throttled_time" in facts:
            found.append(int(facts["throttled_time"]) / 1e9)
    return max(found, default=None)


def _share(folder: Path) -> float | None:
    """The processor time allowed to a group per period, divided by the period."""
    quota, _, period = _read(folder / "cpu.max").partition(" ")
    if not quota:
        quota, period = _read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """The folders of this process's groups, the innermost first; each limits those below it."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, name = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        top = root / "sys/fs/cgroup" / controllers
        group = top / name.lstrip("/")
        while True:
            yield group
            if group == top:
                break
            group = group.parent


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
