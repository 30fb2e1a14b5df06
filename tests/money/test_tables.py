import copy
import math
from datetime import date

import pandas as pd
import pytest
from observed import full_run, typed

from epochcost import ROOT
from epochcost.models import workloads
from epochcost.money import prices
from epochcost.money import tables as cost_tables
from epochcost.money.market import Market
from epochcost.money.prices import Price
from epochcost.results import published, rows, tables

PUBLISHED = ROOT / "data/published"
BASE_S, BASE_USD = 64.545583, 64.545583 * 0.4975 / 3600


def own(relative):
    return relative[relative.source_id.eq("own")]


def test_a_full_run_over_the_baseline(make_tables, record):
    _, _, relative = make_tables(full_run(record, 129.091166))
    row = own(relative).iloc[0]
    assert row.time_relative == pytest.approx(2)
    assert not row.predicted
    assert row.baseline == "woolf2017gpu"


def test_an_unknown_price_is_empty_and_never_0(make_tables, record):
    _, costs, relative = make_tables(full_run(record, 100), whole=True)
    assert "own" not in set(costs.source_id)
    row = own(relative)
    assert row[["cost_usd", "cost_relative", "price_per_hour_usd", "price_kind"]].isna().all().all()
    assert cost_tables.without_price(relative) == 13


def test_the_price_of_this_machine_gives_its_cost(make_tables, record):
    price = Price("local", 0.36, "spot", None, "config")
    _, costs, relative = make_tables(full_run(record, 100), local=price)
    assert own(costs).cost_usd.item() == pytest.approx(0.01)
    row = own(relative).iloc[0]
    assert row.cost_relative == pytest.approx(0.01 / BASE_USD)
    assert row.price_book == "config"
    assert row.mixed_price_kinds


def test_a_free_machine_costs_0(make_tables, record):
    price = Price("local", 0.0, "free", None, "config")
    _, _, relative = make_tables(full_run(record, 100), local=price)
    assert own(relative).cost_usd.item() == 0


def test_rented_hardware_is_priced_by_the_book(make_tables, record):
    run = full_run(record, 3600)
    run["run"]["hardware"] = "gce-t4"
    _, _, relative = make_tables(run)
    kinds = own(relative).set_index("price_kind")
    assert kinds.loc["on_demand", "cost_usd"] == pytest.approx(0.54)
    assert kinds.loc["spot", "cost_usd"] == pytest.approx(0.255325)
    assert set(kinds.price_book) == {"2026-07"}
    _, _, before = make_tables(run, book="2017-12")
    assert own(before).cost_usd.isna().all()


def test_repeated_runs_are_one_row_with_median_and_range(make_tables, record):
    runs = [full_run(record, seconds, trial) for trial, seconds in enumerate([90, 120, 100], 1)]
    _, _, relative = make_tables(*runs)
    row = own(relative).iloc[0]
    assert (row.runs, row.time_s, row.time_low, row.time_high) == (3, 100, 90, 120)
    assert row.time_relative_high == pytest.approx(120 / BASE_S)


def test_a_disturbed_run_counts_only_where_no_other_is_there(make_tables, record):
    quiet, loud = full_run(record, 100), full_run(record, 300, 2)
    loud["noise"] = loud["noise"] | {"flags": ["load from others"]}
    row = own(make_tables(quiet, loud)[2]).iloc[0]
    assert (row.runs, row.time_s, row.noisy_runs) == (1, 100, 0)
    row = own(make_tables(loud)[2]).iloc[0]
    assert (row.runs, row.time_s, row.noisy_runs) == (1, 300, 1)


def test_a_single_full_run_has_no_spread(make_tables, record):
    _, _, relative = make_tables(full_run(record, 100))
    assert own(relative)[["time_low", "time_high"]].isna().all().all()


def test_machines_under_the_name_local_are_kept_apart(make_tables, record):
    here, there = full_run(record, 100), full_run(record, 200)
    there["machine"]["id"] = "ba9876543210"
    _, _, relative = make_tables(here, there)
    assert sorted(own(relative).time_s) == [100, 200]


def test_the_price_of_this_machine_is_no_other_machines_price(make_tables, record):
    here, there = full_run(record, 100), full_run(record, 200)
    there["machine"]["id"] = "ba9876543210"
    price = Price("local", 0.36, "on_demand", None, "config")
    _, _, relative = make_tables(here, there, local=price)
    costs = own(relative).set_index("time_s").cost_usd
    assert costs[100] == pytest.approx(0.01)
    assert costs.isna()[200]


def test_what_came_with_the_clone_has_no_price_of_this_machine(make_tables, record):
    runs, *_ = make_tables(full_run(record, 100))
    price = Price("local", 0.36, "on_demand", None, "config")
    market = Market([], local=price, machine_id=record["machine"]["id"])
    assert len(cost_tables.at_hand(runs, market)) == 1
    assert cost_tables.at_hand(runs.assign(shipped="2026-11-26"), market).empty


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"epochs": 2}},
        {"settings": {"batch_size": 64}},
        {"machine": {"usable_cores": 1}},
        {"software": {"device": "gpu"}, "machine": {"gpus": [{"name": "T4", "uuid": "u"}]}},
        {"software": {"framework_version": "torch 9"}},
        {"data": {"source": "synthetic"}},
        {"data": {"complete": False}},
    ],
)
def test_what_is_not_the_same_is_never_averaged(make_tables, record, change):
    one, two = full_run(record, 100), full_run(record, 200, 2)
    for key, values in change.items():
        two[key] |= values
    _, _, relative = make_tables(one, two)
    assert sorted(own(relative).time_s) == [100, 200]


