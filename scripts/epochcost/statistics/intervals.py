"""What repeated runs say together: the interval of their median, and the ratio of two groups.

Distribution-free, and over runs, never over the steps of one run.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np

CONFIDENCE = 0.95
# With fewer runs, no interval contains the median with that confidence.
FEWEST_RUNS = 6
# With more pairs of runs, the interval of their ratio is found by a search.
MOST_PAIRS = 10_000
# Without a limit, a machine that never settles would be measured forever.
MOST_RUNS = 100


@dataclass(frozen=True)
class Interval:
    """A range that contains what is asked for with at least the probability `confidence`."""

    low: float
    high: float
    confidence: float


def median_interval(values: Sequence[float]) -> Interval | None:
    """The interval of the median by order statistics; None for fewer than two runs.

    It is the narrowest pair of runs, equally far from both ends, that contains the median with
    95 % confidence. Fewer than six runs have no such pair: theirs is the whole range, with
    whatever confidence it has (three runs: 75 %).
    """
    ordered = np.sort(np.asarray(values, float))
    if len(ordered) < 2:
        return None
    place, confidence = _place(len(ordered))
    return Interval(float(ordered[place - 1]), float(ordered[-place]), confidence)


@lru_cache
def _place(runs: int) -> tuple[int, float]:
    """How far from both ends the interval of the median begins, and its confidence."""
    # The number of runs below the median is distributed like heads in as many coin tosses.
    heads = accumulate(math.comb(runs, number) for number in range(runs + 1))
    chances = [ways / 2**runs for ways in heads]
    place = max(1, bisect_left(chances, (1 - CONFIDENCE) / 2))
    return place, 1 - 2 * chances[place - 1]


def precision(values: Sequence[float]) -> float | None:
    """Half the width of the 95 % interval over the median; None for fewer than six runs."""
    interval = median_interval(values)
    if interval is None or interval.confidence < CONFIDENCE:
        return None
    return (interval.high - interval.low) / 2 / float(np.median(values))


def ratio_interval(values: Sequence[float], over: Sequence[float]) -> Interval | None:
    """The ratios of two groups of runs that a Mann-Whitney test does not reject at 5 %.

    A ratio of 1 in the interval means: no difference shown. None where there are too few runs to
    reject anything, such as three against three.
    """
    from scipy import stats

    upper, lower = np.asarray(values, float), np.asarray(over, float)
    if min(len(upper), len(lower)) < 1:
        return None
    if len(upper) * len(lower) > MOST_PAIRS and min(len(upper), len(lower)) > 10:
        return _searched_interval(upper, lower)
    pairs = np.divide.outer(upper, lower)
    ratios = np.unique(pairs)
    # The test's result changes at these ratios alone, so it is computed once between each two.
    tried = np.concatenate([[ratios[0] / 2], (ratios[:-1] + ratios[1:]) / 2, [ratios[-1] * 2]])
    chances = stats.mannwhitneyu(upper[None, :], tried[:, None] * lower[None, :], axis=1).pvalue
    kept = np.flatnonzero(chances > 1 - CONFIDENCE)
    if not len(kept):  # runs so similar that only one ratio is left
        return Interval(*[float(np.median(pairs))] * 2, CONFIDENCE)
    first, last = int(kept[0]), int(kept[-1])
    if first == 0 or last == len(ratios):
        return None
    return Interval(float(ratios[first - 1]), float(ratios[last]), CONFIDENCE)


def _searched_interval(upper: np.ndarray, lower: np.ndarray) -> Interval:
    """The same where there are too many ratios to test each, by the test's normal approximation."""
    from scipy import optimize, stats

    pairs = len(upper) * len(lower)
    spread = np.sqrt(pairs * (len(upper) + len(lower) + 1) / 12)
    reach = stats.norm.ppf((1 + CONFIDENCE) / 2) * spread
    ordered = np.sort(lower)

    def off(log_ratio: float, wanted: float) -> float:
        """Pairs whose upper value exceeds the scaled lower one, minus the wanted number."""
        return float(np.searchsorted(np.exp(log_ratio) * ordered, upper).sum()) - wanted

    ends = np.log(upper.min() / lower.max()) - 1, np.log(upper.max() / lower.min()) + 1
    low, high = (
        float(np.exp(optimize.bisect(off, *ends, args=(wanted,), xtol=1e-9)))
        for wanted in (pairs / 2 + reach, pairs / 2 - reach)
    )
    return Interval(low, high, CONFIDENCE)


def trimmed_mean(values: Sequence[float]) -> float | None:
    """MLPerf's rule: the mean without the fastest and the slowest; None for fewer than three."""
    ordered = np.sort(np.asarray(values, float))
    return float(ordered[1:-1].mean()) if len(ordered) > 2 else None
