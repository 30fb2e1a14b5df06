"""The tables of costs: runs x prices, and everything relative to its workload's baseline."""

import pandas as pd

from epochcost.money import billing
from epochcost.money.billing import Rental
from epochcost.money.market import CONFIGURED_BOOK, Market
from epochcost.money.prices import Price
from epochcost.record.types import OWN_TRAINING
from epochcost.results import spreads
from epochcost.results.identity import GROUP
from epochcost.results.repeats import best_known, summaries
from epochcost.results.rows import OWN
from epochcost.results.tables import (
    follows_recipe,
    has_all_samples,
    made_here,
)

# A cost and its bounds, and the times they are computed from.
_BOUNDS = {"usd": "time_s", "low": "time_low", "high": "time_high"}

COST_COLUMNS = [
    "run_id",
    "source_id",
    "workload",
    "framework",
    "variant",
    "hardware_id",
    *billing.PRICE_COLUMNS,
    "cost_kind",
    "cost_usd",
    "cost_low",
    "cost_high",
    "predicted",
    "synthetic",
    "data_complete",
    "weights",
]
# The contract's columns in its order, then what a careful reader needs besides them.
RELATIVE_COLUMNS = [
    "workload",
    "framework",
    "variant",
    "hardware_id",
    "source_id",
    "price_book",
    "price_kind",
    "cost_kind",
    "runs",
    "time_s",
    "time_low",
    "time_high",
    "cost_usd",
    "cost_low",
    "cost_high",
    "time_relative",
    "time_relative_low",
    "time_relative_high",
    "cost_relative",
    "cost_relative_low",
    "cost_relative_high",
    "predicted",
    "baseline",
    "hardware_label",
    "machine_id",
    "host",
    "driver",
    "framework_version",
    "epochs",
    "baseline_epochs",
    "steps",
    "batch_size",
    "recipe_batch_size",
    "recipe",
    "own_recipe",
    "settings",
    "vcpus",
    "gpus_used",
    "metric",
    "metric_value",
    "quality_reached",
    "data_complete",
    "train_samples",
    "data_id",
    "complete_samples",
    "weights",
    "synthetic",
    "time_confidence",
    "machines",
    "mixed_hosts",
    "noisy_runs",
    "paused_s",
    "overhead_s",
    "start_s",
    "later_low",
    "later_high",
    "copy_of",
    "shipped",
    "run_ids",
    "last_start",
    *billing.PRICE_COLUMNS[2:],
    "mixed_price_kinds",
]


def costs_table(runs: pd.DataFrame, market: Market) -> pd.DataFrame:
    """costs.csv: run x price x cost kind, with the price row that was used.

    Published runs are priced by the book of the month in which they were published, own runs by
    the market's. A run whose hardware has no price in its book has no row.
    """
    priced = runs[runs.status.eq("ok") & runs.time_s.notna()]
    own = priced.source_id.eq(OWN)
    parts = [priced[own].merge(price_frame(market.current(), market.name), on="hardware_id")]
    for month, group in priced[~own].groupby(priced.date.str[:7], sort=True):
        offers = price_frame(market.of_month(month), month)
        parts.append(group.merge(offers, on="hardware_id"))
    parts.append(at_hand(priced, market))
    costs = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    costs = pd.concat([costs.assign(cost_kind=kind) for kind in billing.KINDS], ignore_index=True)
    costs = costs.assign(
        **{
            column: billing.cost_usd(costs, costs[time], market.rental)
            for column, time in (
                ("cost_usd", "time_s"),
                ("cost_low", "time_low"),
                ("cost_high", "time_high"),
            )
        }
    )
    return costs[COST_COLUMNS].sort_values("run_id", kind="stable", ignore_index=True)


def relative_table(
    runs: pd.DataFrame,
    costs: pd.DataFrame,
    baselines: pd.DataFrame,
    complete_samples: dict[str, int],
    recipes: dict[str, dict],
    market: Market,
    keep_disturbed: bool = False,
) -> pd.DataFrame:
    """relative.csv: repeated runs as one row, relative to the baseline of their workload.

    Times are medians over runs with their interval, as `repeats.summaries` makes them; `later_low`
    and `later_high` are the range for another hour, by what repeats have shown (`spreads`). Rows of
    hardware without a known price have a time but no cost. A row that was trained by a recipe other
    than the workload's (batch size is an axis of the studies, and does not make another recipe), or
    on a number of samples that differs from the complete data's by more than the 2 % that editions
    of the same data may differ by, is another training: it has a time and a cost but no ratio. So
    does an own row of a workload without a baseline.

    Args:
        runs: of runs.csv, `of_newest_code`.
        baselines: data/published/baselines.csv.
        complete_samples: training samples of each workload's complete data.
        recipes: the recipe of each workload (config/workloads.yaml).
        market: the prices of the baselines, and what is paid for besides a training.
        keep_disturbed: whether disturbed runs count alongside undisturbed ones.
    """
    usable = runs[runs.status.eq("ok") & runs.time_s.notna()]
    times = summaries(usable, keep_disturbed)
    low, high = spreads.interval(
        times.time_s, spreads.deviations(times, spreads.known(runs, keep_disturbed), False)
    )
    times = times.assign(later_low=low, later_high=high)
    offers = costs[["run_id", *billing.PRICE_COLUMNS, "cost_kind"]]
    offers = (
        usable[["run_id", *GROUP]]
        .merge(offers, on="run_id")
        .drop(columns="run_id")
        .drop_duplicates()
    )
    table = times.merge(offers, on=GROUP, how="left")
    table["complete_samples"] = table.workload.map(complete_samples)
    table["recipe_batch_size"] = table.workload.map(
        {name: recipe["batch_size"] for name, recipe in recipes.items()}
    )
    table["own_recipe"] = follows_recipe(table, recipes)
    parts = [_over(table, one, runs, market) for one in baselines.itertuples()]
    compared = baselines[baselines.scope.eq("all")].workload
    table = pd.concat([*parts, _over_nothing(table, compared, market.rental)], ignore_index=True)
    return table[RELATIVE_COLUMNS].sort_values(
        ["workload", "baseline", "source_id", "hardware_id", "framework", "variant"],
        kind="stable",
        ignore_index=True,
    )


