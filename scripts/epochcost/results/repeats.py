"""Repeated runs: one row for each group of them, and the ratio of each pair of such rows.

Pure functions over runs.csv.
"""

from itertools import combinations

import numpy as np
import pandas as pd

from epochcost.results.identity import COMPARABLE, GROUP, MEASURED, ON_ANY_DATA, SOFTWARE
from epochcost.results.rows import OWN
from epochcost.statistics import intervals

# Rows that differ in the key alone are the same training, measured better and worse.
_WORSE = {"synthetic": ON_ANY_DATA, "predicted": MEASURED}
_OF_THE_FIRST = [
    "hardware_label", "epochs", "steps", "batch_size", "metric", "copy_of", "gpu",
]  # fmt: skip
_MEDIANS = ["time_s", "overhead_s", "start_s"]
_RANGE = ["time_low", "time_high", "time_confidence"]
REPEATS_COLUMNS = [
    *GROUP,
    "runs",
    "machines",
    "mixed_hosts",
    "time_s",
    "time_low",
    "time_high",
    "time_confidence",
    "precision",
    "ended_by",
    "trimmed_mean_s",
    "fastest_s",
    "slowest_s",
    "machine_spread",
    "noisy_runs",
    "runs_left_out",
]
COMPARISONS_COLUMNS = [
    *COMPARABLE,
    *SOFTWARE,
    *(f"over_{name}" for name in SOFTWARE),
    "runs",
    "over_runs",
    "noisy_runs",
    "over_noisy_runs",
    "mixed_hosts",
    "ratio",
    "ratio_low",
    "ratio_high",
    "verdict",
]
NO_DIFFERENCE = "no difference shown"


def summaries(runs: pd.DataFrame, keep_disturbed: bool = False) -> pd.DataFrame:
    """One row per group of repeated runs.

    `time_s` is the median over runs; `time_low` and `time_high` are its interval, which contains it
    with the probability `time_confidence`. The interval of predictions is, relative to their
    median, as wide as their own are on average, and has no confidence, however many there are: they
    can all be wrong together. One full run has none. Each host of hardware `local` is a group of
    its own. Where several machines of a type that can be rented were measured, the numbers are
    those of the machines' medians, since runs on one machine say nothing about the next; the
    interval of predictions then reaches over that of each of them. `machine` is empty for several;
    `mixed_hosts` is whether more of them may be in a row than can be told apart.
    Quality is that of all runs: what disturbs one slows it down, and does not make it learn worse.

    Args:
        runs: rows of runs.csv for successful runs.
        keep_disturbed: whether disturbed runs count alongside undisturbed ones; where there are no
            others, they do.
    """
    runs = runs.reset_index(drop=True)
    number, kept = _grouped(runs, keep_disturbed)
    some, of = runs[kept], number[kept]
    by, firsts = some.groupby(of), some[~of.duplicated()].set_index(of[~of.duplicated()])
    machines = by.machine.nunique()
    values = _of_machines(some, of, machines)
    medians = values.groupby(values.index).median()
    time_s = medians.time_s
    found = pd.DataFrame(
        {
            "runs": by.size(),
            "machines": machines,
            "machine": firsts.machine.where(machines.eq(1), ""),
            # A single run is of a single host, whichever it is.
            "mixed_hosts": by.size().gt(1) & by.mixed_hosts.any(),
            "time_s": time_s,
            # Of predictions, as wide as theirs on average.
            "time_low": time_s * (some.time_low / some.time_s).groupby(of).mean(),
            "time_high": time_s * (some.time_high / some.time_s).groupby(of).mean(),
            "time_confidence": np.nan,
            **{name: firsts[name] for name in _OF_THE_FIRST},
            # The day of the newest, where all came with the clone.
            "shipped": by.shipped.max().where(~some.shipped.eq("").groupby(of).any(), ""),
            "run_ids": by.run_id.agg(" ".join),
            "first_start": by.started_at.min(),
            "last_start": by.started_at.max(),
            "overhead_s": medians.overhead_s,
            "start_s": medians.start_s,
            "gpu_busy": pd.to_numeric(some.gpu_busy).groupby(of).median(),
            "gpu_memory_gib": pd.to_numeric(some.gpu_memory_gib).groupby(of).max(),
            "noisy_runs": some.noise.fillna("").ne("").groupby(of).sum(),
            "paused_s": pd.to_numeric(some.paused_s).groupby(of).sum(),
        }
    )
    for group in found.index[found.runs.gt(1)]:
        found.loc[group, _RANGE] = _range(time_s[group], by.get_group(group))
    keys = runs.loc[~number.duplicated(), GROUP].set_index(number[~number.duplicated()])
    left_out = number.value_counts() - found.runs
    table = keys.join(found).join(_qualities(runs, number)).assign(runs_left_out=left_out)
    return table.rename_axis(None)


