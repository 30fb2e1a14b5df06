"""The spread of single runs and predictions: what repeats of their kind have shown.

Pure functions over runs.csv.
"""

import math
import sys
from collections.abc import Callable

import numpy as np
import pandas as pd

from epochcost.durations import HOUR_S
from epochcost.results.identity import QUICK_OR_FULL
from epochcost.results.repeats import undisturbed
from epochcost.results.rows import OWN
from epochcost.results.tables import is_shipped
from epochcost.statistics import intervals
from epochcost.statistics.spread import FULL, HOUR, LATER, PREDICTED, REACH, Spread, shipped

# With fewer trainings that were repeated, their spread is not known; that of data/measured counts.
_FEWEST_GROUPS = 10
# What has a logarithm, in seconds.
_TIMES = sys.float_info.min, sys.float_info.max
_SAME = [*QUICK_OR_FULL, "machine"]
_HOURS = {HOUR: lambda hours: hours <= 1, LATER: lambda hours: hours > 1}
COLUMNS = ["kind", "apart", "deviation", "groups", "pairs"]


def spread_table(runs: pd.DataFrame, keep_disturbed: bool = False) -> pd.DataFrame:
    """How far own runs of one training on one machine lie apart, by kind and time between them.

    For full runs, from all pairs of them; for predictions, from all pairs of a quick and a full
    run. `apart` says whether the two began within an hour (`hour`) or not (`later`). Each training
    counts once, however many `pairs` it has. `deviation` is empty where there is no pair.
    """
    own = runs[runs.source_id.eq(OWN) & runs.status.eq("ok") & runs.time_s.between(*_TIMES)]
    own = own[own.groupby(_SAME, dropna=False).time_s.transform("size").gt(1)]
    kept = [
        undisturbed(group, keep_disturbed)
        for _, group in own.groupby([*_SAME, "predicted"], dropna=False, sort=False)
    ]
    own = pd.concat(kept) if kept else own
    began = pd.to_datetime(own.started_at, utc=True, format="ISO8601")
    own = own.assign(hour=(began - pd.Timestamp(0, tz="UTC")).dt.total_seconds() / HOUR_S)
    found: dict[tuple[str, str], list[np.ndarray]] = {
        (kind, apart): [] for kind in (FULL, PREDICTED) for apart in _HOURS
    }
    for _, group in own.groupby(_SAME, dropna=False, sort=False):
        quick = group.predicted.astype(bool)
        full = group[~quick]
        pairs = {FULL: (full, full), PREDICTED: (group[quick], full)}
        for kind, (ones, others) in pairs.items():
            for apart, is_so in _HOURS.items():
                if len(squares := _squares(ones, others, is_so, once=kind == FULL)):
                    found[kind, apart].append(squares)
    rows = [
        (kind, apart, _deviation(groups), len(groups), sum(map(len, groups)))
        for (kind, apart), groups in found.items()
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _squares(
    ones: pd.DataFrame, others: pd.DataFrame, is_so: Callable[[np.ndarray], np.ndarray], once: bool
) -> np.ndarray:
    """The squared logarithms of the ratios of times, of the pairs that are so far apart.

    Args:
        once: whether both are the same runs, so that each pair would come twice, and both sides of
            it vary alike: the half is the variance of one.
    """
    times = np.log(ones.time_s.to_numpy(float))[:, None], np.log(others.time_s.to_numpy(float))
    chosen = is_so(np.abs(np.subtract.outer(ones.hour.to_numpy(), others.hour.to_numpy())))
    squares = np.square(times[0] - times[1])
    if once:
        chosen, squares = np.triu(chosen, 1), squares / 2
    return squares[chosen]


def _deviation(groups: list[np.ndarray]) -> float | None:
    return math.sqrt(np.mean([squares.mean() for squares in groups])) if groups else None


def known(runs: pd.DataFrame, keep_disturbed: bool = False) -> dict[str, Spread]:
    """By kind: the spread of these runs, where enough were repeated; else that of data/measured."""
    table = spread_table(runs[~is_shipped(runs)], keep_disturbed).set_index(["kind", "apart"])
    spreads = dict(shipped())
    for kind in spreads:
        rows = table.loc[kind]
        if rows.groups.ge(_FEWEST_GROUPS).all():
            hour, later = rows.deviation[HOUR], rows.deviation[LATER]
            spreads[kind] = Spread(hour, max(hour, later))
    return spreads


def deviations(rows: pd.DataFrame, spreads: dict[str, Spread], one_hour: bool) -> np.ndarray:
    """How well the time of each row is known: the standard deviation of its logarithm.

    A prediction has that of its interval; six and more full runs that of theirs; fewer that of
    their kind, over the root of their number. Rows of different hours differ by the drift of a
    machine, too, unless their runs are of different hours themselves.

    Args:
        rows: with the columns of `repeats.summaries`.
        one_hour: whether the rows are compared with others of the same hour on the same machine.
    """
    return np.array([_deviation_of(row, spreads, one_hour) for row in rows.itertuples()], float)


def _deviation_of(row, spreads: dict[str, Spread], one_hour: bool) -> float:
    spread = spreads[PREDICTED if row.predicted else FULL]
    ranged = pd.notna(row.time_low) and pd.notna(row.time_high) and row.time_s > 0
    if row.predicted:
        # Where it has no interval, as on a GPU, it has been checked nowhere.
        own = math.log(row.time_high / row.time_s) / REACH if ranged else spread.later
        return own if one_hour else max(own, spread.later)
    number = row.machines if row.machines > 1 else row.runs
    spans_hours = _hours(row) > 1
    if number >= intervals.FEWEST_RUNS and row.time_low > 0:
        own = math.log(row.time_high / row.time_low) / 2 / REACH
    else:
        own = (spread.later if spans_hours else spread.hour) / math.sqrt(number)
    return own if one_hour or spans_hours else math.hypot(own, spread.drift)


def _hours(row) -> float:
    """Hours from the start of the first run of a row to that of its last."""
    first, last = (pd.Timestamp(when) for when in (row.first_start, row.last_start))
    return (last - first).total_seconds() / HOUR_S


def of_one_hour(rows: pd.DataFrame) -> bool:
    """Whether all rows are from one machine, and their runs began within an hour."""
    if rows.source_id.ne(OWN).any() or rows.machines.gt(1).any():
        return False
    if rows[["hardware_id", "machine_id"]].drop_duplicates().shape[0] > 1:
        return False
    began = pd.to_datetime(
        pd.concat([rows.first_start, rows.last_start]), utc=True, format="ISO8601"
    )
    return (began.max() - began.min()).total_seconds() <= HOUR_S


def interval(times: pd.Series, deviation: np.ndarray) -> tuple[pd.Series, pd.Series]:
    """The range that holds 95 of 100, for times known with such deviations."""
    factor = np.exp(REACH * deviation)
    return times / factor, times * factor
