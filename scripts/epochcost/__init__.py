"""epochcost: what training a model costs, per model and per epoch, on any machine.

ARCHITECTURE.md has the rooms, and who uses whom.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

__version__ = "0.1.0"

# The clone that this package is in.
ROOT = Path(__file__).resolve().parents[2]


def steps(iterable: Iterable, total: int | None = None) -> Iterable:
    """Say which loop trains: `for batch in epochcost.steps(loader): ...`, each turn a step.

    While `epochcost measure` watches, the turns are counted; else this is `iterable` itself. A
    script that also runs where there is no epochcost says:

        try: from epochcost import steps
        except ImportError: steps = lambda batches, total=None: batches

    Args:
        total: turns of the whole training, where several loops or a generator make it up.
    """
    watching = sys.modules.get("_epochcost_probe")
    return iterable if watching is None else watching.steps.Steps(iterable, total)