def repeats_table(
    runs: pd.DataFrame, keep_disturbed: bool = False, wanted: float | None = None
) -> pd.DataFrame:
    """repeats.csv: how well repeated own runs agree.

    `precision` is empty for predictions, and for fewer than six runs (or machines, where there are
    several); `ended_by` where none was wanted.

    Args:
        wanted: the configured precision.
    """

    usable = _usable(runs).reset_index(drop=True)
    number, kept = _grouped(usable, keep_disturbed)
    made, more = number.value_counts(), []
    for index, group in usable[kept].groupby(number[kept]):
        full = not group.predicted.iloc[0]
        more.append(
            {
                "precision": intervals.precision(values_of(group)) if full else None,
                "ended_by": _ended_by(group.time_s, made[index], wanted) if full else "",
                "trimmed_mean_s": intervals.trimmed_mean(group.time_s),
                "fastest_s": group.time_s.min(),
                "slowest_s": group.time_s.max(),
                "machine_spread": _machine_spread(group),
            }
        )
    table = summaries(usable, keep_disturbed)
    return table.join(pd.DataFrame(more)).reindex(columns=REPEATS_COLUMNS)


def _ended_by(times: pd.Series, made: int, wanted: float | None) -> str:
    """What ended the runs of a group: judged over runs, on whichever machine, as the plan does.

    Empty where no precision was wanted. (The plan also counts failed and unusable runs, does not
    distinguish versions and drivers, and counts runs that turn out to be of slower hours only once
    all are there: of these `budget` may stand where it stopped at the precision.)

    Args:
        made: how many runs there are, including those left out.
    """
    reached = intervals.precision(times)
    if not wanted or made < intervals.FEWEST_RUNS:
        return ""
    if reached is not None and reached <= wanted:
        return "precision"
    return "budget" if made < intervals.MOST_RUNS else f"{intervals.MOST_RUNS} runs"


def comparisons_table(runs: pd.DataFrame, keep_disturbed: bool = False) -> pd.DataFrame:
    """comparisons.csv: the ratio of the times of every two frameworks or variants on one machine.

    The interval contains the ratios that a Mann-Whitney test does not reject at 5 %. `verdict` is
    `no difference shown` where it contains 1, and empty where there are too few runs for an
    interval, or those of one side alone were disturbed. Predictions have neither, as they can all
    be wrong together. Runs that missed their target are not compared, nor are those of different
    machines.
    """
    rows = []
    trained = _usable(runs)
    trained = trained[~trained.quality_reached.eq(False)]
    for shared, alike in trained.groupby(COMPARABLE, sort=False, dropna=False):
        groups = [
            (key, undisturbed(group, keep_disturbed))
            for key, group in alike.groupby(SOFTWARE, sort=True, dropna=False)
        ]
        for (key, group), (other_key, other) in combinations(groups, 2):
            rows.append(
                dict(zip(COMPARABLE, shared, strict=True))
                | dict(zip(SOFTWARE, key, strict=True))
                | dict(zip((f"over_{name}" for name in SOFTWARE), other_key, strict=True))
                | _comparison(group, other)
            )
    return pd.DataFrame(rows, columns=COMPARISONS_COLUMNS)


def _usable(runs: pd.DataFrame) -> pd.DataFrame:
    return runs[runs.source_id.eq(OWN) & runs.status.eq("ok") & runs.time_s.notna()]


def _grouped(runs: pd.DataFrame, keep_disturbed: bool) -> tuple[pd.Series, pd.Series]:
    """Of each run the number of its group, in order of appearance, and whether it counts there."""
    number = runs.groupby(GROUP, sort=False, dropna=False).ngroup()
    disturbed = runs.noise.fillna("").ne("")
    alone = disturbed.groupby(number).transform("all")
    return number, ~disturbed | alone | keep_disturbed


