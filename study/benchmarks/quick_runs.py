"""The quick runs of one session on one machine, for the scripts that make tables of them."""

import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost.record import hosts, record, shipped
from epochcost.record.types import Record
from epochcost.results.rows import status_of
from epochcost.statistics.prediction import predict


def read(source: Path) -> list[Record]:
    """The records of successful quick runs in a folder or a file; exits if of several machines."""
    found = record.read_all(source) if source.is_dir() else shipped.read_all(source, {})
    runs = [content for _, content in found]
    if len({hosts.key_of(content) for content in runs}) != 1:
        sys.exit(f"{source} holds no records, or those of several machines")
    return [one for one in runs if (status_of(one), one.run.scale) == ("ok", "quick")]


def seconds_by(key: Callable[[Record], Any], runs: list[Record]) -> dict:
    """Predicted seconds of a full run, by `key`: the median over the undisturbed runs, if any."""
    quiet, disturbed = defaultdict(list), defaultdict(list)
    for one in runs:
        kept = disturbed if one.noise.flags else quiet
        kept[key(one)].append(predict(one).seconds)
    return {name: median(seconds) for name, seconds in (disturbed | quiet).items()}
