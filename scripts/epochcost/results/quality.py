"""How good the trained models are beside the published ones: one row per repeated full run."""

import pandas as pd

from epochcost.frameworks import variants
from epochcost.record.check import LOSSES
from epochcost.record.record import recipe_id
from epochcost.record.usable import UNUSABLE
from epochcost.results import tables
from epochcost.results.identity import GROUP
from epochcost.results.repeats import undisturbed
from epochcost.results.rows import OWN, RANDOM

# Held-out accuracy had another name in 2017.
_PUBLISHED_METRICS = {"val_acc": "val_accuracy", "val_accuracy": "val_accuracy", "loss": "loss"}
COLUMNS = [
    "workload",
    "framework",
    "framework_version",
    "variant",
    "hardware_id",
    "machine_id",
    "host",
    "driver",
    "vcpus",
    "gpus_used",
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
    "time_relative",
    "input_share",
    "train_samples",
    "data_id",
    "complete_samples",
    "data_complete",
    "batch_size",
    "recipe_batch_size",
    "settings",
    "synthetic",
    "recipe",
    "own_recipe",
    "noisy_runs",
    "paused_s",
    "machines",
    "mixed_hosts",
]
_TIMES = ["epoch_s", "time_s", "input_share"]
TARGET_COLUMNS = [
    "workload",
    "metric",
    "runs",
    "frameworks",
    "mean",
    "deviation",
    "worst",
    "published_worst",
    "target",
    "deviations_off",
]


def judged_today(runs: pd.DataFrame, recipes: dict[str, dict]) -> pd.DataFrame:
    """The runs with today's target and the verdict by it; a record keeps those of its time.

    This way, all runs of a workload are judged alike. Runs from another clone whose workload is
    unknown here keep their own.
    """
    wanted = {name: recipe["quality"] for name, recipe in recipes.items()}
    target = runs.workload.map({name: quality["target"] for name, quality in wanted.items()})
    metric = runs.workload.map({name: quality["metric"] for name, quality in wanted.items()})
    known = runs.source_id.eq(OWN) & runs.quality_reached.notna() & runs.metric_value.notna()
    known &= runs.metric.eq(metric)
    good = runs.metric_value.ge(target).mask(runs.metric.isin(LOSSES), runs.metric_value.le(target))
    return runs.assign(
        quality_target=runs.quality_target.mask(known, target),
        quality_reached=runs.quality_reached.mask(known, good),
    )


def quality_table(
    runs: pd.DataFrame,
    epochs: pd.DataFrame,
    complete_samples: dict[str, int],
    recipes: dict[str, dict],
    baselines: pd.DataFrame,
    keep_disturbed: bool = False,
) -> pd.DataFrame:
    """quality.csv: successful full runs on real data, made here.

    Times of disturbed runs do not count, unless there are no others (`noisy_runs` says how many of
    those that count were); those of unusable runs never do, whose quality counts
    (`record.usable`); those of runs whose quality does not count do. Times of several machines are
    the median of the machines' medians; `mixed_hosts` is as in `repeats.summaries`. `runs` are the
    ones with a quality.

    Args:
        complete_samples: training samples of each workload's complete data.
        recipes: the recipe of each workload (config/workloads.yaml).
        baselines: data/published/baselines.csv.
        keep_disturbed: whether disturbed runs count alongside undisturbed ones.
    """
    made = _made_here(runs)
    later = epochs[epochs.run_id.isin(made.run_id) & epochs.epoch.gt(1)]
    made = made.merge(
        later.groupby("run_id").time_s.median().rename("epoch_s"), on="run_id", how="left"
    )
    sound = made.status.eq("ok")
    made = made.assign(**{name: made[name].where(sound) for name in ("epoch_s", "input_share")})
    # Without a quality a run was not judged by today's target.
    made["quality_target"] = made.quality_target.where(made.metric_value.notna())
    table = made.groupby(GROUP, sort=False, dropna=False).agg(
        hardware_label=("hardware_label", "first"),
        batch_size=("batch_size", "first"),
        metric=("metric", "first"),
        runs=("metric_value", "count"),
        value=("metric_value", "median"),
        value_low=("metric_value", "min"),
        value_high=("metric_value", "max"),
        target=("quality_target", "first"),
        reached=("quality_reached", lambda reached: bool(reached.dropna().astype(bool).all())),
    )
    table = table[table.runs.gt(0)].reset_index().merge(_times(made, keep_disturbed), on=GROUP)
    table = table.merge(_published(runs), on=["workload", "metric"], how="left")
    table["complete_samples"] = table.workload.map(complete_samples)
    table["recipe_batch_size"] = table.workload.map(
        {name: recipe["batch_size"] for name, recipe in recipes.items()}
    )
    table["own_recipe"] = tables.follows_recipe(table, recipes)
    compares = table.own_recipe & tables.has_all_samples(table, table.complete_samples)
    base_s = table.workload.map(_baseline_seconds(runs, baselines))
    table["time_relative"] = (table.time_s / base_s).where(compares)
    return table[COLUMNS].sort_values(["workload", "framework"], kind="stable", ignore_index=True)


