"""Predictions beside what full runs of the same took."""

import copy

import pytest
from observed import full_run

from epochcost.results import predictions


def test_a_prediction_stands_beside_the_full_run_of_the_same(make_tables, record):
    full, other = full_run(record, 40.0, 2), full_run(record, 50.0, 3)
    other["run"] |= {"framework": "pytorch"}
    table = predictions.predictions_table(make_tables(record, full, other)[0])
    (row,) = table.itertuples()
    assert row.framework == "keras-tensorflow"
    assert row.measured_s == 40.0
    assert row.predicted_over_measured == pytest.approx(row.predicted_s / 40.0)
    assert row.within == (row.predicted_low <= 40.0 <= row.predicted_high)
    assert row.lowest == row.highest == row.predicted_over_measured
    assert (row.quick_runs, row.full_runs) == (1, 1)
    assert row.wall_share == pytest.approx(record["wall_s"] / full["wall_s"])


def test_a_prediction_is_held_against_the_full_run_that_is_nearest_in_time(make_tables, record):
    early, late = full_run(record, 40.0, 2), full_run(record, 50.0, 3)
    day = record["run"]["started_at"][:10]
    record["run"]["started_at"] = f"{day}T12:00:00+00:00"
    early["run"]["started_at"] = f"{day}T08:00:00+00:00"
    late["run"]["started_at"] = f"{day}T12:30:00+00:00"
    (row,) = predictions.predictions_table(make_tables(record, early, late)[0]).itertuples()
    assert (row.measured_s, row.full_runs, row.hours_apart) == (50.0, 1, 0.5)


def test_a_prediction_is_held_against_full_runs_of_its_own_machine(make_tables, record):
    """Those of one rented type are one row, and may still differ."""
    day = record["run"]["started_at"][:10]
    here, there = full_run(record, 40.0, 2), full_run(record, 50.0, 3)
    there["machine"]["id"] = "ba9876543210"
    for run, time in ((record, "12:00"), (there, "12:05"), (here, "13:00")):
        run["run"] |= {"hardware": "gce-p100", "started_at": f"{day}T{time}:00+00:00"}
    (row,) = predictions.predictions_table(make_tables(record, here, there)[0]).itertuples()
    assert (row.measured_s, row.full_runs, row.hours_apart) == (40.0, 1, 1.0)


def test_the_range_of_several_predictions_holds_their_median(make_tables, record):
    quick = [copy.deepcopy(record) for _ in range(3)]
    quick[2]["blocks"] = [block | {"seconds": 5 * block["seconds"]} for block in quick[2]["blocks"]]
    quick[2]["epochs"] = [
        epoch | {"train_s": 5 * epoch["train_s"], "eval_s": 5 * epoch["eval_s"]}
        for epoch in quick[2]["epochs"]
    ]
    for trial, run in enumerate(quick, 1):
        run["run"] |= {"trial": trial, "id": f"quick-{trial}"}
    table = make_tables(*quick, full_run(record, 40.0, 4))[0]
    (row,) = predictions.predictions_table(table).itertuples()
    assert row.quick_runs == 3
    assert row.predicted_low < row.predicted_s < row.predicted_high


def test_a_prediction_without_a_range_misses_none(make_tables, record):
    full = full_run(record, 40.0, 2)
    table = make_tables(record, full)[0].assign(time_low=None, time_high=None)
    assert predictions.predictions_table(table).within.isna().all()


def test_runs_of_another_kind_are_not_compared(make_tables, record):
    full = full_run(record, 40.0, 2)
    for part, change in (
        ("data", {"source": "synthetic"}),
        ("machine", {"usable_cores": 1}),
        ("machine", {"id": "ba9876543210"}),
        ("software", {"settings": {"threads": 1}}),
    ):
        other = copy.deepcopy(full)
        other[part] |= change
        assert predictions.predictions_table(make_tables(record, other)[0]).empty
