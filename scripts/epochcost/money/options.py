"""What a buyer can choose from: available machines, with the time and the bill of each.

An option is a training that was measured (here, or in a published study) on some hardware, or is
estimated for it, at a price at which that hardware is available now. Pure functions over runs.csv
and a price book.
"""

import zlib
from collections.abc import Iterable
from datetime import date
from functools import lru_cache

import numpy as np
import pandas as pd

from epochcost.estimate import Knowledge
from epochcost.hardware import is_unsupported
from epochcost.money import billing, elsewhere, prices, spot
from epochcost.money import tables as cost_tables
from epochcost.money.billing import BILLED, Rental, Terms
from epochcost.money.market import PRICE_HOLDS, Market
from epochcost.record.check import LOSS, LOSSES
from epochcost.record.types import OWN_TRAINING
from epochcost.record.usable import UNUSABLE
from epochcost.results import identity, repeats, spreads, tables
from epochcost.results.rows import OWN
from epochcost.statistics.own import UNIT_STEPS
from epochcost.statistics.spread import Spread

# Random draws for the probability of being the cheapest: known to one in a hundred, about.
_DRAWS = 2_000
# Standard deviations that no draw of them goes beyond, but for one in a million.
_FAR = 5.0
# What says nothing of a training of another length.
_OF_THE_LENGTH = ("metric_value", "per_accuracy_point_usd", "to_target_usd", "break_even_per_hour")
# Whether a bill holds the start of a process.
WITH_START, EPOCHS_ALONE = "with start", "epochs alone"
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
    "run_ids",
    "machines",
    "mixed_hosts",
    "time_confidence",
    "predicted",
    "synthetic",
    "epochs",
    "steps",
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
    "break_even_per_hour",
    "deviation",
    "terms",
    "context",
    "evidence",
    "basis",
    "fits",
]
# From strong to weak; each is compared with its own kind alone.
_CLASSES = ("known", elsewhere.ESTIMATED, "context")


def options_table(
    runs: pd.DataFrame,
    epochs: pd.DataFrame,
    complete_samples: dict[str, int],
    recipes: dict[str, dict],
    market: Market,
    keep_disturbed: bool = False,
    knowledge: Knowledge | None = None,
) -> pd.DataFrame:
    """options.csv: every option of every workload, except those that missed their quality target.

    A prediction whose full run was tried and failed is no option, either; nor is a log that a study
    published once more.

    An interruptible machine is billed as if it was never interrupted; `break_even_per_hour` is
    empty where the same machine on demand has no price, and for published trainings: each
    interruption costs another start, and how long theirs took is not known. Trainings on generated
    data are no options.

    Ranges are by `deviation` (`spreads.deviations`). Where the start of one option is not known, as
    of published ones, those of all are left out (`terms`).

    What was measured or predicted comes first, then what is `estimated` (`elsewhere.rows`): each is
    compared with its own kind. Rows with a `context` are compared with none, and come last: a time
    of another decade, or a GPU that the pinned frameworks do not run on.

    Args:
        runs: of runs.csv, `of_newest_code`.
        complete_samples: training samples of each workload's complete data, for published runs.
        recipes: the recipe of each workload; trainings by another recipe (or just another batch
            size) are no options, and neither are those on another number of samples.
        market: the prices; hardware that can no longer be rented is no option.
        knowledge: what estimates rest on; without it there are none.
    """
    usable = runs[runs.status.eq("ok") & runs.time_s.notna() & ~runs.synthetic.astype(bool)]
    known = usable.workload.isin(list(recipes)) | usable.framework.eq(OWN_TRAINING)
    usable = usable[known & usable.copy_of.eq("")]
    summaries = repeats.summaries(usable, keep_disturbed)
    summaries = summaries[tables.follows_recipe(summaries, recipes)]
    batches = summaries.workload.map({name: one["batch_size"] for name, one in recipes.items()})
    as_is = summaries.source_id.ne(OWN) | summaries.framework.eq(OWN_TRAINING)
    summaries = summaries[as_is | summaries.batch_size.eq(batches)]
    complete = summaries.workload.map(complete_samples)
    summaries = summaries[tables.has_all_samples(summaries, complete)]
    summaries = _without_refuted(repeats.best_known(summaries), runs)
    summaries = summaries[summaries.quality_reached.ne(False)]
    offers = cost_tables.price_frame(market.available(), market.name)
    parts = [summaries.merge(offers, on="hardware_id"), cost_tables.at_hand(summaries, market)]
    table = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    table = table.assign(
        context=_contexts(table, market), evidence=elsewhere.evidence(table), basis="", fits=""
    )
    shown = spreads.known(runs, keep_disturbed)
    table = _ranged(table, shown)
    if knowledge is not None:
        offered, catalogue = offers.hardware_id, market.catalogue
        estimated = elsewhere.rows(summaries, offered, catalogue, knowledge, shown)
        if len(estimated):
            estimated = estimated.assign(context=_small(estimated))
            table = pd.concat([table, estimated.merge(offers, on="hardware_id")], ignore_index=True)
    table = _costed(_on_equal_terms(table), market.rental)
    table = _per_unit(table, epochs, runs, complete_samples)
    table["break_even_per_hour"] = _break_evens(table, market.rental)
    judged = [_judged(group, market.rental) for _, group in table.groupby("workload", sort=True)]
    return pd.concat(judged or [table], ignore_index=True).reindex(columns=COLUMNS)


