"""How good predictions are: quick runs compared with full runs of the same training."""

import pandas as pd

from epochcost.durations import HOUR_S
from epochcost.results.identity import QUICK_OR_FULL
from epochcost.results.repeats import predicted_range, undisturbed
from epochcost.results.rows import OWN

# The machine counts where several of one rented type are one row, too.
_PAIRED = [*QUICK_OR_FULL, "machine"]
COLUMNS = [
    *QUICK_OR_FULL,
    "hardware_label",
    "quick_runs",
    "predicted_s",
    "predicted_low",
    "predicted_high",
    "full_runs",
    "measured_s",
    "predicted_over_measured",
    "lowest",
    "highest",
    "with_interval",
    "within",
    "hours_apart",
    "wall_share",
    "disturbed",
    "mixed_hosts",
]


def predictions_table(runs: pd.DataFrame, keep_disturbed: bool = False) -> pd.DataFrame:
    """predictions.csv: what quick runs predicted over what full runs of the same training took.

    A row has the medians over its `pairs`. `mixed_hosts` is as in `repeats.summaries`.
    """
    found = pairs(runs, keep_disturbed)
    rows = [
        dict(zip(QUICK_OR_FULL, key, strict=True)) | _row(group)
        for key, group in found.groupby(QUICK_OR_FULL, dropna=False, sort=False)
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.sort_values(["workload", "framework"], kind="stable", ignore_index=True)


def pairs(runs: pd.DataFrame, keep_disturbed: bool = False) -> pd.DataFrame:
    """Each quick run with the full run of the same training and machine that started closest to it.

    The closest, as a machine's speed drifts. A row has the columns of the quick run, those of the
    full one that end in `_full`, the `hours` between them, the `ratio` of the predicted to the
    measured time, and whether that was `within` the interval.
    """
    own = runs[runs.source_id.eq(OWN) & runs.status.eq("ok") & runs.time_s.notna()]
    groups = own.groupby([*QUICK_OR_FULL, "predicted"], dropna=False, sort=False)
    # Predictions are fairly tested only where neither the full nor the quick run was disturbed.
    quiet = [undisturbed(group, keep_disturbed) for _, group in groups]
    kept = pd.concat(quiet) if quiet else own
    kept = kept.assign(began=pd.to_datetime(kept.started_at, utc=True, format="ISO8601"))
    is_quick = kept.predicted.astype(bool)
    full = kept.loc[~is_quick, [*_PAIRED, "run_id", "began", "time_s", "wall_s", "noise"]]
    both = kept[is_quick].merge(full, on=_PAIRED, suffixes=("", "_full"))
    low, high = (pd.to_numeric(both[name]) for name in ("time_low", "time_high"))
    both = both.assign(
        time_low=low,
        time_high=high,
        hours=(both.began - both.began_full).abs().dt.total_seconds() / HOUR_S,
        ratio=both.time_s / both.time_s_full,
        within=both.time_s_full.between(low, high),
        wall_share=both.wall_s / both.wall_s_full,
        disturbed=both[["noise", "noise_full"]].fillna("").ne("").any(axis=1),
    )
    return both.sort_values("hours", kind="stable").drop_duplicates("run_id")


def _row(pairs: pd.DataFrame) -> dict:
    """The row for all pairs of quick and full runs of the same training."""
    has_interval = pairs.time_low.notna()
    predicted = pairs.time_s.median()
    low, high = predicted_range(predicted, pairs)
    return {
        "hardware_label": pairs.hardware_label.iloc[0],
        "quick_runs": len(pairs),
        "predicted_s": predicted,
        "predicted_low": low,
        "predicted_high": high,
        "full_runs": pairs.run_id_full.nunique(),
        "measured_s": pairs.time_s_full.median(),
        "predicted_over_measured": pairs.ratio.median(),
        "lowest": pairs.ratio.min(),
        "highest": pairs.ratio.max(),
        "with_interval": int(has_interval.sum()),
        "within": int(pairs.within[has_interval].sum()) if has_interval.any() else None,
        "hours_apart": pairs.hours.max(),
        "wall_share": pairs.wall_share.median(),
        "disturbed": bool(pairs.disturbed.any()),
        "mixed_hosts": bool(pairs.mixed_hosts.any()),
    }
