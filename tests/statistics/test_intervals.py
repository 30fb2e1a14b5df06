"""Intervals over repeated runs hold what they say they hold."""

import numpy as np
import pytest
from scipy import stats

from epochcost.statistics import intervals


@pytest.mark.parametrize(
    ("runs", "places", "confidence"),
    [(2, (1, 2), 0.5), (3, (1, 3), 0.75), (5, (1, 5), 0.9375), (6, (1, 6), 0.96875),
     (8, (1, 8), 0.9921875), (9, (2, 8), 0.9609375), (15, (4, 12), 0.96484375)],
)  # fmt: skip
def test_the_interval_of_the_median_is_that_of_the_tables(runs, places, confidence):
    # Places and confidence as in tables of the sign test.
    values = [float(place) for place in range(runs, 0, -1)]
    interval = intervals.median_interval(values)
    assert (interval.low, interval.high) == places
    assert interval.confidence == pytest.approx(confidence)


def test_one_run_has_no_interval():
    assert intervals.median_interval([3.0]) is None
    assert intervals.precision([3.0, 3.1, 3.2, 3.1, 3.0]) is None


def test_precision_is_half_the_width_over_the_median():
    assert intervals.precision([98, 99, 100, 100, 101, 102]) == pytest.approx(0.02)


def test_scipy_finds_the_same_interval():
    values = np.random.default_rng(1).lognormal(size=25)
    theirs = stats.quantile_test(values, p=0.5).confidence_interval(intervals.CONFIDENCE)
    interval = intervals.median_interval(values)
    assert (interval.low, interval.high) == (theirs.low, theirs.high)


def test_intervals_of_the_median_hold_it_as_often_as_they_say():
    generator = np.random.default_rng(2)
    held = {6: 0, 10: 0}
    for runs in held:
        for _ in range(1000):
            interval = intervals.median_interval(generator.lognormal(0, 0.1, runs))
            held[runs] += interval.low <= 1.0 <= interval.high
    assert all(count >= 935 for count in held.values()), held


def test_intervals_of_a_ratio_hold_it_as_often_as_they_say():
    generator = np.random.default_rng(3)
    held = 0
    for _ in range(500):
        slow, fast = generator.lognormal(np.log(2), 0.1, 6), generator.lognormal(0, 0.1, 7)
        interval = intervals.ratio_interval(slow, fast)
        held += interval.low <= 2.0 <= interval.high
    assert held >= 460, held


def test_a_ratio_interval_agrees_with_the_test_that_it_is_made_of():
    generator = np.random.default_rng(4)
    for _ in range(50):
        some, others = generator.lognormal(0.1, 0.1, 6), generator.lognormal(0, 0.1, 6)
        interval = intervals.ratio_interval(some, others)
        differs = stats.mannwhitneyu(some, others).pvalue <= 0.05
        assert differs == (not interval.low <= 1 <= interval.high)


def test_too_few_runs_reject_no_ratio():
    assert intervals.ratio_interval([1.0, 1.1, 1.2], [5.0, 5.1, 5.2]) is None
    assert intervals.ratio_interval([1.0], [5.0]) is None
    assert intervals.ratio_interval([1.0, 1.1, 1.2, 1.3], [5.0, 5.1, 5.2, 5.3]) is not None


def test_equal_runs_have_the_ratio_one():
    interval = intervals.ratio_interval([2.0] * 6, [2.0] * 6)
    assert interval.low == interval.high == 1.0


def test_the_rule_of_mlperf_drops_the_fastest_and_the_slowest():
    assert intervals.trimmed_mean([1.0, 100.0, 2.0, 3.0]) == 2.5
    assert intervals.trimmed_mean([1.0, 2.0]) is None


def test_many_runs_have_the_same_interval_as_if_each_ratio_were_tried(monkeypatch):
    rng = np.random.default_rng(3)
    values, over = rng.lognormal(0, 0.1, 40), rng.lognormal(0.05, 0.1, 50)
    tried = intervals.ratio_interval(values, over)
    monkeypatch.setattr(intervals, "MOST_PAIRS", 10)
    searched = intervals.ratio_interval(values, over)
    assert searched.low == pytest.approx(tried.low, rel=1e-3)
    assert searched.high == pytest.approx(tried.high, rel=1e-3)
