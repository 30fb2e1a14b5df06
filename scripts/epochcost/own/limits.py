"""How long an own training is watched."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from epochcost.errors import InputError


@dataclass(frozen=True)
class Limits:
    """How long a training is watched, and what the user says of it.

    stop_after: the step time is `stable`, `never`, or so many steps. seconds: at most, from the
    first step; not for `never` and for a number of steps. no_step_seconds: from the launch, for the
    first step. loop: FILE:LINE of a loop's first statement, each time a step (Python 3.12).
    total_steps: of the whole training. price_per_hour: in dollars, for who asks meanwhile.
    """

    stop_after: Literal["stable", "never"] | int = "stable"
    seconds: float = 300.0
    no_step_seconds: float = 600.0
    loop: str | None = None
    total_steps: int | None = None
    price_per_hour: float | None = None

    def __post_init__(self) -> None:
        after = self.stop_after
        if after not in ("stable", "never") and not (type(after) is int and after > 0):
            raise InputError(f"'{after}': stop after stable, never, or a number of steps")
        if self.loop is not None:
            name, _, line = self.loop.rpartition(":")
            if not name or not line.isdigit() or not Path(name).is_file():
                raise InputError(f"'{self.loop}' is no FILE:LINE of a file that is there")

    def write(self, path: Path) -> None:
        """What the probe is told."""
        content = {
            "stop_after": self.stop_after,
            "seconds": self.seconds,
            "loop": self.loop,
            "total_steps": self.total_steps,
            "launched_at": time.time(),
        }
        path.write_text(json.dumps(content))
