"""Durations, as people write them."""

import re

from epochcost.errors import InputError

HOUR_S = 3600.0
_UNITS = {"": 1, "s": 1, "min": 60, "h": 3600, "d": 86400}


def seconds_of(text: str | float) -> float:
    """`1h` as 3600; a bare number is seconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|min|h|d|)", str(text).strip())
    if not match:
        raise InputError(f"'{text}' is not a duration, such as 1h, 30min, 90s or 2d")
    return float(match[1]) * _UNITS[match[2]]


def worded(seconds: float) -> str:
    """A duration in its natural unit: 90 s, 12.5 min, 3 h."""
    if seconds < 120:
        return f"{seconds:.3g} s"
    if seconds < 7200:
        return f"{seconds / 60:.3g} min"
    return f"{seconds / 3600:,.0f} h" if seconds >= 3.6e6 else f"{seconds / 3600:.3g} h"
