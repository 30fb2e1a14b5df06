"""The tables: runs x prices -> costs, and everything over the baseline of its workload.

Pure functions over data frames. No deep-learning framework, no files.
"""

from collections.abc import Iterable
from dataclasses import asdict, fields

import pandas as pd

from epochcost.costs import prices
from epochcost.costs.prices import Price
from epochcost.costs.repeats import GROUP, summaries
from epochcost.costs.rows import OWN, EpochRow, RunRow
from epochcost.records.record import recipe_id

# Editions of a data set, and damaged samples, differ by less than this share.
_SAME_SAMPLES = 0.02
CONFIGURED_BOOK = "config"
MARGINAL = "marginal"

COST_COLUMNS = [
    "run_id",
    "source_id",
    "workload",
    "framework",
    "variant",
    "hardware_id",
    "price_book",
    "price_kind",
    "price_per_hour_usd",
    "price_date",
    "cost_kind",
    "cost_usd",
    "cost_low",
    "cost_high",
    "predicted",
    "synthetic",
    "data_complete",
    "weights",
]
# The contract's columns in its order, then what a careful reader needs beside them.
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
    "framework_version",
    "epochs",
    "baseline_epochs",
    "batch_size",
    "recipe_batch_size",
    "recipe",
    "own_recipe",
    "settings",
    "vcpus",
    "metric",
    "metric_value",
    "quality_reached",
    "data_source",
    "data_complete",
    "train_samples",
    "complete_samples",
    "weights",
    "synthetic",
    "time_confidence",
    "machines",
    "noisy_runs",
    "price_per_hour_usd",
    "price_date",
    "mixed_price_kinds",
]


def runs_table(rows: Iterable[RunRow]) -> pd.DataFrame:
    """runs.csv: one row per run, own and published."""
    table = pd.DataFrame([asdict(row) for row in rows], columns=_names(RunRow))
    return table.assign(train_samples=pd.to_numeric(table.train_samples))


def epochs_table(rows: Iterable[EpochRow]) -> pd.DataFrame:
    """epochs.csv: one row per epoch."""
    return pd.DataFrame([asdict(row) for row in rows], columns=_names(EpochRow))


def costs_table(
    runs: pd.DataFrame,
    known: list[Price],
    book: str,
    local: Price | None = None,
    machine_id: str = "",
) -> pd.DataFrame:
    """costs.csv: run x price x cost kind.

    Published runs are priced by the book of the month in which they were published, own runs by
    `book`. A run whose hardware has no price in its book has no row.

    Args:
        known: all prices.
        book: the price book for own runs, `YYYY-MM` or `latest`.
        local: the price of the machine at hand, from the configuration; None when not known.
        machine_id: the machine at hand; no other machine has its price.
    """
    priced = runs[runs.status.eq("ok") & runs.time_s.notna()]
    parts = []
    for name, group in priced.groupby(_books(priced, known, book), sort=True):
        parts.append(group.merge(_offers(known, name), on="hardware_id"))
    if local is not None:
        here = priced[priced.machine_id.eq(machine_id)]
        parts.append(here.merge(_frame([local], CONFIGURED_BOOK), on="hardware_id"))
    costs = pd.concat(parts, ignore_index=True) if parts else priced.reindex(columns=COST_COLUMNS)
    hourly = costs.price_per_hour_usd
    costs = costs.assign(
        cost_kind=MARGINAL,
        cost_usd=costs.time_s * hourly / 3600,
        cost_low=costs.time_low * hourly / 3600,
        cost_high=costs.time_high * hourly / 3600,
    )
    return costs[COST_COLUMNS]


