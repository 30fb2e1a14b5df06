"""What can be had is recommended, on equal terms; what others published long ago is context."""

from dataclasses import replace
from datetime import date

import measured
import pandas as pd
import pytest
from observed import full_run

from epochcost import ROOT, schemas
from epochcost.hardware import is_unsupported
from epochcost.models import workloads
from epochcost.money import options, prices, successors
from epochcost.money import tables as cost_tables
from epochcost.money.market import Market
from epochcost.results import published, rows, tables
from epochcost.show import advice

PUBLISHED = ROOT / "data/published"
# The machines of data/measured with an H200, and with two cores of an AMD EPYC.
H200, EPYC = "b98faf98fac2", "9552f777d6a3"


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    """runs.csv of mnist_cnn: what is published, and the records of the documentation."""
    made = [rows.run_row(one, "") for one in measured.read() if one.run.workload == "mnist_cnn"]
    labels = {name: one["label"] for name, one in schemas.read("hardware").items()}
    theirs = [run for run in published.runs(PUBLISHED, labels) if run.workload == "mnist_cnn"]
    return tables.runs_table([*theirs, *made])


@pytest.fixture
def advised(runs, known):
    """Makes the options of mnist_cnn and the advice, by the price of one machine."""
    about = workloads.read()

    def make(machine: str, usd: float, book: str = "2026-07", chosen=None, **asked):
        local = prices.Price("local", usd, "on_demand", None, "config")
        market = Market(
            known, book, local=local, machine_id=machine, catalogue=schemas.read("hardware")
        )
        some = runs if chosen is None else runs[chosen(runs)]
        found = options.options_table(
            some, tables.epochs_table([]), about.complete_samples(), about.recipes, market
        )
        found = found.reset_index(drop=True)
        return found, advice.text("mnist_cnn", found, **asked)

    return make


def line_of(text: str, start: str) -> str:
    (line,) = [line for line in text.splitlines() if line.startswith(start)]
    return line


def test_what_cannot_run_today_is_no_recommendation_and_never_without_its_caveat(advised):
    found, text = advised(H200, 3.5)
    assert line_of(text, "Cheapest: ").startswith("Cheapest: NVIDIA H200 with PyTorch")
    assert line_of(text, "Fastest: ") == "Fastest: the same."
    context = line_of(text, "1 machine: ")
    assert text.count("P100") == 1
    assert "(context: P100, a time of 2017)" in context
    theirs = found[found.source_id.ne("own")]
    assert len(theirs) and theirs.context.ne("").all()
    assert not theirs.efficient.any()
    assert theirs.cheapest_probability.isna().all()
    assert found.cheapest_probability.sum() == pytest.approx(1)


def test_without_a_run_of_ones_own_nothing_is_recommended(advised):
    found, text = advised("none", 1.0, chosen=lambda runs: runs.source_id.ne("own"))
    assert found.source_id.ne("own").all()
    assert text.startswith("mnist_cnn: no machine that can be had is known.")
    assert "Measure here: snakemake --config workloads=mnist_cnn price=" in text
    assert "processors say little of GPUs" in text
    assert "Cheapest" not in text and "Fastest" not in text
    assert "Context, no option: P100, 65.4 s, $0.0134 (a time of 2017)" in text


def test_a_published_gpu_that_is_supported_is_no_more_than_a_time_of_then(advised):
    cpus = [run for run in published.runs(PUBLISHED, {}) if "cpu" in run.hardware_id]
    assert cpus
    found, _ = advised(H200, 3.5)
    on_cpus = found[found.source_id.ne("own") & found.gpu.eq("")]
    assert set(on_cpus.context) <= {"a time of 2017"}


def test_machines_of_ones_own_without_a_price_are_listed(advised, runs, known, baselines):
    about = workloads.read()
    local = prices.Price("local", 3.5, "on_demand", None, "config")
    market = Market(
        known, "2026-07", local=local, machine_id=H200, catalogue=schemas.read("hardware")
    )
    costs = cost_tables.costs_table(runs, market)
    bases = baselines[baselines.workload.eq("mnist_cnn")]
    relative = cost_tables.relative_table(
        runs, costs, bases, about.complete_samples(), about.recipes, market
    )
    _, text = advised(H200, 3.5, unpriced=cost_tables.without_price_of(relative))
    line = line_of(text, "Timed without a price: ")
    assert " and 5 more; " in line


