"""A run beside others that used most of the machine: no number of it is a result."""

import copy

import pandas as pd
import pytest
from observed import full_run, typed

from epochcost import ROOT
from epochcost.models import workloads
from epochcost.money import estimates, options, prices
from epochcost.money.market import Market
from epochcost.plan import runs
from epochcost.record.record import recipe_id
from epochcost.results import predictions, quality, repeats, rows, spreads, tables
from epochcost.show import answer
from epochcost.statistics.intervals import FEWEST_RUNS

NOISE = {"others_cpu_share": 0.87, "flags": ["load from others"]}


@pytest.fixture
def crowded(record):
    """A quick run while others used 87 % of the processors, a hundred times as long."""
    one = copy.deepcopy(record)
    one["noise"] |= NOISE
    one["blocks"] = [block | {"seconds": 100 * block["seconds"]} for block in one["blocks"]]
    return one


def made_later(one: dict, trial: int) -> dict:
    return one | {"run": one["run"] | {"trial": trial, "id": f"later-{trial}"}}


def options_of(known, *records: dict, keep_disturbed: bool = False) -> pd.DataFrame:
    about = workloads.read()
    runs = tables.runs_table([rows.run_row(typed(one), "") for one in records])
    local = prices.Price("local", 0.1, "owned", None, "config")
    market = Market(known, local=local, machine_id=records[0]["machine"]["id"])
    return options.options_table(
        runs, tables.epochs_table([]), about.complete_samples(), about.recipes, market,
        keep_disturbed,
    )  # fmt: skip


def own(table: pd.DataFrame) -> pd.DataFrame:
    return table[table.source_id.eq("own")]


@pytest.mark.parametrize("keep_disturbed", [False, True])
def test_it_has_no_time_no_ratio_no_cost_and_is_no_option(
    make_tables, known, crowded, keep_disturbed
):
    runs, costs, relative = make_tables(crowded)
    (row,) = own(runs).itertuples()
    assert (row.status, row.reason) == ("unusable", "others used 87% of the processors")
    assert pd.isna([row.time_s, row.time_low, row.time_high]).all()
    for table in (costs, relative, repeats.repeats_table(runs, keep_disturbed)):
        assert own(table).empty
    assert options_of(known, crowded, keep_disturbed=keep_disturbed).empty
    assert spreads.spread_table(runs, keep_disturbed).pairs.sum() == 0


def test_its_record_is_what_it_was(make_tables, crowded):
    before = copy.deepcopy(crowded)
    make_tables(crowded)
    assert crowded == before
    assert crowded["status"] == "ok"


@pytest.mark.parametrize("keep_disturbed", [False, True])
def test_it_counts_in_no_median_and_no_comparison(make_tables, record, keep_disturbed):
    full = [full_run(record, seconds, trial) for trial, seconds in enumerate([40, 42, 4000], 1)]
    full[2]["noise"] |= NOISE
    other = full_run(record, 50.0, 4)
    other["run"] |= {"framework": "pytorch"}
    runs = make_tables(*full, other)[0]
    row = repeats.repeats_table(runs, keep_disturbed).iloc[0]
    assert (row.runs, row.time_s, row.slowest_s) == (2, 41, 42)
    (pair,) = repeats.comparisons_table(runs, keep_disturbed).itertuples()
    assert pair.ratio == pytest.approx(41 / 50)


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_no_prediction_is_held_against_it(make_tables, record, crowded, scale):
    full = full_run(record, 40.0, 2)
    if scale == "full":
        crowded, full = record, full | {"noise": record["noise"] | NOISE}
    assert predictions.predictions_table(make_tables(crowded, full)[0], True).empty


def test_no_plan_is_estimated_by_it(make_tables, known, record, crowded):
    market = Market(known, machine_id=crowded["machine"]["id"])
    recipes = workloads.read().recipes
    what = recipe_id(record["settings"])
    planned = pd.DataFrame(
        [("local", "mnist_mlp", "keras-tensorflow", "default", 2, what, "complete")],
        columns=estimates.PLAN_COLUMNS,
    )
    for one, basis in ((crowded, estimates.UNKNOWN), (record, estimates.MEASURED)):
        runs = make_tables(one)[0]
        table = estimates.estimate_table(planned, runs, "quick", market, recipes, 2)
        assert list(table.basis) == [basis]


