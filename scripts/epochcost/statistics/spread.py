"""How far runs of one training lie apart, as repeats of its kind have shown.

Runs begun within an hour of each other differ because each process has a speed of its own; those
of different hours also because a machine drifts.
"""

import csv
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist

# Of data/measured; `python study/benchmarks/spread.py` makes it.
SHIPPED = Path(__file__).resolve().parents[3] / "config/spread.csv"
FULL, PREDICTED = "full", "predicted"
HOUR, LATER = "hour", "later"
# Standard deviations from the middle to the ends of an interval that holds 95 of 100.
REACH = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Spread:
    """Standard deviations of the logarithm of a time.

    For a full run around the usual time of its training, for a prediction around the full run.

    hour: within an hour. later: from one hour to another, at least as much.
    """

    hour: float
    later: float

    @property
    def drift(self) -> float:
        """What another hour adds."""
        return math.sqrt(self.later**2 - self.hour**2)


@cache
def shipped() -> dict[str, Spread]:
    """By kind (FULL, PREDICTED), from the records that come with epochcost."""
    with open(SHIPPED, newline="", encoding="utf-8") as file:
        found = {
            (row["kind"], row["apart"]): float(row["deviation"]) for row in csv.DictReader(file)
        }
    return {
        kind: Spread(found[kind, HOUR], max(found[kind, HOUR], found[kind, LATER]))
        for kind in (FULL, PREDICTED)
    }
