"""epochcost: what training a model costs, per model and per epoch, on any machine.

ARCHITECTURE.md has the rooms, and who uses whom.
"""

from pathlib import Path

__version__ = "0.1.0"

# The clone that this package is in.
ROOT = Path(__file__).resolve().parents[2]
