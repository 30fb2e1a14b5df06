"""The published studies, recomputed."""

import pandas as pd
import pytest


def study(make_tables, printed: pd.DataFrame, source: str) -> pd.DataFrame:
    """A study's rows over its own base, with what it printed."""
    runs, _, relative = make_tables()
    own = relative[relative.source_id.eq(source) & relative.baseline.eq(source)]
    keys = ["source_id", "workload", "framework", "variant", "hardware_id"]
    totals = printed[printed.row_kind.eq("total")]
    return (
        own.merge(runs[[*keys, "run_id"]], on=keys)
        .set_index("run_id")
        .join(totals[["time_norm_published", "cost_norm_published", "cost_usd_published"]])
    )


def test_all_72_bar_labels_of_november_2017(make_tables, printed):
    rows = study(make_tables, printed, "woolf2017gpu")
    assert len(rows) == 36
    for name in ("time", "cost"):
        assert rows[f"{name}_norm_published"].notna().all()
        difference = (rows[f"{name}_relative"] - rows[f"{name}_norm_published"]).abs()
        assert difference.max() <= 0.0051


def test_all_63_rows_of_july_2017(make_tables, printed):
    rows = study(make_tables, printed, "woolf2017cpu")
    assert len(rows) == 63
    for name in ("time", "cost"):
        assert rows[f"{name}_relative"].to_numpy() == pytest.approx(
            rows[f"{name}_norm_published"].to_numpy(), rel=1e-5
        )
    assert rows.cost_usd.to_numpy() == pytest.approx(rows.cost_usd_published.to_numpy(), rel=1e-5)


def test_the_rows_of_july_2017_stand_beside_the_common_baseline_too(make_tables):
    _, _, relative = make_tables()
    rows = relative[relative.source_id.eq("woolf2017cpu") & relative.baseline.eq("woolf2017gpu")]
    assert len(rows) == 54  # text_generator_keras has no run in November 2017


def test_the_examples(make_tables):
    _, _, relative = make_tables()
    row = relative.query(
        "workload == 'mnist_mlp' and hardware_id == 'gce-p100' and framework == 'keras-tensorflow'"
        " and source_id == 'woolf2017gpu'"
    )
    assert row.cost_relative.item() == pytest.approx(2.59, abs=0.005)
    row = relative.query(
        "workload == 'imdb_bilstm' and hardware_id == 'gce-k80' and framework == 'keras-cntk'"
        " and source_id == 'woolf2017gpu'"
    )
    assert row.time_relative.item() == pytest.approx(3.51, abs=0.005)


def test_the_baselines_are_1(make_tables, baselines):
    runs, _, relative = make_tables()
    for base in baselines.itertuples():
        run = runs[runs.run_id.eq(base.run_id)].iloc[0]
        row = relative[
            relative.workload.eq(base.workload)
            & relative.baseline.eq(base.baseline)
            & relative.source_id.eq(base.baseline)
            & relative.hardware_id.eq(run.hardware_id)
            & relative.framework.eq(run.framework)
            & relative.price_kind.eq(base.price_kind)
        ]
        assert row.time_relative.item() == pytest.approx(1)
        assert row.cost_relative.item() == pytest.approx(1)


def test_costs_that_a_table_of_2018_printed(make_tables, printed):
    """Prorated, so without the two that were billed by whole hours; p3.2xlarge rounds apart."""
    _, costs, _ = make_tables()
    own = costs[
        costs.source_id.eq("manne2018gpu") & costs.price_kind.isin(["on_demand", "monthly"])
    ].set_index("run_id")
    table = own.join(printed[["cost_usd_published"]])
    table = table[~table.hardware_id.str.startswith("softlayer")]
    assert len(table) == 11
    assert (table.cost_usd - table.cost_usd_published).abs().max() < 0.061


def test_preemptible_against_on_demand_is_marked(make_tables):
    _, _, relative = make_tables()
    published = relative[relative.baseline.eq("woolf2017gpu") & relative.cost_usd.notna()]
    mixed = published[published.mixed_price_kinds]
    assert set(mixed.price_kind) == {"preemptible"}
    assert set(mixed.hardware_id.str[:11]) == {"gce-n1-high"}


def test_a_run_without_a_price_has_a_time_and_no_cost(make_tables):
    _, costs, relative = make_tables()
    assert "woolf2017cntk" not in set(costs.source_id)
    rows = relative[relative.source_id.eq("woolf2017cntk")]
    assert len(rows) == 12
    assert rows.time_relative.notna().all()
    assert rows.cost_usd.isna().all()
    assert rows.cost_relative.isna().all()


def test_names_are_mapped_and_statements_are_in_no_ratio(make_tables):
    runs, _, relative = make_tables()
    assert {"imdb_bilstm", "nietzsche_lstm", "twitter_bilstm", "catsdogs_resnet50"} <= set(
        runs.workload
    )
    assert "catsdogs_resnet50" not in set(relative.workload)
    assert set(runs[runs.source_id.eq("woolf2017cpu")].variant) == {"default", "pip", "compiled"}
    assert not set(relative.source_id) & {"hale2018", "kroutikov2016cost"}


def test_statements_of_one_epoch_are_single_epochs_and_in_no_ratio(make_tables):
    """Keras-MXNet's seconds are of one epoch, on all GPUs of the machine or on one of them."""
    runs, costs, relative = make_tables()
    rows = runs[runs.source_id.eq("keras-mxnet-bench")].set_index("run_id")
    assert dict(rows.time_s) == {
        "keras-mxnet-bench/c5.18xlarge": 54,
        "keras-mxnet-bench/c5.xlarge": 101,
        "keras-mxnet-bench/p3.8xlarge-1gpu": 49,
        "keras-mxnet-bench/p3.8xlarge-4gpu": 88,
    }
    assert set(rows.workload) == {"nietzsche_lstm"}
    assert set(rows.framework) == {"keras-tensorflow"}
    assert (rows.epochs == 1).all()
    assert set(rows.status) == {"statement"}
    assert list(rows.variant) == ["default", "default", "1-of-4-gpus", "default"]
    assert not {"keras-mxnet-bench"} & {*costs.source_id, *relative.source_id}


def test_one_gpu_of_two_is_no_repetition_of_both(make_tables):
    _, _, relative = make_tables()
    rows = relative.query("hardware_id == 'leadergpu-2xp100'")
    assert sorted(rows.variant) == ["1-of-2-gpus", "default"]
    assert (rows.runs == 1).all()