def without_price(relative: pd.DataFrame) -> int:
    """How many rows have a time but no cost."""
    return int(relative.cost_kind.isna().sum())


def without_price_of(relative: pd.DataFrame) -> pd.DataFrame:
    """The own rows that would be options if they had a price: times, not predictions beside them.

    By the workload's recipe and batch size, on complete real data, without a missed target.
    """
    own = relative[made_here(relative) & relative.cost_kind.isna()]
    fit = own.batch_size.eq(own.recipe_batch_size) | own.framework.eq(OWN_TRAINING)
    fit &= own.own_recipe.astype(bool)
    fit &= ~own.synthetic.astype(bool) & ~own.quality_reached.eq(False)
    return best_known(own[fit & has_all_samples(own, own.complete_samples)])


def _over_nothing(table: pd.DataFrame, compared: pd.Series, rental: Rental) -> pd.DataFrame:
    """The own rows of workloads without a baseline: times and costs, but no ratios."""
    rows = table[~table.workload.isin(compared) & table.source_id.eq(OWN)]
    costs = {
        f"cost_{bound}": billing.cost_usd(rows, rows[time], rental)
        for bound, time in _BOUNDS.items()
    }
    return rows.assign(**costs, baseline="", mixed_price_kinds=False).reindex(
        columns=RELATIVE_COLUMNS
    )


def _over(table: pd.DataFrame, baseline, runs: pd.DataFrame, market: Market) -> pd.DataFrame:
    """A workload's rows relative to one baseline; a study's own one is for its own rows alone.

    A billed cost is relative to the billed cost of the baseline's run, both without a start: how
    long that of the baseline took is not known.
    """
    rows = table[table.workload.eq(baseline.workload)]
    if baseline.scope == "study":
        rows = rows[rows.source_id.eq(baseline.baseline)]
    base = runs[runs.run_id.eq(baseline.run_id)].iloc[0]
    base_costs = _base_costs(base, baseline, market)
    added = {"baseline": baseline.baseline, "baseline_epochs": base.epochs}
    compares = rows.own_recipe & has_all_samples(rows, rows.complete_samples)
    added["mixed_price_kinds"] = rows.price_kind.notna() & rows.price_kind.ne(baseline.price_kind)
    for bound, time in _BOUNDS.items():
        suffix = "" if bound == "usd" else f"_{bound}"
        added[f"cost_{bound}"] = billing.cost_usd(rows, rows[time], market.rental)
        cost = billing.cost_usd(rows.assign(overhead_s=0.0), rows[time], market.rental)
        added[f"time_relative{suffix}"] = (rows[time] / base.time_s).where(compares)
        over = cost / rows.cost_kind.map(base_costs)
        added[f"cost_relative{suffix}"] = over.where(compares)
    return rows.assign(**added)


def _base_costs(base, baseline, market: Market) -> dict[str, float]:
    """What a baseline's run cost, by cost kind, at the price that its study states."""
    (price,) = (
        price
        for price in market.of_month(baseline.price_book)
        if (price.hardware_id, price.price_kind) == (base.hardware_id, baseline.price_kind)
    )
    row = price_frame([price], baseline.price_book).assign(overhead_s=0.0)
    seconds = pd.Series([base.time_s])
    return {
        kind: billing.cost_usd(row.assign(cost_kind=kind), seconds, market.rental).iloc[0]
        for kind in billing.KINDS
    }


def at_hand(runs: pd.DataFrame, market: Market) -> pd.DataFrame:
    """The runs made on the machine at hand x its price, where that is known.

    What came with the clone is not made here, whatever machine it says: images of one kind share
    an id.
    """
    here = runs[made_here(runs) & runs.machine_id.eq(market.machine_id)]
    offers = [] if market.local is None else [market.local]
    return here.merge(price_frame(offers, CONFIGURED_BOOK), on="hardware_id")


def price_frame(offers: list[Price], book: str) -> pd.DataFrame:
    """Prices as columns: `hardware_id` and `billing.PRICE_COLUMNS`."""
    return pd.DataFrame(
        {
            "hardware_id": [price.hardware_id for price in offers],
            "price_book": book,
            "price_kind": [price.price_kind for price in offers],
            "price_per_hour_usd": [price.price_per_hour_usd for price in offers],
            "price_date": [price.as_of.isoformat() if price.as_of else "" for price in offers],
            "price_source": [price.source_id for price in offers],
            "price_region": [price.region for price in offers],
            "billing_increment_s": [price.increment_s for price in offers],
            "minimum_charge_s": [price.minimum_s for price in offers],
            "monthly_fee_usd": [price.monthly_fee_usd for price in offers],
        }
    ).astype({"hardware_id": str, "billing_increment_s": float, "minimum_charge_s": float})