def test_a_new_driver_of_the_gpu_begins_a_row_of_its_own(make_tables, record):
    record["software"] |= {"device": "gpu"}
    record["machine"] |= {"gpus": [{"name": "T4", "uuid": "u"}], "driver": "570.1"}
    one, two = full_run(record, 100), full_run(record, 200, 2)
    two["machine"] |= {"driver": "580.2"}
    _, _, relative = make_tables(one, two)
    assert dict(zip(own(relative).driver, own(relative).time_s, strict=True)) == {
        "570.1": 100, "580.2": 200,
    }  # fmt: skip


def test_a_quick_run_is_marked_and_never_averaged_with_full_ones(make_tables, record):
    _, _, relative = make_tables(record, full_run(record, 100, 2))
    rows = own(relative)
    assert sorted(rows.predicted) == [False, True]
    quick = rows[rows.predicted].iloc[0]
    assert quick.time_low < quick.time_s < quick.time_high


def test_a_failed_run_is_a_row_and_in_no_ratio(make_tables, record):
    failed = full_run(record, 100)
    failed |= {"status": "failed", "failure": {"phase": "train", "reason": "out of memory"}}
    runs, costs, relative = make_tables(failed)
    row = runs[runs.source_id.eq("own")].iloc[0]
    assert (row.status, row.reason) == ("failed", "train: out of memory")
    assert "own" not in set(relative.source_id) | set(costs.source_id)


def test_a_price_that_a_user_adds_leaves_published_runs_and_baselines_as_they_are(
    known, baselines, record
):
    added = Price("gce-k80", 0.60, "on_demand", date(2017, 11, 28), "me", "europe-west1")
    market = Market([*known, added], published=prices.load(PUBLISHED / "prices.csv"))
    runs = tables.runs_table([*published.runs(PUBLISHED, {}), rows.run_row(typed(record), "")])
    costs = cost_tables.costs_table(runs, market)
    k80 = costs[costs.hardware_id.eq("gce-k80") & costs.price_book.eq("2017-11")]
    assert set(k80.price_per_hour_usd) == {0.4975}
    recipes = workloads.read().recipes
    relative = cost_tables.relative_table(runs, costs, baselines, {}, recipes, market)
    (base,) = relative[
        relative.source_id.eq("woolf2017gpu")
        & relative.baseline.eq("woolf2017gpu")
        & relative.workload.eq("mnist_mlp")
        & relative.hardware_id.eq("gce-k80")
        & relative.framework.eq("keras-tensorflow")
        & relative.cost_kind.eq("marginal")
    ].cost_relative
    assert base == pytest.approx(1)


def test_the_contracts_columns_come_first(make_tables):
    _, _, relative = make_tables()
    assert list(relative.columns[:23]) == [
        "workload", "framework", "variant", "hardware_id", "source_id", "price_book",
        "price_kind", "cost_kind", "runs", "time_s", "time_low", "time_high", "cost_usd",
        "cost_low", "cost_high", "time_relative", "time_relative_low", "time_relative_high",
        "cost_relative", "cost_relative_low", "cost_relative_high", "predicted", "baseline",
    ]  # fmt: skip


def test_a_training_on_fewer_samples_has_no_ratio(make_tables, record):
    record["data"] |= {"train_samples": 6_000, "complete": False}
    _, _, relative = make_tables(record)
    own = relative[relative.source_id.eq("own")]
    assert own.time_s.notna().all()
    assert own.time_relative.isna().all()
    assert list(own.complete_samples) == [60_000]


def test_a_subset_of_data_of_unknown_size_does_not_count_as_complete():
    unknown = pd.Series([float("nan")] * 3)
    rows = pd.DataFrame(
        {
            "train_samples": [800, 800, None],
            "data_complete": [True, False, None],
            "source_id": ["own", "own", "woolf2017gpu"],
        }
    )
    assert list(tables.has_all_samples(rows, unknown)) == [True, False, True]


def test_a_workload_without_a_baseline_has_a_time_and_no_ratio(make_tables, record):
    record["run"]["workload"] = "own"
    local = Price("local", 0.36, "on_demand", None, "config")
    _, _, relative = make_tables(record, local=local, whole=True)
    (row,) = relative[relative.workload.eq("own")].itertuples()
    assert row.baseline == ""
    assert row.cost_usd == pytest.approx(row.time_s * 0.0001)
    assert math.isnan(row.time_relative)
    assert math.isnan(row.cost_relative)


def test_runs_from_random_weights_stand_apart(make_tables, record):
    record["weights"] = {"name": "resnet50-imagenet", "source": "random", "sha256": None}
    other = copy.deepcopy(record)
    other["weights"] |= {"source": "mirror"}
    _, _, relative = make_tables(record, other)
    own = relative[relative.source_id.eq("own")]
    assert set(own.weights) == {"random", "resnet50-imagenet"}


def test_what_is_read_back_is_what_was_written(make_tables, record, tmp_path):
    """Ids of digits, empty text, unknown numbers and flags come back as they were."""
    record["machine"]["id"] = "012345678901"
    failed = copy.deepcopy(record)
    failed |= {"status": "failed", "failure": {"phase": "train", "reason": "out of memory"}}
    runs, _, _ = make_tables(record, failed, whole=True)
    runs.to_csv(tmp_path / "runs.csv", index=False)
    back = tables.read_runs(tmp_path / "runs.csv")
    assert list(back.machine_id[-2:]) == ["012345678901"] * 2
    assert same(back, runs)
    epochs = tables.epochs_table(rows.epoch_rows(typed(record), "a"))
    epochs.to_csv(tmp_path / "epochs.csv", index=False)
    assert same(tables.read_epochs(tmp_path / "epochs.csv"), epochs)


def same(table: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Whether all values are equal, nothing being nothing."""
    cells = (one.astype(object).where(one.notna(), None) for one in (table, other))
    return next(cells).equals(next(cells))
