"""What would have been estimated of trainings that were measured: hits and misses."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from epochcost.estimate import Estimate, Knowledge, time_on
from epochcost.money import elsewhere
from epochcost.results import repeats
from epochcost.results.rows import OWN

# One training, as one source has it.
_TRAINING = ["source_id", "workload", "framework", "variant", "settings", "recipe", "gpus_used"]
_MACHINE = ["hardware_id", "machine_id"]
COLUMNS = [
    *("source_id", "workload", "framework", "variant", "hardware_id", "hardware_label"),
    *("machine_id", "gpu", "gpus_used", "basis", "kind", "time_s", "predicted"),
    *("estimated_s", "estimated_low", "estimated_high", "over_measured", "inside"),
]


def estimates_table(runs: pd.DataFrame, known: Knowledge) -> pd.DataFrame:
    """estimates.csv: each training that was measured on a GPU, beside its estimate from others.

    The estimate is made as for a machine that nobody measured, without what was measured there.
    Published trainings are estimated from those of the same study.

    Args:
        runs: runs.csv.
    """
    counted = runs[elsewhere.counts(runs) & runs.gpu.ne("") & runs.gpus_used.fillna(0).gt(0)]
    trained = repeats.best_known(repeats.summaries(counted[counted.copy_of.eq("")]))
    made: list[dict[str, Any]] = []
    for _, group in trained.groupby(_TRAINING, dropna=False, sort=True):
        made += _of_training(group, known)
    return pd.DataFrame(made, columns=COLUMNS)


def _of_training(group: pd.DataFrame, known: Knowledge) -> Iterator[dict[str, Any]]:
    for _, row in group.iterrows():
        others = group[group[_MACHINE].fillna("").ne(row[_MACHINE].fillna("")).any(axis=1)]
        if others.empty:
            continue
        arithmetic = elsewhere.precision(row.settings)
        measured = elsewhere.measured(others)
        found = time_on(measured, row.gpu, int(row.gpus_used), arithmetic, known)
        if isinstance(found, Estimate):
            yield {name: row[name] for name in COLUMNS if name in row} | {
                "kind": found.kind,
                "basis": elsewhere.basis(found),
                "estimated_s": found.seconds,
                "estimated_low": found.low,
                "estimated_high": found.high,
                "over_measured": found.seconds / row.time_s,
                "inside": found.low <= row.time_s <= found.high,
            }


def summary(estimates: pd.DataFrame) -> pd.DataFrame:
    """Hits and misses by source, kind and GPU: how many, how many inside, the median miss.

    `own` are those of this clone's records. `miss`: 1.2 is a fifth too long, or too short.
    """
    miss = estimates.over_measured.clip(lower=1 / estimates.over_measured)
    told = estimates.assign(miss=miss, own=estimates.source_id.eq(OWN))
    keys = ["own", "kind", "gpu"]
    return (
        told.groupby(keys, sort=True)
        .agg(estimates=("miss", "size"), inside=("inside", "sum"), miss=("miss", "median"))
        .reset_index()
        .sort_values(["own", "kind", "gpu"], ascending=[False, True, True], ignore_index=True)
    )