def relative_table(
    runs: pd.DataFrame,
    costs: pd.DataFrame,
    baselines: pd.DataFrame,
    complete_samples: dict[str, int],
    recipes: dict[str, dict],
    keep_disturbed: bool = False,
) -> pd.DataFrame:
    """relative.csv: repeated runs as one row, over the baseline of their workload.

    Times are medians over runs with their interval, as `repeats.summaries` makes them. Rows of
    hardware without a known price have a time and no cost. A row that was trained by another recipe
    than the workload's (another batch size is an axis of the studies, and no other recipe), or on
    another number of samples than the complete data have (by more than 2 %, which editions of the
    same data differ by), is another training: it has a time and a cost and no ratio. So has an own
    row of a workload without a baseline.

    Args:
        baselines: data/published/baselines.csv.
        complete_samples: training samples of each workload's complete data.
        recipes: the recipe of each workload (config/workloads.yaml).
        keep_disturbed: whether disturbed runs count beside undisturbed ones.
    """
    usable = runs[runs.status.eq("ok") & runs.time_s.notna()]
    times = summaries(usable, keep_disturbed)
    priced = ["price_book", "price_kind", "price_per_hour_usd", "price_date", "cost_kind"]
    offers = costs[["run_id", *priced]]
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
    table["own_recipe"] = _follows_recipe(table, recipes)
    parts = [_over(table, baseline, runs) for baseline in baselines.itertuples()]
    compared = baselines[baselines.scope.eq("all")].workload
    table = pd.concat([*parts, _over_nothing(table, compared)], ignore_index=True)
    return table[RELATIVE_COLUMNS].sort_values(
        ["workload", "baseline", "source_id", "hardware_id", "framework", "variant"],
        kind="stable",
        ignore_index=True,
    )


def without_price(relative: pd.DataFrame) -> int:
    """How many rows have a time but no cost."""
    return int(relative.cost_usd.isna().sum())


def _follows_recipe(table: pd.DataFrame, recipes: dict[str, dict]) -> list[bool]:
    """Whether each row was trained by its workload's recipe, but for the size of its batches."""
    return [
        row.source_id != OWN
        or (
            row.workload in recipes
            and row.recipe == recipe_id(recipes[row.workload] | {"batch_size": int(row.batch_size)})
        )
        for row in table.itertuples()
    ]


def _over_nothing(table: pd.DataFrame, compared: pd.Series) -> pd.DataFrame:
    """The own rows of workloads that have no baseline: times and costs, and no ratios."""
    rows = table[~table.workload.isin(compared) & table.source_id.eq(OWN)]
    costs = {
        ("cost_usd" if bound == "s" else f"cost_{bound}"): rows[f"time_{bound}"]
        * rows.price_per_hour_usd
        / 3600
        for bound in ("s", "low", "high")
    }
    return rows.assign(**costs, baseline="", mixed_price_kinds=False).reindex(
        columns=RELATIVE_COLUMNS
    )


def _over(table: pd.DataFrame, baseline, runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of a workload over one baseline; a study's own base is for its own rows alone."""
    rows = table[table.workload.eq(baseline.workload)]
    if baseline.scope == "study":
        rows = rows[rows.source_id.eq(baseline.baseline)]
    base = runs[runs.run_id.eq(baseline.run_id)].iloc[0]
    base_time = base.time_s
    base_cost = base_time * baseline.price_per_hour_usd / 3600
    added = {"baseline": baseline.baseline, "baseline_epochs": base.epochs}
    known = rows.train_samples.notna() & rows.complete_samples.notna()
    off = (rows.train_samples / rows.complete_samples - 1).abs()
    compares = rows.own_recipe & (~known | off.le(_SAME_SAMPLES))
    added["mixed_price_kinds"] = rows.price_kind.notna() & rows.price_kind.ne(baseline.price_kind)
    for bound in ("s", "low", "high"):
        suffix = "" if bound == "s" else f"_{bound}"
        cost = rows[f"time_{bound}"] * rows.price_per_hour_usd / 3600
        added["cost_usd" if bound == "s" else f"cost_{bound}"] = cost
        added[f"time_relative{suffix}"] = (rows[f"time_{bound}"] / base_time).where(compares)
        added[f"cost_relative{suffix}"] = (cost / base_cost).where(compares)
    return rows.assign(**added)


def _books(runs: pd.DataFrame, known: list[Price], book: str) -> pd.Series:
    """The price book of each run."""
    own = prices.name_of(known, book)
    return runs.date.str[:7].where(runs.source_id.ne(OWN), own)


def _offers(known: list[Price], book: str) -> pd.DataFrame:
    return _frame(prices.in_book(known, book), book)


def _frame(offers: list[Price], book: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "hardware_id": [price.hardware_id for price in offers],
            "price_book": book,
            "price_kind": [price.price_kind for price in offers],
            "price_per_hour_usd": [price.price_per_hour_usd for price in offers],
            "price_date": [price.as_of.isoformat() if price.as_of else "" for price in offers],
        }
    )


def _names(row_type: type) -> list[str]:
    return [field.name for field in fields(row_type)]
