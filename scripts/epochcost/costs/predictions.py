"""How good predictions are: quick runs beside the full runs of the same that are there."""

import pandas as pd

from epochcost.costs.repeats import GROUP, summaries, undisturbed
from epochcost.costs.rows import OWN

_SAME = [name for name in GROUP if name != "predicted"]
COLUMNS = [
    *_SAME,
    "hardware_label",
    "quick_runs",
    "predicted_s",
    "predicted_low",
    "predicted_high",
    "full_runs",
    "measured_s",
    "measured_low",
    "measured_high",
    "predicted_over_measured",
    "within",
    "quick_wall_s",
    "full_wall_s",
    "wall_share",
    "disturbed",
    "synthetic",
]


def predictions_table(runs: pd.DataFrame, keep_disturbed: bool = False) -> pd.DataFrame:
    """predictions.csv: what quick runs predicted over what full runs of the same took.

    Both are medians over runs with their intervals (`repeats.summaries`). `within` says whether
    the measured median lies in the range of the predictions, if they have one; `wall_share` how
    long a quick run takes, all in all, over a full one.
    """
    own = runs[runs.source_id.eq(OWN) & runs.status.eq("ok") & runs.time_s.notna()]
    if own.empty:
        return pd.DataFrame(columns=COLUMNS)
    groups = own.groupby([*_SAME, "predicted"], dropna=False, sort=False)
    kept = pd.concat([undisturbed(group, keep_disturbed) for _, group in groups])
    walls = kept.groupby([*_SAME, "predicted"], dropna=False).wall_s.median().reset_index()
    both = summaries(own, keep_disturbed).merge(walls, on=[*_SAME, "predicted"], how="left")
    is_quick = both.predicted.astype(bool)
    names = {"time_s": "predicted_s", "time_low": "predicted_low", "time_high": "predicted_high"}
    quick = both[is_quick].rename(columns=names | {"runs": "quick_runs", "wall_s": "quick_wall_s"})
    full = both[~is_quick].rename(
        columns={name: name.replace("time", "measured") for name in names}
        | {"runs": "full_runs", "wall_s": "full_wall_s"}
    )
    measured = ["full_runs", "measured_s", "measured_low", "measured_high", "full_wall_s"]
    full = full[[*_SAME, *measured, "noisy_runs"]]
    table = quick.merge(full, on=_SAME, suffixes=("", "_full"))
    # A disturbed time is no fair judge of a prediction, and a disturbed prediction is no fair one.
    table["disturbed"] = table.noisy_runs.gt(0) | table.noisy_runs_full.gt(0)
    table["predicted_over_measured"] = table.predicted_s / table.measured_s
    within = table.measured_s.between(table.predicted_low, table.predicted_high)
    table["within"] = within.astype(object).where(table.predicted_low.notna())
    table["wall_share"] = table.quick_wall_s / table.full_wall_s
    return table[COLUMNS].sort_values(["workload", "framework"], kind="stable", ignore_index=True)
