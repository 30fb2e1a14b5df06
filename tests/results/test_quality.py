"""What quality targets are set from."""

import measured
import pandas as pd
import pytest
from observed import full_run, typed

from epochcost import ROOT
from epochcost.models import workloads
from epochcost.record.types import document
from epochcost.results import published, quality, rows, tables

RECIPES = workloads.read().recipes


def targets(*records):
    """targets.csv of some records and the published runs, by workload."""
    there = published.runs(ROOT / "data/published", {})
    runs = tables.runs_table([*there, *(rows.run_row(typed(one), "") for one in records)])
    return quality.targets_table(runs, RECIPES).set_index("workload")


def reaching(record, trial, value, **data):
    run = full_run(record, 40, trial)
    run["quality"] |= {"value": value}
    run["seed"] = trial + 1
    run["data"] |= {"complete": True, "source": "mirror"} | data
    return run


def test_a_target_is_so_many_deviations_below_the_mean(record):
    row = targets(*(reaching(record, n, 0.982 + n / 1000) for n in (1, 2, 3))).loc["mnist_mlp"]
    assert (row.runs, row.frameworks) == (3, 1)
    assert row["mean"] == pytest.approx(0.984)
    assert row.deviation == pytest.approx(0.001)
    assert row.worst == 0.983
    assert row.published_worst == pytest.approx(0.98, abs=0.001)
    assert row.deviations_off == pytest.approx((0.984 - row.target) / 0.001)


def test_a_part_of_the_data_and_another_recipe_say_nothing_of_a_target(record):
    other = reaching(record, 3, 0.9)
    other["settings"] = other["settings"] | {"batch_size": 512}
    part = reaching(record, 4, 0.9, complete=False)
    generated = reaching(record, 5, 0.9, source="synthetic")
    runs = [reaching(record, 1, 0.983), other, part, generated]
    assert targets(*runs).empty
    assert targets(*runs, reaching(record, 2, 0.984)).loc["mnist_mlp"].runs == 2


def test_of_a_loss_the_worst_is_the_highest(record):
    runs = [reaching(record, trial, 1.38 + trial / 100) for trial in (1, 2)]
    for run in runs:
        run["run"] |= {"workload": "nietzsche_lstm"}
        run["settings"] = RECIPES["nietzsche_lstm"]
        run["quality"] |= {"metric": "loss"}
    row = targets(*runs).loc["nietzsche_lstm"]
    assert row.worst == pytest.approx(1.40)
    assert row.published_worst > row.worst
    assert row.deviations_off == pytest.approx((row.target - 1.395) / row.deviation)


def test_a_target_that_all_miss_is_on_the_wrong_side(record):
    runs = [reaching(record, trial, 0.9 + trial / 100) for trial in (1, 2)]
    assert targets(*runs).loc["mnist_mlp"].deviations_off < -5
    same = [reaching(record, trial, 0.983) for trial in (1, 2)]
    assert targets(*same).deviations_off.isna().all()


def test_the_same_seed_with_the_same_end_counts_once(record):
    runs = [reaching(record, trial, 0.982 + trial / 1000) for trial in (1, 2)]
    again, otherwise = reaching(record, 1, 0.983), reaching(record, 1, 0.984)
    assert targets(*runs, again).loc["mnist_mlp"].runs == 2
    assert targets(*runs, otherwise).loc["mnist_mlp"].runs == 3


def test_workloads_of_others_and_other_mathematics_are_left_out(record):
    other = [reaching(record, trial, 0.9) for trial in (1, 2)]
    for run in other:
        run["run"] |= {"workload": "theirs"}
    fewer = [reaching(record, trial, 0.9 + trial / 100) for trial in (3, 4)]
    for run in fewer:
        run["run"] |= {"variant": "bfloat16"}
    assert targets(*other, *fewer).empty


