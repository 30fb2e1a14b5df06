"""What a buyer can choose from: available machines, with the time and the bill of each.

An option is a training that was measured (here, or in a published study) on some hardware, at a
price at which that hardware is available now. Pure functions over runs.csv and a price book.
"""

import zlib
from collections.abc import Iterable

import numpy as np
import pandas as pd

from epochcost.costs import billing, prices, repeats, spot, tables
from epochcost.costs.billing import BILLED, Rental
from epochcost.costs.market import Market
from epochcost.costs.rows import OWN
from epochcost.statistics import repeats as statistics

# Random draws for the probability of being the cheapest.
_DRAWS = 4_000
# With more runs than this, medians are not resampled one by one.
_MOST_DRAWN = 200
_MOST_EPOCHS = 1_000_000
# Half a 95 % interval of a normal distribution, in standard deviations.
_NORMAL_95 = 1.96
COLUMNS = [
    "workload",
    "hardware_id",
    "hardware_label",
    "machine_id",
    "host",
    "machine",
    "driver",
    "framework",
    "framework_version",
    "variant",
    "settings",
    "vcpus",
    "gpus_used",
    "recipe",
    "source_id",
    *billing.PRICE_COLUMNS,
    "runs",
    "machines",
    "mixed_hosts",
    "time_confidence",
    "predicted",
    "synthetic",
    "epochs",
    "time_s",
    "overhead_s",
    "start_s",
    "elapsed_s",
    "elapsed_low",
    "elapsed_high",
    "marginal_usd",
    "billed_usd",
    "billed_low",
    "billed_high",
    "per_epoch_usd",
    "per_million_samples_usd",
    "per_accuracy_point_usd",
    "to_target_usd",
    "metric",
    "metric_value",
    "quality_reached",
    "train_samples",
    "data_id",
    "complete_samples",
    "data_complete",
    "weights",
    "noisy_runs",
    "paused_s",
    "gpu",
    "efficient",
    "cheapest_probability",
    "exact",
    "break_even_per_hour",
]


def options_table(
    runs: pd.DataFrame,
    epochs: pd.DataFrame,
    complete_samples: dict[str, int],
    recipes: dict[str, dict],
    market: Market,
    keep_disturbed: bool = False,
) -> pd.DataFrame:
    """options.csv: every option of every workload, except those that missed their quality target.

    A prediction whose full run was tried and failed is no option, either.

    An interruptible machine is billed as if it was never interrupted; `break_even_per_hour` is the
    number of interruptions per hour from which the same machine on demand costs no more (empty
    where that has no price, and for published trainings: each interruption costs another start, and
    how long theirs took is not known). Trainings on generated data are no options.

    `elapsed_s` is from the start of billing to the end of the training, `billed_usd` its bill.
    `efficient` options are Pareto-optimal: no other is both faster and cheaper.
    `cheapest_probability` is how often an option is the cheapest when runs are resampled; `exact`
    ones have a single run, whose spread is unknown and which is taken as it is.

    Args:
        complete_samples: training samples of each workload's complete data, for published runs.
        recipes: the recipe of each workload; trainings by another recipe (or just another batch
            size) are no options, and neither are those on another number of samples.
        market: the prices; hardware that can no longer be rented is no option.
    """
    usable = runs[runs.status.eq("ok") & runs.time_s.notna() & ~runs.synthetic.astype(bool)]
    usable = usable[usable.workload.isin(list(recipes))]
    summaries = repeats.summaries(usable, keep_disturbed)
    summaries = summaries[tables.follows_recipe(summaries, recipes)]
    batches = summaries.workload.map({name: one["batch_size"] for name, one in recipes.items()})
    summaries = summaries[summaries.source_id.ne(OWN) | summaries.batch_size.eq(batches)]
    complete = summaries.workload.map(complete_samples)
    summaries = summaries[tables.has_all_samples(summaries, complete)]
    summaries = _without_refuted(repeats.best_known(summaries), runs)
    summaries = summaries[summaries.quality_reached.ne(False)]
    offers = tables.price_frame(market.available(), market.name)
    parts = [summaries.merge(offers, on="hardware_id"), tables.at_hand(summaries, market)]
    table = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    table = _costed(table, market.rental)
    table = _per_unit(table, epochs, runs, complete_samples)
    table["break_even_per_hour"] = _break_evens(table, market.rental)
    groups = {
        _key(key): group for key, group in usable.groupby(repeats.GROUP, sort=False, dropna=False)
    }
    judged = [
        _judged(group, groups, market.rental, keep_disturbed)
        for _, group in table.groupby("workload", sort=True)
    ]
    return pd.concat(judged or [table], ignore_index=True).reindex(columns=COLUMNS)


