"""Estimates beside what was measured: made without it, and counted as hit or miss."""

import pandas as pd
import pytest

from epochcost import ROOT, estimate
from epochcost.money import hindsight
from epochcost.results import published, tables


@pytest.fixture(scope="module")
def study() -> pd.DataFrame:
    return tables.runs_table(published.runs(ROOT / "data/published", {}))


@pytest.fixture(scope="module")
def found(study) -> pd.DataFrame:
    return hindsight.estimates_table(study, estimate.read())


def test_the_estimates_of_the_studies_are_made_without_what_was_measured_there(study, found):
    assert set(found.source_id) == {"woolf2017gpu", "manne2018gpu"}
    row = found[found.workload.eq("cifar10_cnn") & found.gpu.eq("P100")].iloc[0]
    assert row.basis == "data sheet, from K80"
    slower = study.assign(time_s=study.time_s.mask(study.gpu.eq("P100"), study.time_s * 2))
    again = hindsight.estimates_table(slower, estimate.read())
    other = again[again.workload.eq("cifar10_cnn") & again.gpu.eq("P100")].iloc[0]
    assert other.estimated_s == pytest.approx(row.estimated_s)
    assert other.over_measured == pytest.approx(row.over_measured / 2)


def test_a_hit_lies_inside_of_the_interval(found):
    inside = found.time_s.between(found.estimated_low, found.estimated_high)
    assert list(inside) == list(found.inside)
    assert inside.any() and not inside.all()
    ratio = found.estimated_s / found.time_s
    assert found.over_measured.tolist() == pytest.approx(ratio.tolist())


def test_a_logs_copy_judges_nothing(study, found):
    copies = set(study.run_id[study.copy_of.ne("")])
    assert copies
    assert len(found) == 23
    assert found.framework.eq("keras-cntk").sum() == 2, "of the others K80 has copies alone"


def test_the_summary_counts_by_kind_and_gpu(found):
    told = hindsight.summary(found)
    assert told.estimates.sum() == len(found)
    assert told.inside.sum() == found.inside.sum()
    assert (told.miss >= 1).all()
    k80 = told[told.kind.eq("same GPU") & told.gpu.eq("K80")].iloc[0]
    assert (k80.estimates, k80.inside) == (2, 2)
    assert hindsight.summary(found.head(0)).empty