def _times(made: pd.DataFrame, keep_disturbed: bool) -> pd.DataFrame:
    """The times of each group of runs, and how many of those that they are from were disturbed."""
    grouped = made.groupby(GROUP, sort=False, dropna=False)
    quiet = [undisturbed(group, keep_disturbed) for _, group in grouped]
    timed = pd.concat(quiet or [made])
    timed = timed.assign(noisy_runs=timed.noise.fillna("").ne(""))
    timed = timed.assign(machines=1, timed=1, paused_s=pd.to_numeric(timed.paused_s))
    wanted = dict.fromkeys(_TIMES, "median") | {"mixed_hosts": "any"}
    wanted |= dict.fromkeys(("noisy_runs", "paused_s", "timed"), "sum")
    by_machine = timed.groupby([*GROUP, "machine"], dropna=False, as_index=False)
    by_machine = by_machine.agg(wanted | {"machines": "max"})
    found = by_machine.groupby(GROUP, dropna=False, as_index=False).agg(
        wanted | {"machines": "sum"}
    )
    return found.assign(mixed_hosts=found.mixed_hosts & found.timed.gt(1))


def judged(runs: pd.DataFrame, recipes: dict[str, dict]) -> pd.DataFrame:
    """The runs that quality targets are set from.

    Full runs made here of today's recipe on complete real data, of all mathematically equivalent
    variants; runs of the same seed with the same result count once.

    Args:
        recipes: the recipe of each workload (config/workloads.yaml).
    """
    made = _made_here(runs)
    made = made[made.metric_value.notna()]
    made = made[made.data_complete.astype(bool) & made.workload.isin(list(recipes))]
    made = made[made.weights.ne(RANDOM) & made.variant.ne(variants.BFLOAT16)]
    made = made[made.recipe.eq(made.workload.map(lambda name: recipe_id(recipes[name])))]
    # The same quality from the same seed again says nothing new.
    return made.drop_duplicates(["workload", "framework", "seed", "metric_value"])


def targets_table(runs: pd.DataFrame, recipes: dict[str, dict]) -> pd.DataFrame:
    """targets.csv: what quality targets are set from, a row per workload with two or more runs.

    Of all frameworks together. The safe side of a target is below the mean, or for a loss above it.
    Empty where the runs do not differ.

    Args:
        recipes: the recipe of each workload (config/workloads.yaml).
    """
    published = _published(runs).set_index(["workload", "metric"])
    rows = []
    for (workload, metric), group in judged(runs, recipes).groupby(["workload", "metric"]):
        if len(group) < 2:
            continue
        worst, end = ("max", "published_high") if metric in LOSSES else ("min", "published_low")
        target = recipes[workload]["quality"]["target"]
        mean, deviation = group.metric_value.mean(), group.metric_value.std()
        row = {
            "workload": workload,
            "metric": metric,
            "runs": len(group),
            "frameworks": group.framework.nunique(),
            "mean": mean,
            "deviation": deviation,
            "worst": group.metric_value.agg(worst),
            "published_worst": published[end].get((workload, metric)),
            "target": target,
            "deviations_off": _sign(metric) * (mean - target) / deviation if deviation else None,
        }
        rows.append(row)
    return pd.DataFrame(rows, columns=TARGET_COLUMNS)


def _sign(metric: str) -> int:
    """Which direction is better: up or down."""
    return -1 if metric in LOSSES else 1


def _made_here(runs: pd.DataFrame) -> pd.DataFrame:
    """Successful full runs made here on real data; none learns worse for its time."""
    ended = runs.status.isin(["ok", UNUSABLE])
    own = runs.source_id.eq(OWN) & runs.scale.eq("full") & ended
    return runs[own & ~runs.synthetic.astype(bool)]


def _baseline_seconds(runs: pd.DataFrame, baselines: pd.DataFrame) -> dict[str, float]:
    """How long the training took that each workload is compared with."""
    common = baselines[baselines.scope.eq("all")].merge(runs[["run_id", "time_s"]], on="run_id")
    return dict(zip(common.workload, common.time_s, strict=True))


def _published(runs: pd.DataFrame) -> pd.DataFrame:
    """The range of the last epochs of the published runs, by workload and metric."""
    theirs = runs[runs.source_id.ne(OWN) & runs.metric.isin(_PUBLISHED_METRICS)]
    theirs = theirs.assign(metric=theirs.metric.map(_PUBLISHED_METRICS))
    return (
        theirs.groupby(["workload", "metric"])
        .metric_value.agg(published_low="min", published_high="max", published_runs="count")
        .reset_index()
    )
