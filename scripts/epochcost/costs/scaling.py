"""What several GPUs of one machine are good for: speed over one of them, and over what is paid."""

import pandas as pd

from epochcost.costs.rows import OWN

_SAME = [
    "source_id",
    "workload",
    "framework",
    "framework_version",
    "hardware_id",
    "machine_id",
    "recipe",
    "train_samples",
    "predicted",
    "synthetic",
]
COLUMNS = [
    *_SAME,
    "hardware_label",
    "gpus_used",
    "gpus_paid",
    "runs",
    "time_s",
    "time_one_s",
    "speedup",
    "efficiency",
    "efficiency_paid",
]


def scaling_table(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per number of GPUs that trained, where one of them did so on the same machine, too.

    `speedup` is the median time with one GPU over that with several; `efficiency` is that per GPU
    that trained, `efficiency_paid` per GPU that is paid for (both 1 at best). Runs that failed or
    missed their target do not count, and of own ones those in another variant.

    Args:
        runs: runs.csv.
    """
    own = runs.source_id.eq(OWN)
    plain = runs.variant.eq("default") | runs.variant.str.startswith("devices_")
    trained = runs[
        (plain | ~own)
        & runs.status.eq("ok")
        & runs.time_s.notna()
        & runs.gpus_used.ge(1)
        & runs.gpu_count.ge(2)
        & ~runs.quality_reached.eq(False)
    ]
    rows = []
    for same, group in trained.groupby(_SAME, dropna=False, sort=True):
        one = group[group.gpus_used.eq(1)].time_s.median()
        if pd.isna(one) or group.gpus_used.nunique() == 1:
            continue
        for used, alike in group.groupby("gpus_used", sort=True):
            time, paid = alike.time_s.median(), alike.gpu_count.iloc[0]
            counts = (alike.hardware_label.iloc[0], used, paid, len(alike))
            ratios = (one / time, one / time / used, one / time / paid)
            rows.append((*same, *counts, time, one, *ratios))
    return pd.DataFrame(rows, columns=COLUMNS)