def test_what_it_learnt_counts_and_its_time_does_not(make_tables, record, known):
    full = full_run(record, 40.0, 2)
    full["noise"] |= NOISE
    about = workloads.read()
    args = (about.complete_samples(), {"mnist_mlp": record["settings"]})
    bases = pd.read_csv(ROOT / "data/published/baselines.csv")
    found = tables.epochs_table(rows.epoch_rows(typed(full), "x"))
    (row,) = quality.quality_table(make_tables(full)[0], found, *args, bases).itertuples()
    assert (row.value, row.runs) == (0.981, 1)
    assert pd.isna([row.time_s, row.epoch_s, row.time_relative, row.input_share]).all()
    # A target that it missed is missed, whatever its prediction was.
    missed = copy.deepcopy(full)
    missed["quality"] |= {"value": 0.5, "reached": False}
    assert len(options_of(known, record, full)) == 1
    assert options_of(known, record, missed).empty


def test_one_sentence_says_so_and_what_to_do(make_tables, crowded):
    runs = make_tables(crowded)[0]
    here, elsewhere = crowded["machine"]["id"], "ba9876543210"
    assert answer.unusable(runs, here) == [
        "mnist_mlp with Keras TensorFlow: others used 87% of the processors during the run, so its "
        "time says nothing; when the machine is free, run: snakemake --config again=true "
        "workloads=mnist_mlp frameworks=keras-tensorflow"
    ]
    (said,) = answer.unusable(runs, here, "price=0.10 seed=3")
    assert said.endswith("frameworks=keras-tensorflow price=0.10 seed=3")
    (said,) = answer.unusable(runs, elsewhere, "price=0.10")
    assert "price" not in said, "that of this machine"
    assert f"with Keras TensorFlow on AMD EPYC, 2 cores ({here} kernel " in said
    assert "when that machine is free, run there: snakemake" in said
    other = made_later(crowded, 2)
    other["run"] |= {"framework": "pytorch", "variant": "bfloat16"}
    (both,) = answer.unusable(make_tables(crowded, other)[0], here)
    assert "with Keras TensorFlow, PyTorch (bfloat16): others" in both
    assert "during the runs, so their times say nothing" in both
    assert both.endswith("frameworks=keras-tensorflow,pytorch variants=default,bfloat16")


def test_nothing_is_said_once_it_was_made_again(make_tables, record, crowded):
    runs = make_tables(crowded, made_later(record, 2))[0]
    assert answer.unusable(runs, record["machine"]["id"]) == []
    assert len(own(repeats.summaries(runs[runs.status.eq("ok")]))) == 1


def test_the_advice_given_trains_again(record, crowded):
    """The unusable record counts as made; `again` plans one more."""
    series = runs.Series(
        "local", "mnist_mlp", "keras-tensorflow", "default", (typed(crowded),), frozenset([1])
    )
    about = {"precision": None, "budget_s": 0.0, "keep_disturbed": False, "seed": 1}
    plain = runs.Plan([], [series], 1, **about)
    again = runs.Plan([], [series], 1, **about, again=True)
    assert plain.missing == []
    assert [run.trial for run in again.missing] == [2]


@pytest.mark.parametrize("keep_disturbed", [False, True])
def test_a_wanted_precision_is_that_of_the_other_runs(record, keep_disturbed):
    steady = [full_run(record, 40.0, trial) for trial in range(1, FEWEST_RUNS + 1)]
    lost = full_run(record, 4000.0, 7) | {"noise": record["noise"] | NOISE}

    def narrow(*done: dict) -> bool:
        names = ("local", "mnist_mlp", "keras-tensorflow", "default")
        one = runs.Series(*names, tuple(map(typed, done)), frozenset(range(1, 8)))
        return one.narrow(len(done), 0.02, keep_disturbed)

    assert narrow(*steady)
    assert not narrow(*steady[1:], lost), "five are too few"
    assert narrow(*steady, lost)
