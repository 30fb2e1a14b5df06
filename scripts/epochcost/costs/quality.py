"""How good the trained models are, beside the published ones: one row per repeated full run."""

import pandas as pd

from epochcost.costs.repeats import GROUP
from epochcost.costs.rows import OWN

# Held-out accuracy had another name in 2017.
_PUBLISHED_METRICS = {"val_acc": "val_accuracy", "val_accuracy": "val_accuracy", "loss": "loss"}
COLUMNS = [
    "workload",
    "framework",
    "framework_version",
    "variant",
    "hardware_id",
    "machine_id",
    "hardware_label",
    "weights",
    "metric",
    "runs",
    "value",
    "value_low",
    "value_high",
    "published_low",
    "published_high",
    "published_runs",
    "target",
    "reached",
    "epoch_s",
    "time_s",
    "input_share",
    "train_samples",
    "complete_samples",
    "data_complete",
    "batch_size",
    "recipe_batch_size",
    "settings",
    "noisy_runs",
]


def quality_table(
    runs: pd.DataFrame,
    epochs: pd.DataFrame,
    complete_samples: dict[str, int],
    recipes: dict[str, dict],
) -> pd.DataFrame:
    """quality.csv: full runs on real data that ended well, made here.

    `value` is the median over runs of the held-out accuracy or the training loss, with the range
    over runs; `published_*` the range over the published runs of the same workload. `epoch_s` is
    the median epoch with its validation pass, the first of each run left out. `input_share` is
    the time to fetch batches without training on them over the time of training on them.

    Args:
        complete_samples: training samples of each workload's complete data.
        recipes: the recipe of each workload (config/workloads.yaml).
    """
    own = runs.source_id.eq(OWN) & runs.scale.eq("full") & runs.status.eq("ok")
    judged = runs[own & ~runs.synthetic.astype(bool) & runs.metric_value.notna()]
    later = epochs[epochs.run_id.isin(judged.run_id) & epochs.epoch.gt(1)]
    judged = judged.merge(
        later.groupby("run_id").time_s.median().rename("epoch_s"), on="run_id", how="left"
    )
    table = judged.groupby(GROUP, sort=False, dropna=False).agg(
        hardware_label=("hardware_label", "first"),
        batch_size=("batch_size", "first"),
        metric=("metric", "first"),
        runs=("run_id", "size"),
        value=("metric_value", "median"),
        value_low=("metric_value", "min"),
        value_high=("metric_value", "max"),
        target=("quality_target", "first"),
        reached=("quality_reached", lambda reached: bool(reached.astype(bool).all())),
        epoch_s=("epoch_s", "median"),
        time_s=("time_s", "median"),
        input_share=("input_share", "median"),
        noisy_runs=("noise", lambda flags: int(flags.fillna("").ne("").sum())),
    )
    table = table.reset_index().merge(_published(runs), on=["workload", "metric"], how="left")
    table["complete_samples"] = table.workload.map(complete_samples)
    table["recipe_batch_size"] = table.workload.map(
        {name: recipe["batch_size"] for name, recipe in recipes.items()}
    )
    return table[COLUMNS].sort_values(["workload", "framework"], kind="stable", ignore_index=True)


def _published(runs: pd.DataFrame) -> pd.DataFrame:
    """The range of the last epochs of the published runs, by workload and metric."""
    theirs = runs[runs.source_id.ne(OWN) & runs.metric.isin(_PUBLISHED_METRICS)]
    theirs = theirs.assign(metric=theirs.metric.map(_PUBLISHED_METRICS))
    return (
        theirs.groupby(["workload", "metric"])
        .metric_value.agg(published_low="min", published_high="max", published_runs="count")
        .reset_index()
    )
