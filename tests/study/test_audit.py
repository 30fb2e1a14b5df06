"""The published studies, recomputed: what holds, and what does not."""

import subprocess
import sys

import pandas as pd
import pytest
import recompute

from epochcost import ROOT
from epochcost.errors import InputError

PUBLISHED = ROOT / "data/published"


@pytest.fixture(scope="module")
def verdicts(claims, study) -> pd.DataFrame:
    return recompute.audit_table(claims, study).set_index("claim")


def test_every_printed_ratio_is_found_again(verdicts):
    found = verdicts[verdicts.recomputed.str.contains("two decimals")]
    all_of = "{0} of {0} agree to their two decimals"
    without = f"{all_of.format(36)} (without 5 copied logs: {all_of.format(31)})"
    assert list(found.recomputed) == [all_of.format(63), all_of.format(63), without, without]
    assert set(found.verdict) == {recompute.AGREES}


def test_what_does_not_hold_is_said(verdicts):
    wrong = verdicts[verdicts.verdict.eq(recompute.DISAGREES)]
    december = wrong[wrong.index.str.contains("preemptible prices of December")]
    assert december.recomputed.item() == (
        "in 4 of 6; not imdb_bilstm, mnist_mlp (without 5 copied logs: the same)"
    )
    assert len(wrong) == 12
    assert verdicts.verdict.eq(recompute.BY_ROUNDING).sum() == 4
    assert verdicts.verdict.eq(recompute.UNKNOWN).sum() == 10


def test_costs_of_2018_agree_prorated_or_billed_and_some_by_construction(claims, study):
    found = recompute.costs_table(claims, study)
    assert len(found) == 4 + 13 + 63
    assert recompute.DISAGREES not in set(found.verdict)
    by_run = found.set_index("run_id")
    hours = by_run.loc["manne2018gpu/softlayer-2xm60-2gpu"]
    assert hours.billed_usd == pytest.approx(11.2)
    assert hours.prorated_usd == pytest.approx(8.848)
    implied = found.run_id[found.verdict.eq(recompute.BY_CONSTRUCTION)]
    assert len(implied) == 5
    # The minimum of ten minutes of summer 2017 makes a perceptron nine times as dear.
    perceptron = by_run.loc["woolf2017cpu/gpu/mnist_mlp_tensorflow"]
    assert perceptron.billed_usd == pytest.approx(0.745 / 6)


def test_the_price_of_a_scheduled_task(verdicts):
    bills = verdicts[verdicts.recomputed.str.contains("USD \\(")].recomputed
    assert [bill.split(" ")[0] for bill in bills] == ["0.76", "1.24", "1.00"]


@pytest.mark.parametrize("factor", [1.01, 0.99])
def test_a_wrong_number_is_found(claims, study, factor):
    """A check that could not fail would be no check: times off by a percent no longer agree."""
    off = recompute.Study(
        study.runs.assign(
            time_s=study.runs.time_s.where(
                ~study.runs.hardware_id.eq("gce-k80"), study.runs.time_s * factor
            )
        ),
        study.printed,
        study.known,
    )
    printed = [claim for claim in claims if claim["check"] == "printed"]
    verdicts = recompute.audit_table(printed, off)
    woolf = verdicts[verdicts.source_id.str.startswith("woolf")]
    assert set(woolf.verdict) == {recompute.DISAGREES}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"check": "evry"}, "unknown check 'evry'; did you mean 'every'"),
        ({"of": {"workload": "mnist"}}, "no published run is"),
        ({"of": {"workload": "x", "framework": "y", "variant": "z"}}, "no published run is"),
        ({"check": "ratio", "over": {"source_id": "woolf2017gpu"}}, "cannot be checked"),
    ],
)
def test_a_mistake_in_a_claim_is_named(claims, study, change, message):
    claim = next(claim for claim in claims if claim["check"] == "every")
    with pytest.raises(InputError, match=message):
        recompute.audit_table([claim | change], study)


def test_the_page_of_the_audit_is_what_it_finds(tmp_path):
    script = ROOT / "study/audit/audit.py"
    words = ["--published", PUBLISHED, "--output", tmp_path, "--markdown", tmp_path / "page.md"]
    subprocess.run([sys.executable, script, *words], check=True)
    assert (tmp_path / "page.md").read_text() == (ROOT / "study/audit/README.md").read_text()