def best_known(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that nothing better replaces.

    Predictions are dropped where there is a full run, and generated data where there is real data.
    """
    kept = rows
    for worse, same in _WORSE.items():
        is_worse = kept[worse].astype(bool)
        better = kept.loc[~is_worse, same].drop_duplicates()
        has_better = kept[same].merge(better, how="left", indicator=True)["_merge"].eq("both")
        kept = kept[~(is_worse & has_better.to_numpy())]
    return kept


def undisturbed(group: pd.DataFrame, keep: bool) -> pd.DataFrame:
    """The runs of a group without the disturbed ones, unless there are no others."""
    disturbed = group.noise.fillna("").ne("")
    return group if keep or disturbed.all() else group[~disturbed]


def _range(median: float, group: pd.DataFrame) -> tuple[float, float, float]:
    """The interval of the time of several runs, and its confidence: NaN for predictions."""
    values = values_of(group)
    if not group.predicted.iloc[0] and (interval := intervals.median_interval(values)):
        return interval.low, interval.high, interval.confidence
    return *predicted_range(median, group), np.nan


def _of_machines(some: pd.DataFrame, of: pd.Series, machines: pd.Series) -> pd.DataFrame:
    """Of each group the values whose medians its row shows (`values_of`), by its number."""
    several = of.map(machines).gt(1)
    medians = some[several].groupby([of[several], "machine"])[_MEDIANS].median()
    single = some.loc[~several, _MEDIANS].set_index(of[~several])
    return pd.concat([single, medians.droplevel(1)])


def _qualities(runs: pd.DataFrame, number: pd.Series) -> pd.DataFrame:
    """What groups learnt, disturbed runs included, which are slower and not worse."""
    reached = runs.quality_reached.dropna().astype(bool)
    reached = reached.groupby(number[reached.index]).all().astype(object)
    quality = runs.metric_value.groupby(number).median().to_frame()
    return quality.assign(
        quality_reached=reached.reindex(quality.index).where(lambda one: one.notna(), None)
    )


def _noisy(group: pd.DataFrame) -> int:
    """How many runs were disturbed."""
    return int(group.noise.fillna("").ne("").sum())


def predicted_range(median: float, predictions: pd.DataFrame) -> tuple[float, float]:
    """An interval around the median of predictions, as wide as theirs are on average.

    On several machines it holds the intervals of all, as each is for its own machine.
    """
    low, high = (
        median * (predictions[f"time_{end}"] / predictions.time_s).mean() for end in ("low", "high")
    )
    if predictions.machine.nunique() > 1:
        low, high = (
            np.fmin(low, predictions.time_low.min()),
            np.fmax(high, predictions.time_high.max()),
        )
    return low, high


def values_of(group: pd.DataFrame, column: str = "time_s") -> pd.Series:
    """The values whose median a row shows: those of its runs, or the machines' medians."""
    if group.machine.nunique() < 2:
        return group[column]
    return group.groupby("machine")[column].median()


def _machine_spread(group: pd.DataFrame) -> float | None:
    medians = values_of(group)
    return medians.max() / medians.min() if group.machine.nunique() > 1 else None


def _comparison(group: pd.DataFrame, other: pd.DataFrame) -> dict:
    times, others = group.time_s, other.time_s
    predicted = group.predicted.any()
    interval = None if predicted else intervals.ratio_interval(times, others)
    noisy, others_noisy = _noisy(group), _noisy(other)
    verdict = ""
    if interval and (noisy == len(group)) == (others_noisy == len(other)):
        verdict = NO_DIFFERENCE
        if interval.high < 1:
            verdict = "faster"
        elif interval.low > 1:
            verdict = "slower"
    return {
        "runs": len(times),
        "over_runs": len(others),
        "noisy_runs": noisy,
        "over_noisy_runs": others_noisy,
        "mixed_hosts": bool(group.mixed_hosts.any() or other.mixed_hosts.any()),
        "ratio": np.median(np.divide.outer(times.to_numpy(), others.to_numpy())),
        "ratio_low": interval.low if interval else None,
        "ratio_high": interval.high if interval else None,
        "verdict": verdict,
    }