def _contexts(table: pd.DataFrame, market: Market) -> list[str]:
    """Why rows can be no recommendation; empty for those that can.

    What was measured here has run here. Of published trainings those count that are as recent as
    prices must be; on a GPU without today's frameworks only in a book of that time.
    """
    of_then = prices.day_of(market.book)
    day = of_then or date.today()
    found = []
    for row in table.itertuples():
        reasons = []
        if row.source_id != OWN:
            gpu = market.catalogue.get(row.hardware_id, {}).get("gpu")
            is_old = day - date.fromisoformat(row.last_start[:10]) > PRICE_HOLDS
            if is_old:
                reasons.append(f"a time of {row.last_start[:4]}")
            if is_unsupported(gpu) and (is_old or of_then is None):
                reasons.append(f"the frameworks pinned here do not run on a {gpu}")
        found.append("; ".join(reasons))
    return found


def _small(estimated: pd.DataFrame) -> list[str]:
    """Why estimates can be no recommendation; empty for those that can."""
    return [
        "its memory is probably too small" * (one == elsewhere.UNSURE) for one in estimated.fits
    ]


def _on_equal_terms(table: pd.DataFrame) -> pd.DataFrame:
    """The table with no start in any bill of a workload where that of one option is not known."""
    unknown = table.overhead_s.isna()
    among = unknown & table.context.eq("")
    left_out = unknown | among.groupby(table.workload).transform("any")
    return table.assign(
        overhead_s=table.overhead_s.mask(left_out, 0.0).astype(float),
        terms=np.where(left_out, EPOCHS_ALONE, WITH_START),
    )


def _ranged(table: pd.DataFrame, known: dict[str, Spread]) -> pd.DataFrame:
    """The table with the range of each time, by how well it is known."""
    deviation = pd.Series(np.nan, index=table.index)
    for _, group in table.groupby(["workload", table.context.ne("")]):
        one_hour = spreads.of_one_hour(group)
        deviation[group.index] = spreads.deviations(group, known, one_hour)
    low, high = spreads.interval(table.time_s, deviation)
    return table.assign(deviation=deviation, time_low=low, time_high=high)


