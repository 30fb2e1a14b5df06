"""Repeated runs as one row, and what each two rows say of each other."""

import copy
import statistics

import pandas as pd
import pytest
from observed import full_run

from epochcost.results import repeats


@pytest.fixture
def table(make_tables, record):
    """runs.csv of full runs of mnist_mlp: {name of a framework: seconds of its runs}."""

    def make(machine=None, **seconds) -> pd.DataFrame:
        runs = []
        for framework, times in seconds.items():
            for trial, time in enumerate(times, 1):
                run = full_run(record, time, trial)
                run["run"] |= {"framework": framework, "id": f"{framework}-{trial}-{machine}"}
                run["machine"]["id"] = machine or run["machine"]["id"]
                runs.append(run)
        return make_tables(*runs)[0]

    return make


def test_six_runs_have_an_interval_and_less_have_a_range(table):
    six, three = repeats.repeats_table(table(a=[10, 11, 12, 13, 14, 19], b=[10, 11, 15])).iloc
    assert (six.runs, six.time_s, six.time_low, six.time_high) == (6, 12.5, 10, 19)
    assert six.time_confidence == pytest.approx(0.96875)
    assert six.precision == pytest.approx(4.5 / 12.5)
    assert six.trimmed_mean_s == 12.5
    assert (six.fastest_s, six.slowest_s) == (10, 19)
    assert three.time_confidence == 0.75
    assert pd.isna(three.precision)


def test_the_table_says_what_ended_the_runs(table):
    runs = table(a=[100, 100, 100, 100, 101, 101], b=[10, 11, 12, 13, 14, 19])
    ended = repeats.repeats_table(runs, wanted=0.02).set_index("framework").ended_by
    assert dict(ended) == {"a": "precision", "b": "budget"}
    assert set(repeats.repeats_table(runs).ended_by) == {""}


def test_what_ended_the_runs_is_judged_over_machines_as_the_plan_does(table):
    parts = [table(machine=f"{number:012x}", a=[100] * 2) for number in (1, 2, 3)]
    runs = pd.concat([part[part.source_id.eq("own")] for part in parts])
    row = repeats.repeats_table(runs.assign(hardware_id="x", machine_id=""), wanted=0.02).iloc[0]
    assert row.ended_by == "precision"
    assert pd.isna(row.precision), "three machines are too few for the interval of the row"


def test_runs_that_were_left_out_were_made(table):
    runs = table(a=[10, 20] * 50)
    runs["noise"] = runs.noise.where(~runs.trial.isin([1, 2, 3]), "load from others")
    row = repeats.repeats_table(runs, wanted=0.02).iloc[0]
    assert (row.ended_by, row.runs, row.runs_left_out) == ("100 runs", 97, 3)


def test_disturbed_runs_are_left_out_and_counted_or_kept(make_tables, record):
    runs = [full_run(record, seconds, trial) for trial, seconds in enumerate([100, 102, 300], 1)]
    runs[2]["noise"] = runs[2]["noise"] | {"flags": ["load from others"]}
    table = make_tables(*runs)[0]
    row = repeats.repeats_table(table).iloc[0]
    assert (row.runs, row.runs_left_out, row.time_s, row.noisy_runs) == (2, 1, 101, 0)
    row = repeats.repeats_table(table, keep_disturbed=True).iloc[0]
    assert (row.runs, row.runs_left_out, row.time_s, row.noisy_runs) == (3, 0, 102, 1)


def test_a_disturbed_run_that_missed_its_target_has_missed_it(make_tables, record):
    runs = [full_run(record, seconds, trial) for trial, seconds in enumerate([100, 102], 1)]
    runs[0]["quality"] = runs[0]["quality"] | {"value": 0.98, "reached": True}
    runs[1]["quality"] = runs[1]["quality"] | {"value": 0.90, "reached": False}
    runs[1]["noise"] = runs[1]["noise"] | {"flags": ["load from others"]}
    (row,) = own(repeats.summaries(make_tables(*runs)[0])).itertuples()
    assert (row.time_s, row.runs) == (100, 1)
    assert row.quality_reached is False
    assert row.metric_value == pytest.approx(0.94)


def own(summaries: pd.DataFrame) -> pd.DataFrame:
    return summaries[summaries.source_id.eq("own")]


def test_runs_on_other_arrays_are_neither_repetitions_nor_compared(make_tables, record):
    runs = [full_run(record, seconds, trial) for trial, seconds in enumerate([100, 200], 1)]
    runs[1]["data"] |= {"sha256": "0" * 64}
    runs[1]["run"] |= {"framework": "pytorch"}
    table = make_tables(*runs)[0]
    assert repeats.comparisons_table(table).empty
    table = repeats.repeats_table(table.assign(framework="pytorch"))
    assert sorted(table.time_s[table.source_id.eq("own")]) == [100, 200]


def test_machines_of_one_hardware_are_a_level_of_their_own(table):
    parts = [table(machine=f"{number:012x}", a=[time] * 6) for number, time in ((1, 100), (2, 120))]
    both = pd.concat([part[part.source_id.eq("own")] for part in parts])
    both = both.assign(hardware_id="gce-t4", machine_id="")
    row = repeats.repeats_table(both).iloc[0]
    assert (row.runs, row.machines, row.time_s) == (12, 2, 110)
    assert (row.time_low, row.time_high, row.time_confidence) == (100, 120, 0.5)
    assert row.machine_spread == 1.2


