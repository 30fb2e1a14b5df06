"""What study/benchmarks/found.py makes of the runs of a search, and of full runs beside it."""

import found
import pandas as pd
import pytest

from epochcost.measure.activity import OTHERS

ROUND = [("", 10.0), ("fast=1", 8.0)]
DAY = "2026-11-22T{}:00+00:00"


def search(*runs: tuple) -> pd.DataFrame:
    """The runs of a search: settings, seconds, and flags if there are any."""
    rows = [(settings, str(seconds), "".join(flags)) for settings, seconds, *flags in runs]
    return pd.DataFrame(rows, columns=["settings", "seconds", "flags"]).assign(scale="full")


def full(*runs: tuple) -> pd.DataFrame:
    """Full runs: variant, settings, time of day, seconds, machine, flags."""
    names = ["variant", "settings", "started_at", "time_s", "machine", "noise"]
    table = pd.DataFrame(runs, columns=names)
    return table.assign(started_at=table.started_at.map(DAY.format), date="day", metric_value=0.9)


def test_the_last_four_rounds_count_in_whatever_order():
    first = [("", 99.0), ("fast=1", 1.0), ("other=1", 7.0)]
    runs = search(*first, *ROUND * 3, ("fast=1", 6.0), ("", 10.0))
    assert found.ratios(runs, "fast=1") == [0.8, 0.8, 0.8, 0.6]
    assert found.decided(runs, "fast=1") == "0.80 (0.60 to 0.80)"
    assert found.decided(runs.assign(scale="quick"), "") == "1*"


def test_a_disturbed_run_that_was_made_again_does_not_count():
    runs = search(*ROUND * 3, ("", 50.0, OTHERS), ("", 10.0), ("fast=1", 9.0))
    assert found.ratios(runs, "fast=1") == [0.8, 0.8, 0.8, 0.9]


def test_runs_that_are_no_rounds_are_refused():
    with pytest.raises(SystemExit, match="does not end in 4 rounds"):
        found.ratios(search(*ROUND * 3, ("", 10.0)), "fast=1")
    with pytest.raises(SystemExit, match="does not end in 4 rounds"):
        found.ratios(search(*ROUND * 3, ("", 10.0), ("", 10.0)), "fast=1")


def test_full_runs_are_set_against_the_nearest_by_default():
    runs = full(
        ("tuned", "fast=1", "12:00", 80.0, "a", ""),
        ("tuned", "fast=1", "09:00", 1.0, "a", ""),  # of an earlier search
        ("tuned", "other=1", "12:30", 2.0, "a", ""),
        ("default", "", "11:00", 100.0, "a", "slow"),
        ("default", "", "09:30", 3.0, "a", ""),  # others are nearer
        ("default", "", "12:01", 4.0, "b", ""),  # another machine
    )
    cells = found.trained(runs, "fast=1", DAY.format("10:00"), pd.Timedelta(hours=3))
    assert cells == ["day", "100†", "80.0", "0.80", "0.9000", "0.9000"]


def test_without_a_run_by_default_nearby_there_is_no_ratio():
    tuned, default = ("tuned", "", "12:00", 80.0, "a", ""), ("default", "", "08:00", 9.0, "a", "")
    for runs in (full(tuned), full(tuned, default)):
        cells = found.trained(runs, "", DAY.format("10:00"), pd.Timedelta(hours=3))
        assert cells == ["day", "", "80.0", "", "", "0.9000"]
    assert found.trained(full(default), "", DAY.format("10:00"), pd.Timedelta(hours=3)) == [""] * 6