def test_where_a_published_start_counts_none_does(advised):
    """In a book of 2017 published machines are options, and all are compared by their epochs."""
    found, text = advised(EPYC, 0.1, "2017-12")
    assert set(found.source_id) > {"own"}
    assert found.context.eq("").all()
    assert set(found.terms) == {"epochs alone"}
    assert found.elapsed_s.tolist() == pytest.approx(found.time_s.tolist())
    own = found[found.source_id.eq("own")]
    assert own.overhead_s.eq(0).all() and own.start_s.gt(0).all()
    assert own.billed_usd.tolist() == pytest.approx(own.marginal_usd.tolist())
    assert ", by epochs alone (no start of a published one is known)" in text
    # Own with own: with the start.
    alone, _ = advised(EPYC, 0.1, "2017-12", chosen=lambda runs: runs.source_id.eq("own"))
    assert set(alone.terms) == {"with start"}
    assert (alone.elapsed_s > alone.time_s).all()


def test_a_billed_ratio_is_that_of_two_bills_without_a_start(make_tables, record):
    """The baseline's start is not known; that of the own run is in its bill, and in no ratio."""
    one = full_run(record, 40.0) | {"phases": record["phases"] | {"import": 3600.0}}
    local = prices.Price("local", 0.4975, "on_demand", None, "config")
    _, costs, relative = make_tables(one, kind="billed", local=local)
    row = relative[relative.source_id.eq("own")].iloc[0]
    assert row.cost_kind == "billed"
    assert row.cost_usd > 0.4975, "an hour of start is paid"
    assert row.cost_relative < 1
    base = relative[relative.source_id.eq("woolf2017gpu") & relative.time_relative.eq(1)].iloc[0]
    assert row.cost_relative == pytest.approx(40.0 * 0.4975 / 3600 / base.cost_usd)
    assert costs.cost_usd[costs.source_id.eq("own")].tolist() == [row.cost_usd]


def test_the_tables_of_the_documentation_have_no_copy_among_the_options(advised):
    """Five logs of 2017-11 are those of 2017-06, and were options twice."""
    found, _ = advised(EPYC, 0.1, "2017-12")
    k80 = found[found.hardware_id.eq("gce-k80") & found.framework.eq("keras-cntk")]
    assert set(k80.source_id) == {"woolf2017cntk"}
    times = found[found.source_id.ne("own")].drop_duplicates(["source_id", "framework", "time_s"])
    assert times.time_s.is_unique


def test_a_copy_keeps_its_row_and_is_marked(runs, known, baselines):
    copies = runs[runs.copy_of.ne("")]
    assert list(copies.copy_of) == ["woolf2017cntk/mnist_cnn_cntk"]
    about = workloads.read()
    market = replace(Market(known), catalogue=schemas.read("hardware"))
    costs = cost_tables.costs_table(runs, market)
    bases = baselines[baselines.workload.eq("mnist_cnn")]
    relative = cost_tables.relative_table(
        runs, costs, bases, about.complete_samples(), about.recipes, market
    )
    marked = relative[relative.copy_of.eq("woolf2017cntk/mnist_cnn_cntk")]
    assert len(marked) and set(marked.source_id) == {"woolf2017gpu"}


def test_five_published_logs_are_copies():
    found = [run for run in published.runs(PUBLISHED, {}) if run.copy_of]
    assert len(found) == 5
    ids = {run.run_id for run in published.runs(PUBLISHED, {})}
    assert {run.copy_of for run in found} <= ids


def test_every_accelerator_of_the_catalogue_is_judged():
    """Those of before 2018 (and no NVIDIA's) are not supported; a T4 and what came later are."""
    gpus = {entry["gpu"] for entry in schemas.read("hardware").values() if "gpu" in entry}
    unsupported = {gpu for gpu in gpus if is_unsupported(gpu)}
    assert {"K80", "P100", "V100", "M60", "TPU v2", "GTX 1080"} <= unsupported
    assert not {"T4", "L4", "A100", "H100", "H200", "B200", "RTX 3090"} & unsupported
    assert not is_unsupported(None)


def test_in_place_of_retired_hardware_comes_what_todays_frameworks_run_on():
    gpus = {"old": "K80", "near": "P100", "far": "T4"}
    catalogue = {name: {"gpu": gpu, "gpu_count": 1} for name, gpu in gpus.items()}
    catalogue["old"]["retired"] = "2024-05-01"
    prices_of = {"old": 0.5, "near": 0.51, "far": 0.9}
    known = [
        prices.Price(name, usd, prices.ON_DEMAND, date(2026, 7, 1), "me")
        for name, usd in prices_of.items()
    ]
    assert successors.successor("old", catalogue, Market(known, catalogue=catalogue)) == "far"
