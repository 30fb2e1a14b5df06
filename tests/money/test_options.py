"""What a buyer is told: what ends in time, what is worth it, and what differs at all."""

import copy
import math
import re
from datetime import date

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from observed import typed

from epochcost import ROOT
from epochcost.models import workloads
from epochcost.money import options, prices
from epochcost.money.billing import Rental
from epochcost.money.market import Market
from epochcost.results import published, rows, tables
from epochcost.show import advice
from epochcost.statistics import spread

PUBLISHED = ROOT / "data/published"
RULES = {"price_kind": "on_demand", "as_of": None, "source_id": "me"}


@pytest.fixture
def make_options(record, known):
    """Makes options of mnist_mlp: own full runs of so many seconds, by hardware, at prices."""

    def make(
        times: dict[str, list[float]], per_hour: dict[str, float], offers=None, **rules
    ) -> pd.DataFrame:
        records = []
        for hardware, seconds in times.items():
            for trial, total in enumerate(seconds, 1):
                one = copy.deepcopy(record)
                one["run"] |= {"hardware": hardware, "trial": trial, "scale": "full",
                               "id": f"{hardware}/{trial}"}  # fmt: skip
                one["epochs"] = [
                    one["epochs"][0] | {"epoch": n + 1, "train_s": total / 20, "eval_s": 0.0}
                    for n in range(20)
                ]
                one["phases"] = dict.fromkeys(one["phases"]) | {"import": 10.0}
                records.append(typed(one))
        runs = tables.runs_table([rows.run_row(one, one.run.hardware) for one in records])
        found = [
            epoch
            for one in records
            for epoch in rows.epoch_rows(one, rows.run_id(one))
        ]  # fmt: skip
        offers = offers or [
            prices.Price(name, price, **(RULES | rules)) for name, price in per_hour.items()
        ]
        about = workloads.read()
        return options.options_table(
            runs,
            tables.epochs_table(found),
            about.complete_samples(),
            about.recipes,
            Market(known, "rates.csv", offers, rental=Rental(boot_s=50)),
        )

    return make


def test_an_option_is_timed_and_billed_with_all_that_is_around_it(make_options):
    (option,) = make_options({"a": [3600]}, {"a": 0.36}).to_dict("records")
    assert option["elapsed_s"] == pytest.approx(3660)
    assert option["billed_usd"] == pytest.approx(0.366)
    assert option["marginal_usd"] == pytest.approx(0.36)
    assert option["per_epoch_usd"] == pytest.approx(0.018)
    assert option["per_million_samples_usd"] == pytest.approx(0.36 / 1.2)
    assert option["cheapest_probability"] == 1
    assert option["terms"] == "with start"
    # A single run has the range that repeats of its kind have shown.
    reach = math.exp(spread.REACH * spread.shipped()["full"].hour)
    assert option["elapsed_high"] == pytest.approx(60 + 3600 * reach)
    assert option["billed_low"] == pytest.approx((60 + 3600 / reach) * 1e-4)


def test_what_is_worth_it_and_what_is_not(make_options):
    found = make_options(
        {"slow": [1000], "fast": [100], "worse": [1100], "middle": [500]},
        {"slow": 1, "fast": 20, "worse": 1, "middle": 3},
    ).set_index("hardware_id")
    assert set(found.index[found.efficient]) == {"slow", "fast", "middle"}
    assert found.index[0] == "slow"


def test_deadlines_and_budgets_count_the_far_end_of_the_interval(make_options):
    found = make_options({"a": [1000, 1100, 1200], "b": [5000] * 3}, {"a": 36, "b": 1})
    latest = found.set_index("hardware_id").elapsed_high["a"]
    assert 1300 < latest < 1600
    assert list(options.ends_by(found, latest + 1).hardware_id) == ["a"]
    assert options.ends_by(found, latest - 1).empty
    assert list(options.within_budget(found, 2.5).hardware_id) == ["b"]


def test_the_cheapest_of_two_that_differ_by_chance_is_a_tie(make_options):
    found = make_options(
        {"a": [100, 104, 98, 102, 99, 103], "b": [101, 99, 105, 100, 103, 98], "c": [300] * 6},
        {"a": 1, "b": 1, "c": 1},
    ).set_index("hardware_id", drop=False)
    assert 0.2 < found.cheapest_probability["a"] < 0.8
    assert found.cheapest_probability["c"] == 0
    assert found.cheapest_probability.sum() == pytest.approx(1)
    best = found.iloc[0]
    assert set(options.tied_with(found, best).hardware_id) == {"a", "b"} - {best.name}


