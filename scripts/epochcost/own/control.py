"""What the watcher and the probes share while a training runs: a few numbers in a file."""

import struct
from dataclasses import dataclass
from pathlib import Path

from epochcost.durations import worded

_NEVER = 2**63
_FORMAT = "=8Q"


@dataclass(frozen=True)
class Progress:
    """Where a training is. first_s, now_s: when its first step ended, and when this was written."""

    steps: int
    planned: int
    resumed: int
    first_s: float
    now_s: float

    def worded(self, launched: float, now: float, price_per_hour: float | None) -> str:
        """Step, time left, dollars so far, in a line."""
        if not self.steps:
            return f"no step yet, {worded(now - launched)} after the start"
        done = self.resumed + self.steps
        parts = [f"step {done:,}"]
        if self.planned:
            parts = [f"step {done:,} of {self.planned:,}"]
            each = (self.now_s - self.first_s) / max(1, self.steps - 1)
            left = (self.planned - done) * each - (now - self.now_s)
            parts.append(f"{worded(max(0.0, left))} left")
        if price_per_hour is not None:
            parts.append(f"{(now - launched) / 3600 * price_per_hour:.3g} USD so far")
        return ", ".join(parts)


def make(path: Path, stop_at: int | None) -> None:
    """The file, with the step after which all ranks stop."""
    path.write_bytes(struct.pack(_FORMAT, stop_at or _NEVER, *[0] * 7))


def progress(path: Path) -> Progress:
    """What rank 0 wrote last."""
    _, steps, planned, resumed, first, now, *_ = struct.unpack(_FORMAT, path.read_bytes())
    return Progress(steps, planned, resumed, first / 1e9, now / 1e9)
