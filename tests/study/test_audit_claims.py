"""What the audit says of single claims, against plain arithmetic over the published files."""

import csv
from dataclasses import replace

import pandas as pd
import pytest
import recompute

from epochcost import ROOT

PUBLISHED = ROOT / "data/published"
MANNE, WOOLF, JUNE = "manne2018gpu", "woolf2017gpu", "woolf2017cntk"
HOUR = 3600


def _read(name: str) -> list[dict[str, str]]:
    with open(PUBLISHED / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


ROWS = {
    row["run_id"]: row
    for row in _read("measurements.csv")
    if row["row_kind"] != "epoch" or row["source_id"] == "kroutikov2016cost"
}


def seconds(run: str) -> float:
    return float(ROWS[run]["time_s"])


def price(hardware: str, month: str, kind: str = "on_demand") -> float:
    """The one price of a month."""
    (found,) = {
        float(row["price_per_hour"])
        for row in _read("prices.csv")
        if (row["hardware_id"], row["as_of"][:7], row["price_kind"]) == (hardware, month, kind)
    }
    return found


def manne(run: str) -> float:
    """What a run of 2018 cost, prorated."""
    row = ROWS[f"{MANNE}/{run}"]
    return seconds(f"{MANNE}/{run}") / HOUR * price(row["hardware_id"], "2018-02")


@pytest.fixture(scope="module")
def found(claims, study) -> pd.DataFrame:
    return recompute.audit_table(claims, study)


def about(found: pd.DataFrame, source: str, words: str) -> pd.Series:
    """The one claim of a source with these words in it."""
    rows = found[found.source_id.eq(source) & found.claim.str.contains(words, regex=False)]
    assert len(rows) == 1, f"{len(rows)} claims of {source} say '{words}'"
    return rows.iloc[0]


def claim_of(claims: list[dict], words: str) -> dict:
    (claim,) = (claim for claim in claims if words in claim["claim"])
    return claim


def verdict(claim: dict, study: recompute.Study) -> str:
    return recompute.audit_table([claim], study).verdict.item()


# --- Kroutikov ------------------------------------------------------------------------------------
def test_the_credit_went_twice_as_fast_as_the_price_says(found):
    hourly = price("rescale-gpu-worker", "2016-11")
    row = about(found, "kroutikov2016cloud", "gone in less than 4 hours")
    assert f"{10 / (4 * hourly):.1f}" == "2.1"
    assert row.recomputed == f"at least {10 / (4 * hourly):.1f} times the 4.80 USD of the price"
    assert row.verdict == recompute.AGREES
    lasts = about(found, "kroutikov2016cloud", "would last 8 to 10 hours")
    assert lasts.recomputed.startswith(f"{10 / hourly:.4g} ")
    assert 8 <= 10 / hourly <= 10 and lasts.verdict == recompute.AGREES


def test_a_failed_start_was_charged_with_more_than_its_minutes(found):
    hourly = price("rescale-gpu-worker", "2016-11")
    row = about(found, "kroutikov2016cloud", "charged with about a dollar")
    least, most = 1 / (hourly * 8 / 60), 1 / (hourly * 4 / 60)
    assert row.recomputed.startswith(f"{least:.1f} to {most:.1f} times the 0.08 to 0.16 USD")
    assert row.verdict == recompute.AGREES


def test_how_long_a_start_took_cannot_be_checked(found):
    row = about(found, "kroutikov2016cloud", "4 to 8 minutes to start")
    assert (row.verdict, row.published) == (recompute.UNKNOWN, "4 to 8 minutes")


# --- Woolf, 2017 ----------------------------------------------------------------------------------
def test_gpus_are_on_par_with_processors_in_three_of_six(found):
    cost: dict[str, dict[str, list[float]]] = {}
    for run, row in ROWS.items():
        if row["source_id"] == WOOLF:
            kind = "preemptible" if "n1" in row["hardware_id"] else "on_demand"
            hourly = price(row["hardware_id"], "2017-11", kind)
            cost.setdefault(row["workload"], {}).setdefault(kind, []).append(seconds(run) * hourly)
    over = {name: min(of["on_demand"]) / min(of["preemptible"]) for name, of in cost.items()}
    par = [name for name, ratio in over.items() if ratio <= 1.25]
    assert (len(par), len(over)) == (3, 6)
    assert min(ratio for name, ratio in over.items() if name not in par) > 2
    row = about(found, WOOLF, "often costs as little")
    assert row.recomputed.startswith("3 of 6 pairs: imdb_fasttext; mnist_cnn; nietzsche_lstm")
    assert row.verdict == recompute.AGREES


def test_preemptible_gpus_give_about_double(found):
    k80, p100 = (
        price(name, "2017-11") / price(name, "2017-12", "preemptible")
        for name in ("gce-k80", "gce-p100")
    )
    assert (f"{p100:.2f}", f"{k80:.2f}") == ("2.04", "2.12")
    row = about(found, WOOLF, "about double for the money")
    assert f"{p100:.3f} (" in row.recomputed and f"{k80:.3f} (" in row.recomputed
    assert row.verdict == recompute.BY_CONSTRUCTION  # the post states halves


def test_exactly_half_fails_by_rounding_only(found, claims, study):
    row = about(found, WOOLF, "exactly half")
    assert (
        row.recomputed == f"{0.73 / 1.46:.4g} (0.73 over 1.46), {0.22 / 0.45:.4g} (0.22 over 0.45)"
    )
    assert row.verdict == recompute.BY_ROUNDING
    claim = claim_of(claims, "exactly half")
    for printed, expected in (("0.225", recompute.AGREES), ("0.21", recompute.DISAGREES)):
        changed = claim | {"quotients": [[printed, "0.45"]]}
        assert verdict(changed, study) == expected


def test_the_lstm_of_cudnn_over_both_studies_before(found):
    new = seconds(f"{WOOLF}/k80/imdb_bidirectional_lstm_tensorflow")
    july = seconds("woolf2017cpu/gpu/imdb_bidirectional_lstm_tensorflow") / new
    june = seconds(f"{JUNE}/imdb_bidirectional_lstm_tensorflow") / new
    assert (f"{july:.2f}", f"{june:.2f}") == ("7.09", "6.38")
    row = about(found, WOOLF, "about seven times as fast")
    assert row.recomputed == f"{july:.2f}; {june:.2f} over the run of June"


def test_the_p100_is_seldom_about_twice_as_fast(found):
    ratios = [
        seconds(run) / seconds(run.replace("/k80/", "/p100/"))
        for run in ROWS
        if run.startswith(f"{WOOLF}/k80/")
    ]
    near = sum(1.5 <= ratio <= 2.5 for ratio in ratios)
    assert (near, len(ratios)) == (2, 12)
    row = about(found, WOOLF, "mostly about twice")
    assert row.recomputed.startswith("2 of 12 pairs") and row.verdict == recompute.DISAGREES


def test_other_claims_of_the_two_posts(found):
    june = seconds(f"{JUNE}/imdb_bidirectional_lstm_tensorflow") / seconds(
        f"{JUNE}/imdb_bidirectional_lstm_cntk"
    )
    assert about(found, WOOLF, "In June CNTK").recomputed == f"{june:.2f}"
    similar = [
        seconds(f"woolf2017cpu/{kind}/cpu64/mnist_mlp_tensorflow")
        / seconds(f"woolf2017cpu/{kind}/cpu32/mnist_mlp_tensorflow")
        for kind in ("cpu-pip", "cpu-compiled")
    ]
    row = about(found, "woolf2017cpu", "much the same time")
    assert row.recomputed == f"{min(similar):.2f} to {max(similar):.2f} over 2 pairs"
    assert min(similar) < 0.9 and row.verdict == recompute.DISAGREES


# --- Manne ----------------------------------------------------------------------------------------
def test_cheaper_gpus_fail_at_aws_by_the_rounding_of_the_times(found, claims, study):
    cheap, dear = manne("aws-p2.xlarge-1gpu"), manne("aws-p3.2xlarge-1gpu")
    assert (f"{cheap:.2f}", f"{dear:.2f}") == ("3.26", "3.24")
    row = about(found, MANNE, "gives more for the money")
    assert row.recomputed == (
        f"5 of 6 pairs; not aws-p2.xlarge-1gpu ({cheap:.2f} USD) against "
        f"aws-p3.2xlarge-1gpu ({dear:.2f} USD)"
    )
    # Hundredths of an hour: the least that the one may have cost against the most of the other.
    least = (3.62 - 0.005) * price("aws-p2.xlarge", "2018-02")
    most = (1.06 + 0.005) * price("aws-p3.2xlarge", "2018-02")
    assert least < most and row.verdict == recompute.BY_ROUNDING
    runs = study.runs.copy()
    runs.loc[runs.run_id.eq(f"{MANNE}/aws-p3.2xlarge-1gpu"), "time_s"] = 1.05 * HOUR
    assert 1.055 * price("aws-p3.2xlarge", "2018-02") < least
    wrong = verdict(claim_of(claims, "gives more for the money"), replace(study, runs=runs))
    assert wrong == recompute.DISAGREES


def test_one_printed_cost_agrees_by_the_rounding_of_its_time_only(found, claims, study):
    dear = manne("aws-p3.2xlarge-1gpu")
    assert (
        f"{dear:.1f}" == "3.2"
        and ROWS[f"{MANNE}/aws-p3.2xlarge-1gpu"]["cost_usd_published"] == "3.3"
    )
    costs = recompute.costs_table(claims, study).set_index("run_id")
    rounded = costs.index[costs.verdict.eq(recompute.BY_ROUNDING)]
    assert list(rounded) == [f"{MANNE}/aws-p3.2xlarge-1gpu"]
    row = about(found, MANNE, "The 13 costs")
    assert row.recomputed == "7 agree, 5 agree by construction, 1 disagrees by rounding only"
    assert row.verdict == recompute.BY_ROUNDING


def test_paperspace_is_twice_as_cheap_by_the_cheaper_gpus(found):
    cheaper = manne("aws-p2.xlarge-1gpu") / manne("paperspace-p6000-1gpu")
    v100 = manne("aws-p3.2xlarge-1gpu") / manne("paperspace-v100-1gpu")
    assert f"{cheaper:.2f}" == "1.99"
    row = about(found, MANNE, "twice as cheap as AWS")
    assert row.recomputed == f"{cheaper:.2f}; {v100:.2f} by their V100"
    assert row.verdict == recompute.AGREES


def test_accuracies_of_2018_are_equal(found):
    reached = [float(row["metric_value"]) for row in ROWS.values() if row["source_id"] == MANNE]
    row = about(found, MANNE, "same accuracy")
    assert row.recomputed == f"{min(reached):.4f} to {max(reached):.4f} over {len(reached)} runs"
    assert max(reached) - min(reached) <= 0.01 and row.verdict == recompute.AGREES


def test_two_gpus_are_slower_than_one_on_one_of_two_machines(found, claims, study):
    slower = {
        name: seconds(f"{MANNE}/leadergpu-{name}-2gpu") > seconds(f"{MANNE}/leadergpu-{name}-1gpu")
        for name in ("2xgtx1080", "2xp100")
    }
    assert slower == {"2xgtx1080": False, "2xp100": True}
    row = about(found, MANNE, "both GPUs of a machine")
    assert row.recomputed.startswith("1 of 2 pairs; not leadergpu-2xgtx1080-1gpu (8964 s)")
    assert row.verdict == recompute.DISAGREES


def test_the_dearer_gpu_is_faster_in_four_of_six(found):
    pairs = [
        ("aws-p3.2xlarge-1gpu", "aws-p2.xlarge-1gpu"),
        ("gce-p100-n1std4-1gpu", "gce-k80-n1std4-1gpu"),
        ("paperspace-v100-1gpu", "paperspace-p6000-1gpu"),
        ("softlayer-4xk80-4gpu", "softlayer-2xm60-2gpu"),
        ("leadergpu-2xp100-2gpu", "leadergpu-2xgtx1080-2gpu"),
        ("leadergpu-2xp100-1gpu", "leadergpu-2xgtx1080-1gpu"),
    ]
    faster = [seconds(f"{MANNE}/{dear}") < seconds(f"{MANNE}/{cheap}") for dear, cheap in pairs]
    row = about(found, MANNE, "dearer GPU of a provider")
    assert row.recomputed.startswith(f"{sum(faster)} of {len(pairs)} pairs; not softlayer-4xk80")
    assert sum(faster) == 4 and row.verdict == recompute.DISAGREES


# --- Keras-MXNet, 2018 ----------------------------------------------------------------------------
def test_the_summary_of_keras_mxnet_contradicts_its_own_table(found):
    row = about(found, "keras-mxnet-bench", "83 s on one V100")
    assert row.recomputed == f"{83 / 51:.3f} (83 over 51), {117 / 87:.3f} (117 over 87)"
    assert row.verdict == recompute.DISAGREES
    # Without unrolling, as the rows here, the table has nearly the same.
    one, four = (seconds(f"keras-mxnet-bench/p3.8xlarge-{count}gpu") for count in (1, 4))
    assert (one, four) == (49, 88)


# --- Hale -----------------------------------------------------------------------------------------
def test_a_v100_is_twice_a_p100_by_the_rows_of_another_study(found):
    row = about(found, "hale2018", "three times as fast as a P100")
    expected = [
        (one, other, seconds(f"{MANNE}/{one}") / seconds(f"{MANNE}/{other}"))
        for one in ("gce-p100-n1std4-1gpu", "leadergpu-2xp100-1gpu")
        for other in ("aws-p3.2xlarge-1gpu", "paperspace-v100-1gpu")
    ]
    assert [f"{ratio:.2f}" for *_, ratio in expected] == ["1.95", "1.90", "1.75", "1.71"]
    assert row.recomputed == "; ".join(
        f"{ratio:.2f} ({one} over {other})" for one, other, ratio in expected
    )
    assert (row.rows, row.verdict) == (f"4 rows of {MANNE}", recompute.DISAGREES)


def test_eight_k80_cost_at_least_a_dollar(found):
    eight = seconds("hale2018/3") / HOUR * price("aws-p2.8xlarge", "2018-10", "spot")
    one = seconds("hale2018/2") / HOUR * price("aws-p2.xlarge", "2018-10", "spot")
    assert f"{eight:.2f}" == "1.08"
    row = about(found, "hale2018", "no good value")
    assert row.recomputed == f"at least {eight / one:.2f} ({eight:.3g} over {one:.3g} USD)"
    assert row.verdict == recompute.AGREES


def test_vast_ai_costs_least_of_what_is_known(found):
    costs = [float(ROWS[f"hale2018/{run}"]["cost_usd_published"]) for run in (4, 5)]
    one = seconds("hale2018/2") / HOUR * price("aws-p2.xlarge", "2018-10", "spot")
    row = about(found, "hale2018", "vast.ai costs by far the least")
    assert max(costs) < one / 2
    assert (row.recomputed, row.verdict) == ("4 of 4 pairs", recompute.AGREES)


def test_what_only_pictures_show_cannot_be_checked(found):
    assert about(found, "hale2018", "Four V100").verdict == recompute.UNKNOWN


# --- Woolf, 2018 ----------------------------------------------------------------------------------
def test_a_share_that_is_cut_off_fails_by_rounding_only(found):
    row = about(found, "woolf2018cron", "31 % more")
    assert row.recomputed == f"{0.24 / 0.76:.4g} (0.24 over 0.76)"
    assert f"{0.24 / 0.76:.0%}" == "32%" and row.verdict == recompute.BY_ROUNDING


# --- All ------------------------------------------------------------------------------------------
def test_each_verdict_names_what_decides_it(found):
    told = found.verdict.ne(recompute.UNKNOWN)
    assert found.rows[told].ne("").all()
    assert found.rows[~told].eq("").all()
    few = about(found, "kroutikov2016cost", "six times cheaper")
    assert few.rows == "kroutikov2016cost/c4.8xlarge; kroutikov2016cost/p2.xlarge"


def test_results_without_copied_logs_stand_beside(found):
    copies = {run for run, row in ROWS.items() if row["same_file_as"]}
    assert len(copies) == 5
    row = about(found, WOOLF, "faster than the K80 in every test")
    pairs = [run for run in ROWS if run.startswith(f"{WOOLF}/k80/")]
    left = len(set(pairs) - copies)
    assert row.recomputed == f"{len(pairs)} of 12 pairs (without 5 copied logs: {left} of 7 pairs)"
    assert not found.recomputed[found.source_id.ne(WOOLF)].str.contains("copied").any()


def test_a_verdict_that_hinges_on_a_copied_log_is_told(claims, study):
    """The log of CNTK on the K80 is a copy. Were it slow, the claim would fail by it alone."""
    runs = study.runs.copy()
    runs.loc[runs.run_id.eq(f"{WOOLF}/k80/mnist_mlp_cntk"), "time_s"] *= 2
    claim = claim_of(claims, "CNTK is faster than TensorFlow on both GPUs")
    found = recompute.audit_table([claim], replace(study, runs=runs))
    assert found.verdict.item() == recompute.DISAGREES
    assert found.recomputed.item().endswith("(without 1 copied log: 1 of 1 pair, agrees)")
    only = claim | {"of": claim["of"] | {"hardware_id": "gce-k80"}}
    left = recompute.audit_table([only], study).recomputed.item()
    assert left.endswith("(without 1 copied log: nothing to compare, cannot be checked)")


def test_counts_are_said_in_grammar():
    counts = pd.Series({recompute.DISAGREES: 1, recompute.BY_ROUNDING: 2, recompute.AGREES: 3})
    assert recompute.counted(counts) == "3 agree, 2 disagree by rounding only, 1 disagrees"
