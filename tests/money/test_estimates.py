"""What a plan will cost: known from what there is, and unknown else."""

import copy
import subprocess
import sys

import pandas as pd
import pytest
from observed import typed

from epochcost import ROOT
from epochcost.estimate import Estimate
from epochcost.models import workloads
from epochcost.money import estimates, prices
from epochcost.money.billing import Rental
from epochcost.money.market import Market
from epochcost.record.record import recipe_id
from epochcost.results import published, rows, tables
from epochcost.show import estimate

PUBLISHED = ROOT / "data/published"
RECIPES = workloads.read().recipes
CORES = 2
LOCAL = prices.Price("local", 0.36, "owned", None, "config")


@pytest.fixture
def table(record, known):
    """The estimate of so many planned runs on the published runs and one quick run here."""

    def make(
        scale: str, *planned: tuple[str, str, str, int], data="complete", cores=CORES,
        batch_size=None, recipe_of="mnist_mlp", variant="default", foreseen=lambda *_: None,
        **about,
    ) -> pd.DataFrame:  # fmt: skip
        other = {"batch_size": batch_size} if batch_size else {}
        recipe = recipe_id(RECIPES[recipe_of] | other)
        runs = [
            (hardware, workload, framework, variant, trial, recipe, data)
            for hardware, workload, framework, count in planned
            for trial in range(count)
        ]
        quick = copy.deepcopy(record)
        quick["wall_s"] = 100.0
        market = Market(known, "2018-02", machine_id=record["machine"]["id"], **about)
        return estimates.estimate_table(
            pd.DataFrame(runs, columns=estimates.PLAN_COLUMNS),
            tables.runs_table([*published.runs(PUBLISHED, {}), rows.run_row(typed(quick), "")]),
            scale,
            market,
            RECIPES,
            cores,
            foreseen,
        )

    return make


def test_a_quick_run_here_is_timed_by_a_quick_run_here(table):
    (row,) = table("quick", ("local", "mnist_mlp", "keras-tensorflow", 3), local=LOCAL).to_dict(
        "records"
    )
    assert (row["basis"], row["seconds"]) == ("measured", 300)
    assert row["cost_usd"] == pytest.approx(0.03)


@pytest.mark.parametrize(
    "other",
    [{"data": "subset"}, {"data": "synthetic"}, {"batch_size": 512}, {"cores": 64}],
    ids=str,
)
def test_what_was_trained_otherwise_times_nothing(table, other):
    (row,) = table("quick", ("local", "mnist_mlp", "keras-tensorflow", 1), **other).itertuples()
    assert row.basis == "unknown"
    assert pd.isna(row.seconds)


def test_a_full_run_here_is_timed_by_its_prediction(table):
    (row,) = table("full", ("local", "mnist_mlp", "keras-tensorflow", 1)).itertuples()
    assert row.basis == "predicted"
    assert pd.isna(row.cost_usd)


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_a_time_of_another_variant_is_said_to_be_one(table, scale):
    planned = ("local", "mnist_mlp", "keras-tensorflow", 1)
    (row,) = table(scale, planned, variant="devices_2").itertuples()
    assert row.basis == "another variant"


def test_rented_hardware_is_timed_by_what_was_published_and_billed_by_itself(table):
    (row,) = table(
        "full", ("gce-k80", "mnist_mlp", "keras-tensorflow", 2), rental=Rental(boot_s=100)
    ).itertuples()
    assert row.basis == "published"
    assert row.price_kind == "on_demand"
    seconds = row.seconds / 2
    assert seconds == pytest.approx(64.5, abs=0.1)
    assert row.cost_usd == pytest.approx(2 * 0.4975 / 3600 * (seconds + 100), rel=0.01)
    (quick,) = table("quick", ("gce-k80", "mnist_mlp", "keras-tensorflow", 1)).itertuples()
    assert quick.basis == "full run"


@pytest.mark.parametrize(
    ("hardware", "runs", "usd"),
    [
        ("hetzner-ex51-ssd-gpu", 6, 0.22 * 720),
        # By the hour, and 5 USD a month.
        ("paperspace-p6000", 2, 2 * 6552 / 3600 * 0.90 + 5),
    ],
)
def test_what_is_paid_by_the_month_is_paid_once_for_all_runs(table, hardware, runs, usd):
    planned = (hardware, "twitter_bilstm", "keras-tensorflow", runs)
    (row,) = table("full", planned, recipe_of="twitter_bilstm").itertuples()
    assert row.cost_usd == pytest.approx(usd, rel=1e-3)


