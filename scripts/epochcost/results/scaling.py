"""What several GPUs of one machine gain: speed over one of them, and over what is paid for."""

import pandas as pd

from epochcost.results.identity import ON_ANY_NUMBER
from epochcost.results.repeats import undisturbed
from epochcost.results.rows import OWN

COLUMNS = [
    *ON_ANY_NUMBER,
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


def scaling_table(runs: pd.DataFrame, keep_disturbed: bool = False) -> pd.DataFrame:
    """scaling.csv: a row per number of GPUs used, where the same hardware also trained with one.

    Each machine is compared with itself. Runs that failed or missed their target do not count, nor
    do own ones of other variants.

    Args:
        runs: runs.csv.
        keep_disturbed: whether disturbed runs count alongside undisturbed ones.
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
    # All that was set but the number of devices, which is what a row is about.
    others = trained.settings.fillna("").str.replace(r"devices=\d+", "", regex=True).str.strip()
    trained = trained.assign(settings=others)
    for same, group in trained.groupby(ON_ANY_NUMBER, dropna=False, sort=True):
        by_number = {
            used: undisturbed(alike, keep_disturbed)
            for used, alike in group.groupby("gpus_used", sort=True)
        }
        if 1 not in by_number or len(by_number) == 1:
            continue
        one = by_number[1].time_s.median()
        for used, alike in by_number.items():
            time, paid = alike.time_s.median(), alike.gpu_count.iloc[0]
            counts = (alike.hardware_label.iloc[0], used, paid, len(alike))
            ratios = (one / time, one / time / used, one / time / paid)
            rows.append((*same, *counts, time, one, *ratios))
    return pd.DataFrame(rows, columns=COLUMNS)