def test_two_frameworks_are_compared_and_small_differences_are_none(table):
    runs = table(
        a=[100, 101, 102, 103, 104, 105], b=[200, 201, 203, 204, 206, 210], c=[100.5, 103.2] * 3
    )
    rows = repeats.comparisons_table(runs).set_index(["framework", "over_framework"])
    faster = rows.loc[("a", "b")]
    assert faster.verdict == "faster"
    ratios = [a / b for a in range(100, 106) for b in (200, 201, 203, 204, 206, 210)]
    assert faster.ratio == pytest.approx(statistics.median(ratios))
    assert faster.ratio_low < faster.ratio < faster.ratio_high < 0.6
    assert rows.loc[("a", "c")].verdict == repeats.NO_DIFFERENCE
    assert rows.loc[("b", "c")].verdict == "slower"


def test_the_ratio_lies_in_its_interval_even_of_times_in_two_clusters(table):
    """As where TensorFlow waits in some runs; the ratio of the medians would be 0.61."""
    fast, slow = [240.0 + n / 10 for n in range(8)], [396.0 + n / 10 for n in range(8)]
    runs = table(a=fast + slow[:7], b=fast[:7] + slow)
    row = repeats.comparisons_table(runs).iloc[0]
    assert row.ratio_low <= row.ratio <= row.ratio_high
    assert row.verdict == repeats.NO_DIFFERENCE


def test_disturbed_runs_get_no_verdict_against_undisturbed_ones(table):
    runs = table(a=[100, 101, 102, 103, 104, 105], b=[200, 201, 203, 204, 206, 210])
    is_b = runs.framework.eq("b")
    for noisy, verdict in ((is_b, ""), (is_b | ~is_b, "faster")):
        row = repeats.comparisons_table(runs.assign(noise=noisy.map({True: "load", False: ""})))
        assert list(row.verdict) == [verdict]
        assert list(row.over_noisy_runs) == [6]


def test_frameworks_on_different_machines_are_not_compared(table):
    parts = [table(machine="0" * 12, a=[100] * 6), table(machine="1" * 12, b=[200] * 6)]
    both = pd.concat([part[part.source_id.eq("own")] for part in parts])
    assert repeats.comparisons_table(both.assign(hardware_id="gce-t4", machine_id="")).empty


def test_repeated_predictions_have_their_range_and_no_confidence(make_tables, record):
    runs = [copy.deepcopy(record) for _ in range(6)]
    for run in runs[4:]:  # two that were far slower
        run["epochs"] = [
            epoch | {"train_s": 5 * epoch["train_s"], "eval_s": 5 * epoch["eval_s"]}
            for epoch in run["epochs"]
        ]
        run["blocks"] = [block | {"seconds": 5 * block["seconds"]} for block in run["blocks"]]
    table = make_tables(*runs)[0]
    own = table[table.source_id.eq("own")]
    assert own.time_low.mean() > own.time_s.median(), "or this would test nothing"
    row = repeats.repeats_table(table, wanted=0.5).iloc[0]
    assert row.runs == 6
    assert row.time_low < row.time_s < row.time_high
    assert pd.isna(row.time_confidence)
    # They can be wrong together, and no precision was wanted of them.
    assert pd.isna(row.precision)
    assert row.ended_by == ""


def test_predictions_of_several_machines_reach_over_the_range_of_each(table):
    parts = []
    for number, seconds in ((1, 40.0), (2, 80.0)):
        part = table(machine=f"{number:012x}", a=[seconds])
        part = part[part.source_id.eq("own")].assign(hardware_id="gce-t4", machine_id="")
        low_high = {"time_low": seconds * 0.7, "time_high": seconds * 1.3}
        parts.append(part.assign(predicted=True, **low_high))
    (row,) = repeats.summaries(pd.concat(parts)).itertuples()
    assert (row.time_s, row.time_low, row.time_high) == (60, 28, 104)


def test_too_few_runs_have_a_ratio_and_no_verdict(table):
    row = repeats.comparisons_table(table(a=[100], b=[200])).iloc[0]
    assert row.ratio == 0.5
    assert row.verdict == ""
    assert pd.isna(row.ratio_low)


def test_predictions_have_a_ratio_and_no_verdict(table):
    runs = table(a=[100, 101, 102, 103, 104, 105], b=[200, 201, 203, 204, 206, 210])
    row = repeats.comparisons_table(runs.assign(predicted=True)).iloc[0]
    assert row.ratio < 0.6
    assert (row.verdict, pd.isna(row.ratio_low)) == ("", True)


def test_runs_that_missed_their_target_are_not_compared(table):
    runs = table(a=[100] * 6, b=[200] * 6)
    missed = runs.assign(quality_reached=[name != "b" for name in runs.framework])
    assert repeats.comparisons_table(missed).empty


def test_no_runs_make_empty_tables(table):
    assert repeats.repeats_table(table()).empty
    assert repeats.comparisons_table(table()).empty