def test_the_same_runs_at_two_prices_are_no_tie(make_options, record, known):
    """Whatever the training takes, the one price is below the other."""
    about = workloads.read()
    quick = copy.deepcopy(record)
    quick["run"] |= {"hardware": "gce-p100", "id": "p100"}
    runs = tables.runs_table([rows.run_row(typed(quick), "P100")])
    offers = [prices.Price("gce-p100", usd, kind, None, "me")
              for kind, usd in (("on_demand", 1.0), ("spot", 0.8))]  # fmt: skip
    found = options.options_table(
        runs, tables.epochs_table([]), about.complete_samples(), about.recipes,
        Market(known, "rates.csv", offers),
    )  # fmt: skip
    cheap, dear = found.iloc[0], found.iloc[1]
    assert (cheap.price_kind, dear.price_kind) == ("spot", "on_demand")
    assert dear.billed_low < cheap.billed_high
    assert options.tied_with(found, cheap).empty


def test_hardware_that_the_catalogue_calls_retired_is_no_offer():
    offers = [prices.Price(name, 1.0, "on_demand", date(2026, 7, 1), "me") for name in "ab"]
    market = Market(offers, catalogue={"a": {"retired": "2026-08-01"}, "b": {}})
    assert [price.hardware_id for price in market.available()] == ["b"]
    assert market.retired() == {"a": date(2026, 8, 1)}
    later = Market(offers, "2026-07", catalogue={"a": {"retired": "2026-08-01"}})
    assert len(later.available()) == 2


def test_options_that_differ_by_a_hair_have_nearly_even_chances(make_options):
    """Their runs are drawn apart, or the one would always win."""
    found = make_options(
        {"a": [98, 99, 100, 101, 102, 103], "b": [98.1, 99.1, 100.1, 101.1, 102.1, 103.1]},
        {"a": 1, "b": 1},
    ).set_index("hardware_id")
    assert 0.4 < found.cheapest_probability["b"] < 0.6


@pytest.mark.parametrize(
    "missed",
    [
        {"quality": {"metric": "val_accuracy", "target": 0.98, "value": 0.5, "reached": False}},
        {"status": "failed", "failure": {"phase": "train", "reason": "the loss is no number"}},
    ],
    ids=["missed", "failed"],
)
def test_what_missed_its_target_or_failed_does_not_bring_its_prediction_back(record, known, missed):
    quick, full = copy.deepcopy(record), copy.deepcopy(record) | missed
    full["run"] |= {"scale": "full", "trial": 2}
    about = workloads.read()
    machine = record["machine"]["id"]
    local = prices.Price("local", 0.1, "owned", None, "config")
    market = Market(known, local=local, machine_id=machine)
    for records, count in (([quick], 1), ([quick, full], 0)):
        runs = tables.runs_table([rows.run_row(typed(one), "") for one in records])
        found = options.options_table(
            runs, tables.epochs_table([]), about.complete_samples(), about.recipes, market
        )
        assert len(found) == count


def test_a_machine_that_is_owned_is_there_already(make_options):
    """Nobody boots it for a training, nor pays for that."""
    hourly = {"gce-p100": 0.36}
    (rented,) = make_options({"gce-p100": [100]}, hourly).itertuples()
    (owned,) = make_options({"gce-p100": [100]}, hourly, price_kind="owned").itertuples()
    assert (rented.elapsed_s, owned.elapsed_s) == (160, 110)
    assert rented.billed_usd == pytest.approx(0.0160)
    assert owned.billed_usd == pytest.approx(0.0110)


def test_a_spot_machine_says_how_often_it_may_be_taken_away(make_options, known):
    about = workloads.read()
    runs = tables.runs_table(published.runs(PUBLISHED, {}))
    found = options.options_table(
        runs, tables.epochs_table([]), about.complete_samples(), about.recipes, Market(known)
    )
    assert found.price_kind.isin(prices.INTERRUPTIBLE).any()
    assert found.break_even_per_hour.isna().all(), "how long a published start took is not known"
    offers = [
        prices.Price("gce-p100", usd, kind, None, "me")
        for kind, usd in (("on_demand", 1.0), ("spot", 0.5))
    ]
    spot, on_demand = make_options({"gce-p100": [3600]}, {}, offers=offers).itertuples()
    assert (spot.price_kind, on_demand.price_kind) == ("spot", "on_demand")
    assert 1 < spot.break_even_per_hour < 60
    assert math.isnan(on_demand.break_even_per_hour)