def test_all_are_judged_by_the_target_of_today(record):
    mine, theirs = reaching(record, 1, 0.981), reaching(record, 2, 0.978)
    theirs["quality"] |= {"target": 0.97, "reached": True}
    unknown = reaching(record, 3, 0.5)
    unknown["run"] |= {"workload": "theirs"}
    unknown["quality"] |= {"target": 0.4, "reached": True}
    table = tables.runs_table([rows.run_row(typed(one), "") for one in (mine, theirs, unknown)])
    judged = quality.judged_today(table, RECIPES)
    assert list(judged.quality_target) == [0.979, 0.979, 0.4]
    assert list(judged.quality_reached) == [True, False, True]


def test_times_are_those_of_undisturbed_runs_and_quality_is_that_of_all(record, baselines):
    runs = [reaching(record, trial, 0.98 + trial / 1000) for trial in (1, 2)]
    for run, seconds in zip(runs, (2.0, 100.0), strict=True):
        run["epochs"] = [run["epochs"][0] | {"epoch": n, "train_s": seconds} for n in (1, 2, 3)]
    runs[1]["noise"] = runs[1]["noise"] | {"flags": ["load from others"]}
    made = tables.runs_table([rows.run_row(typed(one), "") for one in runs])
    epochs = tables.epochs_table(
        [epoch for one in runs for epoch in rows.epoch_rows(typed(one), rows.run_id(typed(one)))]
    )
    about = (made, epochs, {}, RECIPES, baselines)
    (row,) = quality.quality_table(*about).itertuples()
    assert (row.runs, row.noisy_runs, row.value) == (2, 0, pytest.approx(0.9815))
    assert row.time_s == made.time_s.iloc[0]
    assert row.epoch_s < 100
    (row,) = quality.quality_table(*about, keep_disturbed=True).itertuples()
    assert (row.time_s, row.noisy_runs) == (made.time_s.median(), 1)


def test_times_of_several_machines_are_the_median_of_their_medians(record, baselines):
    runs = [reaching(record, trial, 0.983) for trial in (1, 2, 3, 4)]
    for run in runs:
        run["run"] |= {"hardware": "gce-t4", "id": f"gce-t4/{run['run']['trial']}"}
    runs[3]["machine"] |= {"id": "ba9876543210"}
    made = tables.runs_table([rows.run_row(typed(one), "") for one in runs]).assign(
        time_s=[100.0, 100.0, 100.0, 200.0]
    )
    about = (made, tables.epochs_table([]), {}, RECIPES, baselines)
    (row,) = quality.quality_table(*about).itertuples()
    assert (row.runs, row.time_s) == (4, 150.0)


def test_a_run_without_a_quality_counts_with_its_time(record, baselines):
    judged, early = reaching(record, 1, 0.983), reaching(record, 2, None)
    early["epochs"] = [early["epochs"][0] | {"train_s": 79.0}]
    early["quality"] |= {"target": 0.5, "reached": None}
    alone = reaching(record, 3, None)
    alone["run"] |= {"framework": "keras-jax"}
    made = tables.runs_table([rows.run_row(typed(one), "") for one in (early, judged, alone)])
    about = (made, tables.epochs_table([]), {}, RECIPES, baselines)
    (row,) = quality.quality_table(*about).itertuples()
    assert (row.framework, row.runs, row.value, row.reached) == ("keras-tensorflow", 1, 0.983, True)
    assert row.target == judged["quality"]["target"]
    assert row.time_s == pytest.approx((40 + 80) / 2)


def test_what_is_over_the_k80_is_the_recipe_on_complete_data(record, baselines):
    complete = reaching(record, 1, 0.982)
    part = reaching(record, 2, 0.982, complete=False, train_samples=6000)
    study = published.runs(ROOT / "data/published", {})
    runs = tables.runs_table([*study, *(rows.run_row(typed(one), "") for one in (complete, part))])
    about = (runs, tables.epochs_table([]), {"mnist_mlp": 60000}, RECIPES, baselines)
    table = quality.quality_table(*about).set_index("data_complete")
    assert table.time_relative[True] == pytest.approx(40 / 64.5, abs=0.001)
    assert pd.isna(table.time_relative[False])


def test_targets_leave_room_for_chance():
    """Those of today, by the shipped runs."""
    found = targets(*map(document, measured.read()))
    assert len(found) >= 6
    assert found.deviations_off.min() >= 3
