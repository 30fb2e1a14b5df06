"""Times, money and ratios in readable form."""

import math

from epochcost.durations import seconds_of, worded

seconds = worded


def range_of_seconds(low: float, high: float) -> str:
    """A range of times; empty where it is not known."""
    return "" if math.isnan(low) or math.isnan(high) else f"{seconds(low)} to {seconds(high)}"


def around(value: float, low: float, high: float) -> str:
    """A range in the unit of its value, shortly: 49-202 s; empty where it is not known."""
    if math.isnan(low) or math.isnan(high) or low == high:
        return ""
    _, unit = seconds(value).split()
    size = seconds_of(f"1 {unit}")
    ends = (end / size for end in (low, high))
    return f"{'-'.join(f'{end:,.0f}' if end >= 10 else f'{end:.2g}' for end in ends)} {unit}"


def ratio(value: float) -> str:
    """A ratio with two or three digits that matter: 0.086x, 0.86x, 3.51x, 12.4x."""
    if value >= 10:
        return f"{value:.1f}x"
    if value >= 0.1 or value == 0:
        return f"{value:.2f}x"
    return f"{value:.2g}x"


def dollars(value: float) -> str:
    """An amount of money, with cents and at least three significant digits, never as 1e-05."""
    if value >= 1:
        return f"${value:,.2f}"
    if value == 0:
        return "$0"
    digits = max(2, 2 - math.floor(math.log10(value)))
    return f"${value:.{digits}f}"


def price(value: float) -> str:
    """A price as it is known, to the millionth; with at least two decimals."""
    whole, digits = f"{value:.6f}".split(".")
    return f"${whole}.{digits.rstrip('0').ljust(2, '0')}"