def test_at_the_prices_of_december_2017_gpus_win_all_but_two(known):
    """As the audit finds: for the perceptron and the bidirectional LSTM processors win."""
    about = workloads.read()
    runs = tables.runs_table(published.runs(PUBLISHED, {}))
    runs = runs[runs.source_id.eq("woolf2017gpu")]
    found = options.options_table(
        runs, tables.epochs_table([]), about.complete_samples(), about.recipes,
        Market(known, "2017-12"),
    )  # fmt: skip
    best = found.loc[found.groupby("workload").marginal_usd.idxmin()].set_index("workload")
    assert set(best.index[best.gpu.eq("")]) == {"mnist_mlp", "imdb_bilstm"}
    assert set(best.price_kind) == {"preemptible"}


pairs = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12)


@given(found=pairs)
def test_the_frontier_is_all_that_nothing_dominates(found):
    table = pd.DataFrame(found, columns=["elapsed_s", "billed_usd"])
    ordered = table.sort_values(["billed_usd", "elapsed_s"], ignore_index=True)
    efficient = options.efficient(ordered)
    for place, row in enumerate(ordered.itertuples()):
        dominated = any(
            other.elapsed_s <= row.elapsed_s
            and other.billed_usd <= row.billed_usd
            and (other.elapsed_s < row.elapsed_s or other.billed_usd < row.billed_usd)
            for other in ordered.itertuples()
        )
        assert efficient[place] != dominated


def test_a_price_of_long_ago_is_no_offer(make_options):
    """Of two prices in a book the one that is nine years older is not counted on."""
    day = {"a": date(2017, 7, 1), "b": date(2026, 7, 1)}
    offers = [prices.Price(name, 1.0, "on_demand", as_of, "me") for name, as_of in day.items()]
    assert [price.hardware_id for price in Market(offers).available()] == ["b"]
    assert [price.hardware_id for price in Market(offers, "2018-01").available()] == ["a"]


def test_a_part_of_the_samples_is_no_option(make_options, record):
    record["data"]["train_samples"] = 30_000
    assert make_options({"a": [100]}, {"a": 1}).empty


def test_generated_data_are_no_option(make_options, record):
    record["data"]["source"] = "synthetic"
    assert make_options({"a": [100]}, {"a": 1}).empty


def test_other_batches_are_no_option(make_options, record):
    record["settings"] = record["settings"] | {"batch_size": 512}
    assert make_options({"a": [3600]}, {"a": 0.36}).empty


def test_retired_hardware_and_missed_targets_are_no_options(make_options, known):
    assert make_options({"gce-k80": [100]}, {"gce-k80": 0.5}).empty
    about = workloads.read()
    runs = tables.runs_table(published.runs(PUBLISHED, {}))
    no_epochs = tables.epochs_table([])
    found = options.options_table(
        runs, no_epochs, about.complete_samples(), about.recipes, Market(known)
    )
    assert "gce-k80" not in set(found.hardware_id)
    assert "gce-p100" in set(found.hardware_id)
    then = options.options_table(
        runs, no_epochs, about.complete_samples(), about.recipes, Market(known, "2017-12")
    )
    assert {"gce-k80", "gce-p100"} <= set(then.hardware_id)


def test_the_advice_in_words(make_options):
    dated = {"as_of": date(2026, 7, 9)}
    found = make_options({"slow": [3600], "fast": [360]}, {"slow": 0.1, "fast": 5}, **dated)
    text = advice.text("mnist_mlp", found, 600, 0.2)
    assert text.startswith("mnist_mlp: one training with its start\n"), "50 s of boot are in it"
    assert "Cheapest within 10 min: fast with Keras TensorFlow, measured 7 min, $0.583 (" in text
    assert "Fastest for up to $0.200: slow with" in text
    assert "(a single run)" in text
    assert text.endswith("one run on a GPU gives estimates; processors say little of GPUs.\n")
    row = next(line for line in text.splitlines() if line.startswith("  fast, Keras"))
    assert re.fullmatch(
        r"  fast, Keras TensorFlow +measured +7 min +\d.*-\d.* min +\$0.583 +\$5.00 +2026-07", row
    )
    text = advice.text("mnist_mlp", found, 60, 0.01)
    assert "none for sure; the fastest is fast" in text
    assert "none for sure; the cheapest is slow" in text
    nothing = advice.text("x", found.iloc[:0])
    assert nothing.startswith("x: no machine that can be had is known.")


def test_what_meets_both_limits_comes_before_what_meets_one(make_options):
    times = {"slow": [2000], "middle": [1000], "fast": [100]}
    found = make_options(times, {"slow": 0.1, "middle": 1, "fast": 60})
    text = advice.text("mnist_mlp", found, 1500, 1.0)
    assert "Cheapest within 25 min: middle with" in text
    assert "Fastest for up to $1.00: the same." in text
    marks = advice.recommended(found, 1500, 1.0)
    assert dict(zip(found.hardware_id, marks, strict=True)) == {
        "slow": "", "middle": "cheapest and fastest", "fast": "",
    }  # fmt: skip
