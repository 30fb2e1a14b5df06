import pandas as pd
import pytest

from epochcost import ROOT, schemas
from epochcost.results import published, scaling, tables


@pytest.fixture(scope="module")
def runs():
    labels = {key: entry["label"] for key, entry in schemas.read("hardware").items()}
    return tables.runs_table(published.runs(ROOT / "data/published", labels))


def test_two_gpus_of_the_published_study_were_hardly_faster_than_one_or_slower(runs):
    table = scaling.scaling_table(runs)
    two = table[table.gpus_used.eq(2)].set_index("hardware_id")
    assert set(two.index) == {"leadergpu-2xgtx1080", "leadergpu-2xp100"}
    assert two.speedup["leadergpu-2xgtx1080"] == pytest.approx(8964 / 7632)
    assert two.efficiency["leadergpu-2xgtx1080"] == pytest.approx(8964 / 7632 / 2)
    assert two.speedup["leadergpu-2xp100"] == pytest.approx(6696 / 8712)
    one = table[table.gpus_used.eq(1)]
    assert set(one.speedup) == set(one.efficiency) == {1.0}
    # Half of what is paid for was idle.
    assert set(one.efficiency_paid) == {0.5}


def test_without_a_run_on_one_gpu_nothing_is_said(runs):
    several = runs[runs.gpus_used.ne(1)]
    assert scaling.scaling_table(several).empty


def test_an_own_run_in_another_variant_is_no_base(runs):
    one = runs[runs.run_id.eq("manne2018gpu/leadergpu-2xp100-1gpu")]
    own = {
        "default": one.assign(variant="default", time_s=100.0),
        "bfloat16": one.assign(variant="bfloat16", time_s=40.0),
        "devices_2": one.assign(
            variant="devices_2", gpus_used=2, time_s=50.0, settings="devices=2"
        ),
    }
    table = scaling.scaling_table(pd.concat(own.values()).assign(source_id="own"))
    assert list(table.efficiency) == [1.0, 1.0]
    assert list(table.runs) == [1, 1]


@pytest.mark.parametrize(
    "other",
    [
        *({"machine": "b"}, {"machine_id": "b"}, {"vcpus": 2}, {"weights": "random"}),
        *({"data_id": "b"}, {"settings": "NVIDIA_TF32_OVERRIDE=0 devices=2"}),
    ],
    ids=str,
)
def test_what_ran_elsewhere_or_otherwise_is_no_base(runs, other):
    one = runs[runs.run_id.eq("manne2018gpu/leadergpu-2xp100-1gpu")]
    own = [
        one.assign(variant="default", time_s=100.0),
        one.assign(variant="devices_2", gpus_used=2, time_s=50.0, **other),
    ]
    assert scaling.scaling_table(pd.concat(own).assign(source_id="own")).empty


def test_disturbed_runs_give_way_to_others(runs):
    one = runs[runs.run_id.eq("manne2018gpu/leadergpu-2xp100-1gpu")]
    own = [
        one.assign(variant="default", time_s=100.0),
        one.assign(variant="default", time_s=200.0, noise="load from others"),
        one.assign(variant="devices_2", gpus_used=2, time_s=50.0),
    ]
    table = pd.concat(own).assign(source_id="own")
    assert list(scaling.scaling_table(table).speedup) == [1.0, 2.0]
    assert list(scaling.scaling_table(table, keep_disturbed=True).speedup) == [1.0, 3.0]


def test_a_run_that_missed_its_target_does_not_count(runs):
    missed = runs.assign(quality_reached=pd.Series([False] * len(runs), index=runs.index))
    assert scaling.scaling_table(missed).empty