def _without_refuted(summaries: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The summaries without predictions of trainings of which a full run failed."""
    failed = runs[runs.status.eq("failed") & runs.scale.eq("full")]
    refuted = {_key(run) for run in failed[repeats.MEASURED].itertuples(index=False)}
    keys = [_key(row) for row in summaries[repeats.MEASURED].itertuples(index=False)]
    wrong = np.array([key in refuted for key in keys], bool) & summaries.predicted.astype(bool)
    return summaries[~wrong]


def ends_by(options: pd.DataFrame, deadline_s: float) -> pd.DataFrame:
    """The options that meet the deadline, even at the high end of their interval."""
    latest = options.elapsed_high.fillna(options.elapsed_s)
    return options[latest.le(deadline_s)]


def within_budget(options: pd.DataFrame, budget_usd: float) -> pd.DataFrame:
    """The options within the budget, even at the high end of their interval."""
    return options[options.billed_high.fillna(options.billed_usd).le(budget_usd)]


def tied_with(options: pd.DataFrame, best: pd.Series) -> pd.DataFrame:
    """The other options whose range of the bill overlaps that of the best.

    The same runs at another price do not count: they do not differ by chance.
    """
    reach = best.billed_usd if pd.isna(best.billed_high) else best.billed_high
    low = options.billed_low.fillna(options.billed_usd)
    keys = [_key(key) for key in options[repeats.GROUP].itertuples(index=False)]
    is_other = np.array([key != _key(best[repeats.GROUP]) for key in keys], bool)
    return options[low.le(reach) & is_other]


def break_even_epochs(option: pd.Series, other: pd.Series, rental: Rental) -> int | None:
    """The number of epochs from which an option stays cheaper than another; None if it never does.

    Each epoch takes the average time, and everything around the epochs is paid once.
    """
    epochs = np.arange(1, _MOST_EPOCHS + 1)
    dearer = np.flatnonzero(_bill_of(option, epochs, rental) >= _bill_of(other, epochs, rental))
    if not len(dearer):
        return 1
    return int(dearer[-1]) + 2 if dearer[-1] + 1 < _MOST_EPOCHS else None


def _bill_of(option: pd.Series, epochs: np.ndarray, rental: Rental) -> np.ndarray:
    seconds = option.overhead_s + epochs * option.time_s / option.epochs
    besides = billing.besides(option.price_kind, rental)
    return billing.bill_usd(seconds, billing.terms_of(option), besides)


def _costed(table: pd.DataFrame, rental: Rental) -> pd.DataFrame:
    table = table.assign(cost_kind=BILLED, overhead_s=table.overhead_s.fillna(0.0))
    before = [billing.besides(kind, rental).before_s for kind in table.price_kind]
    around = table.overhead_s + before
    for column, bill, time in (
        ("elapsed_s", "billed_usd", "time_s"),
        ("elapsed_low", "billed_low", "time_low"),
        ("elapsed_high", "billed_high", "time_high"),
    ):
        table[column] = table[time] + around
        table[bill] = billing.cost_usd(table, table[time], rental)
    table["marginal_usd"] = table.time_s * table.price_per_hour_usd / billing.HOUR_S
    table["gpu"] = table.gpus_used.fillna(0).gt(0)
    return table


def _break_evens(table: pd.DataFrame, rental: Rental) -> list[float]:
    """Interruptions per hour at which each interruptible option costs as much as on demand.

    NaN for published trainings, as the start after each interruption is not known.
    """
    on_demand = table[table.price_kind.eq(prices.ON_DEMAND)]
    hourly = dict(zip(on_demand.hardware_id, on_demand.price_per_hour_usd, strict=True))
    return [
        spot.break_even(
            spot.job_of(row.time_s, row.epochs, row.start_s, rental),
            row.price_per_hour_usd,
            hourly.get(row.hardware_id, np.nan),
        )
        if row.price_kind in prices.INTERRUPTIBLE and row.source_id == OWN
        else np.nan
        for row in table.itertuples()
    ]


def _per_unit(
    table: pd.DataFrame,
    epochs: pd.DataFrame,
    runs: pd.DataFrame,
    complete_samples: dict[str, int],
) -> pd.DataFrame:
    """The cost per epoch, per million samples, per point of accuracy, and to reach the target."""
    samples = table.train_samples.fillna(table.workload.map(complete_samples))
    is_accuracy = table.metric.isin(["val_accuracy", "val_acc"])
    points = (100 * table.metric_value).where(is_accuracy)
    share = _share_to_target(epochs, runs)
    keys = [*repeats.GROUP]
    reached = table[keys].merge(share, on=keys, how="left").share_to_target.to_numpy()
    return table.assign(
        complete_samples=table.workload.map(complete_samples),
        per_epoch_usd=table.marginal_usd / table.epochs,
        per_million_samples_usd=table.marginal_usd / (samples * table.epochs) * 1e6,
        per_accuracy_point_usd=table.marginal_usd / points,
        to_target_usd=table.marginal_usd * reached,
    )


def _share_to_target(epochs: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The share of a run's time after which its metric first reached the target."""
    own = runs[runs.source_id.eq(OWN) & runs.status.eq("ok")]
    full = own[own.scale.eq("full") & own.quality_target.notna() & own.metric_value.notna()]
    known = epochs.merge(full[["run_id", "quality_target", *repeats.GROUP]], on="run_id",
                         suffixes=("", "_of_run"))  # fmt: skip
    value = known.loss.where(known.metric.eq("loss"), known.metric_value)
    good = value.le(known.quality_target).where(
        known.metric.eq("loss"), value.ge(known.quality_target)
    )
    known = known.assign(good=good.astype(bool)).sort_values(["run_id", "epoch"])
    by_run = known.time_s.astype(float).groupby(known.run_id)
    known["share"] = by_run.cumsum() / by_run.transform("sum")
    shares = known[known.good].groupby("run_id").share.first()
    shares = full[["run_id", *repeats.GROUP]].merge(shares, on="run_id", how="left")
    grouped = shares.groupby(repeats.GROUP, dropna=False).share.median()
    return grouped.rename("share_to_target").reset_index()


def _judged(
    options: pd.DataFrame, groups: dict[tuple, pd.DataFrame], rental: Rental, keep_disturbed: bool
) -> pd.DataFrame:
    """The options of one workload, cheapest first, with how they compare with each other."""
    ordered = options.sort_values(["billed_usd", "elapsed_s"], kind="stable").reset_index(drop=True)
    times = [_drawn_times(row, groups, keep_disturbed) for row in ordered.itertuples()]
    bills = np.array(
        [
            billing.bill_usd(
                drawn + row.overhead_s,
                billing.terms_of(row),
                billing.besides(row.price_kind, rental),
            )
            for drawn, row in zip(times, ordered.itertuples(), strict=True)
        ]
    )
    cheapest = bills <= bills.min(axis=0) * (1 + 1e-12)
    return ordered.assign(
        efficient=efficient(ordered),
        # Options with equal bills are each the cheapest with an equal share.
        cheapest_probability=(cheapest / cheapest.sum(axis=0)).mean(axis=1),
        exact=[bool(np.ptp(drawn) == 0) for drawn in times],
    )


def efficient(ordered: pd.DataFrame) -> list[bool]:
    """Which options are Pareto-optimal: no other is as fast and as cheap, and better in one.

    Args:
        ordered: by bill, then by time.
    """
    found, best = [], np.inf
    for _, group in ordered.groupby("billed_usd", sort=False):
        fastest = group.elapsed_s.min()
        found += [seconds == fastest < best for seconds in group.elapsed_s]
        best = min(best, fastest)
    return found


def _drawn_times(row, groups: dict[tuple, pd.DataFrame], keep_disturbed: bool) -> np.ndarray:
    """Random training times of an option.

    The median of resampled runs; for predictions, around their value, as wide as their interval;
    for a single run, its time.
    """
    key = _key(getattr(row, name) for name in repeats.GROUP)
    # The same runs at two prices have the same draws; other runs have independent ones.
    rng = np.random.default_rng(zlib.crc32(repr(key).encode()))
    if row.predicted and pd.notna(row.time_low):
        # The low end may be cut off at 0.
        spread = (row.time_high - row.time_s) / _NORMAL_95
        return np.maximum(rng.normal(row.time_s, spread, _DRAWS), 0.0)
    if row.runs < 2:
        return np.full(_DRAWS, row.time_s)
    group = groups[key]
    values = repeats.values_of(repeats.undisturbed(group, keep_disturbed)).to_numpy()
    if len(values) > _MOST_DRAWN:  # the median of so many is normal, however they are distributed
        return _normal_medians(values, rng)
    return np.median(rng.choice(values, (_DRAWS, len(values))), axis=1)


def _normal_medians(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Medians of very many resampled runs, by the width of their interval."""
    interval = statistics.median_interval(values)
    spread = (interval.high - interval.low) / 2 / _NORMAL_95
    return rng.normal(np.median(values), spread, _DRAWS)


def _key(values: Iterable) -> tuple:
    """What identifies a group of runs; missing values are None, whatever their type."""
    return tuple(None if pd.isna(value) else value for value in values)