def _without_refuted(summaries: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The summaries without predictions of trainings whose full run failed or missed its target.

    (Of a full run whose time counts, the prediction is gone anyway.)
    """
    missed = runs.status.eq(UNUSABLE) & runs.quality_reached.eq(False)
    failed = runs[(runs.status.eq("failed") | missed) & runs.scale.eq("full")]
    refuted = {_key(run) for run in failed[identity.MEASURED].itertuples(index=False)}
    keys = [_key(row) for row in summaries[identity.MEASURED].itertuples(index=False)]
    wrong = np.array([key in refuted for key in keys], bool) & summaries.predicted.astype(bool)
    return summaries[~wrong]


def as_long(options: pd.DataFrame, unit: str, number: int, rental: Rental) -> pd.DataFrame:
    """The same, some of options.csv, for longer or shorter trainings: times in proportion.

    Starts stay as they are. A measured time of another length is a predicted one. Of an own
    training that is one step nothing is known.

    Args:
        unit: `epochs` or `steps`.
        number: how many of them.
    """
    options = options[options.time_s.gt(0)]
    factor, around = times_longer(options, unit, number), options.elapsed_s - options.time_s
    is_other = factor.ne(1)
    foretold = is_other & options.evidence.eq(elsewhere.MEASURED)
    longer = options.assign(
        **{name: options[name].mask(is_other) for name in _OF_THE_LENGTH},
        evidence=options.evidence.mask(foretold, elsewhere.PREDICTED),
        predicted=options.predicted.astype(bool) | foretold,
        **{unit: float(number)},
        context=options.context.fillna(""),
        time_s=options.time_s * factor,
        time_low=(options.elapsed_low - around) * factor,
        time_high=(options.elapsed_high - around) * factor,
    )
    longer = _costed(longer, rental)
    longer = longer.assign(per_epoch_usd=longer.marginal_usd / longer.epochs)
    judged = [_judged(group, rental) for _, group in longer.groupby("workload", sort=True)]
    return pd.concat(judged or [longer], ignore_index=True).reindex(columns=options.columns)


def times_longer(rows: pd.DataFrame, unit: str, number: int) -> pd.Series:
    """How many times as long as each row's training one of so many epochs or steps is."""
    return number / rows[unit].astype(float).fillna(UNIT_STEPS)


def ends_by(options: pd.DataFrame, deadline_s: float) -> pd.DataFrame:
    """The options that meet the deadline, even at the high end of their interval."""
    latest = options.elapsed_high.fillna(options.elapsed_s)
    return options[latest.le(deadline_s)]


def within_budget(options: pd.DataFrame, budget_usd: float) -> pd.DataFrame:
    """The options within the budget, even at the high end of their interval."""
    return options[options.billed_high.fillna(options.billed_usd).le(budget_usd)]


def tied_with(options: pd.DataFrame, best: pd.Series) -> pd.DataFrame:
    """The other options whose bill may be that of the best: the difference may be chance.

    The range of a difference reaches as far as those of both bills together, by squares. The same
    runs at another price do not count: they do not differ by chance.
    """
    above = 0.0 if pd.isna(best.billed_high) else best.billed_high - best.billed_usd
    below = (options.billed_usd - options.billed_low).fillna(0.0)
    near = options[(options.billed_usd - best.billed_usd).le(np.hypot(above, below))]
    same = _key(best[identity.GROUP])
    keys = [_key(key) for key in near[identity.GROUP].itertuples(index=False)]
    return near[np.array([key != same for key in keys], bool)]


def _costed(table: pd.DataFrame, rental: Rental) -> pd.DataFrame:
    table = table.assign(cost_kind=BILLED)
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
    keys = [*identity.GROUP]
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
    known = epochs.merge(full[["run_id", "quality_target", *identity.GROUP]], on="run_id",
                         suffixes=("", "_of_run"))  # fmt: skip
    value = known.loss.where(known.metric.eq(LOSS), known.metric_value)
    good = value.le(known.quality_target).where(
        known.metric.isin(LOSSES), value.ge(known.quality_target)
    )
    known = known.assign(good=good.astype(bool)).sort_values(["run_id", "epoch"])
    by_run = known.time_s.astype(float).groupby(known.run_id)
    known["share"] = by_run.cumsum() / by_run.transform("sum")
    shares = known[known.good].groupby("run_id").share.first()
    shares = full[["run_id", *identity.GROUP]].merge(shares, on="run_id", how="left")
    grouped = shares.groupby(identity.GROUP, dropna=False).share.median()
    return grouped.rename("share_to_target").reset_index()


def _judged(options: pd.DataFrame, rental: Rental) -> pd.DataFrame:
    """The options of one workload, cheapest first, with how they compare; then what is context."""
    ordered = options.assign(place=_class(options)).sort_values(
        ["place", "billed_usd", "elapsed_s"], kind="stable", ignore_index=True
    )
    ordered = ordered.assign(efficient=False, cheapest_probability=np.nan)
    for place in range(len(_CLASSES) - 1):
        compared = ordered[ordered.place.eq(place)]
        if len(compared):
            ordered.loc[compared.index, "efficient"] = efficient(compared)
            ordered.loc[compared.index, "cheapest_probability"] = _chances(compared, rental)
    return ordered


def _class(options: pd.DataFrame) -> np.ndarray:
    """The place of each option in `_CLASSES`."""
    context = options.context.ne("")
    return np.select([context, options.evidence.eq(elsewhere.ESTIMATED)], [2, 1], 0)


def with_frontier(options: pd.DataFrame) -> pd.DataFrame:
    """The same, some of options.csv, with which of these no other one beats."""
    ordered = options.sort_values(["billed_usd", "elapsed_s"], kind="stable")
    ordered = ordered.assign(context=ordered.context.fillna(""), efficient=False)
    for place, group in ordered.groupby(["workload", _class(ordered)], sort=False):
        if place[1] < len(_CLASSES) - 1:
            ordered.loc[group.index, "efficient"] = efficient(group)
    return ordered.reindex(options.index)


def _chances(compared: pd.DataFrame, rental: Rental) -> np.ndarray:
    """How often each option is the cheapest; with equal bills each has an equal share.

    Those that are dearer however times turn out are not drawn.
    """

    low, high = (
        billing.cost_usd(compared, compared.time_s * np.exp(end * compared.deviation), rental)
        for end in (-_FAR, _FAR)
    )
    may_be = np.flatnonzero(~low.gt(high.min()))
    drawn = _drawn_bills(compared.iloc[may_be], rental)
    cheapest = drawn <= drawn.min(axis=0) * (1 + 1e-12)
    chances = np.zeros(len(compared))
    chances[may_be] = (cheapest / cheapest.sum(axis=0)).mean(axis=1)
    return chances


def efficient(ordered: pd.DataFrame) -> list[bool]:
    """Which options are Pareto-optimal: no other is as fast and as cheap, and better in one.

    Args:
        ordered: by bill, then by time.
    """
    if ordered.empty:
        return []
    seconds, usd = ordered.elapsed_s.to_numpy(float), ordered.billed_usd.to_numpy(float)
    is_first = np.r_[True, usd[1:] != usd[:-1]]
    # Of each row: where those of its bill begin, and the fastest of those that cost less.
    begin = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
    fastest = np.r_[np.inf, np.minimum.accumulate(seconds)][begin]
    return list((seconds == seconds[begin]) & (seconds < fastest))


def _drawn_bills(options: pd.DataFrame, rental: Rental) -> np.ndarray:
    """Of each option the bills of `_DRAWS` times, around its own as far as that is not known."""
    columns = (options[name] for name in identity.GROUP)
    normal = np.array([_normal(_key(key)) for key in zip(*columns, strict=True)])
    times, deviations, besides = (
        options[name].to_numpy(float)[:, None] for name in ("time_s", "deviation", "overhead_s")
    )
    seconds = times * np.exp(deviations * normal) + besides
    bills, owned = np.empty_like(seconds), options.price_kind.eq(billing.OWNED).to_numpy()
    for which, paid in ((~owned, rental), (owned, billing.NOTHING)):
        terms = vars(billing.terms_of(options[which])).values()
        terms = Terms(*(np.asarray(part, float)[:, None] for part in terms))
        bills[which] = billing.bill_usd(seconds[which], terms, paid)
    return bills


@lru_cache(maxsize=1024)
def _normal(key: tuple) -> np.ndarray:
    """Random numbers: the same for the same runs at two prices, independent ones for others."""
    rng = np.random.default_rng(zlib.crc32(repr(key).encode()))
    return rng.standard_normal(_DRAWS)


def _key(values: Iterable) -> tuple:
    """What identifies a group of runs; missing values are None, whatever their type."""
    return tuple(None if pd.isna(value) else value for value in values)