def test_of_published_runs_the_newest_in_the_variant_counts(table):
    """The K80 took 1,107 and 1,229 s with TensorFlow 1.1 and 1.2, and 173 s with 1.4."""
    (row,) = table("full", ("gce-k80", "imdb_bilstm", "keras-tensorflow", 1),
                   recipe_of="imdb_bilstm").itertuples()  # fmt: skip
    assert row.seconds == pytest.approx(173.4, abs=0.1)


def test_what_is_not_known_stays_unknown_and_is_counted(table):
    found = table(
        "full",
        ("gce-k80", "mnist_mlp", "keras-tensorflow", 1),
        ("gce-t4", "mnist_mlp", "pytorch", 2),
    )
    total = estimates.total(found)
    assert (total.runs, total.untimed, total.unpriced) == (3, 2, 2)
    text = estimate.text(found, {"gce-k80": "K80"})
    assert "K80: 1 run, " in text
    assert " at $0.4975 an hour (on-demand)" in text
    assert "gce-t4: 2 runs, an unknown time, an unknown cost" in text
    assert "Unknown, as no run on gce-t4 counts: mnist_mlp with PyTorch" in text


def test_what_nobody_measured_is_estimated_and_counts_with_its_upper_end(table):
    def foreseen(hardware, workload, *_):
        assert (hardware, workload) == ("gce-p100", "mnist_mlp")
        return Estimate(1000.0, 500.0, 3600.0, "data sheet", 0, ("T4", "P100"), ())

    planned = ("gce-p100", "mnist_mlp", "keras-torch", 2)
    found = table("full", planned, foreseen=foreseen)
    (row,) = found.to_dict("records")
    assert (row["basis"], row["seconds"], row["seconds_high"]) == ("estimated", 2000, 7200)
    assert row["cost_high"] == pytest.approx(3.6 * row["cost_usd"], rel=0.01)
    total = estimates.total(found)
    assert total.untimed == total.unpriced == 0
    text = estimate.text(found, {})
    assert "33.3 min, " in text and " (up to $" in text and "2 estimated" in text
    said = estimate.refusal(total, total.usd * 2)
    assert said.startswith("the plan could cost $")
    assert estimate.refusal(total, total.usd / 2).startswith("the plan would cost $")
    # A part of the data is another training.
    assert table("full", planned, foreseen=foreseen, data="subset").basis.iloc[0] == "unknown"


def test_nothing_planned_is_said(table):
    assert "Nothing to run" in estimate.text(table("full"), {})


def test_the_last_price_of_what_is_rented_no_more_is_called_so(known):
    run = ("gce-k80", "mnist_mlp", "keras-tensorflow", "default", 1)
    trained = (recipe_id(RECIPES["mnist_mlp"]), "complete")
    planned = pd.DataFrame([(*run, *trained)], columns=estimates.PLAN_COLUMNS)
    runs = tables.runs_table(published.runs(PUBLISHED, {}))
    for book, said in (
        ("2018-02", "(on-demand)"),
        ("latest", "(on-demand, its last price)"),
    ):
        table = estimates.estimate_table(planned, runs, "full", Market(known, book), RECIPES, CORES)
        assert said in estimate.text(table, {})


HEAD = ",".join(estimates.PLAN_COLUMNS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}\nlocal,mnist_mlp,pytorch,,1,abc,complete\n", "line 2: variant is empty"),
        (f"{HEAD}\nlocal,mnist_mpl,pytorch,default,1,abc,complete\n", "did you mean 'mnist_mlp'"),
        (f"{HEAD}\ngce-k08,mnist_mlp,pytorch,default,1,abc,complete\n", "did you mean 'gce-k80'"),
        (f"{HEAD}\nlocal,mnist_mlp,pytorch,default,1,abc,compleet\n", "did you mean 'complete'"),
        ("a,b\n1,2\n", "has not the columns hardware, workload"),
    ],
)
def test_a_plan_that_is_not_whole_is_said(tmp_path, text, said):
    plan = tmp_path / "plan.csv"
    plan.write_text(text)
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/estimate.py", plan],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("script", "option", "value"),
    [
        ("estimate.py", "--most", "-1"),
        ("estimate.py", "--most", "nan"),
        ("estimate.py", "--records", "nowhere"),
        ("runs.py", "--records", "nowhere"),
        ("calibrate.py", "--seconds", "0"),
        ("train.py", "--time-limit", "-5"),
        ("train.py", "--seed", "-5"),
    ],
)
def test_options_that_cannot_be_are_refused_before_anything_is_done(script, option, value):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, f"{option}={value}"],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"argument {option}: " in done.stderr
    assert value in done.stderr
