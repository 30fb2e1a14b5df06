"""Which rows of relative.csv a picture of one workload shows, and in which order."""

import pandas as pd

from epochcost.costs import billing, prices
from epochcost.costs.repeats import GROUP, best_known
from epochcost.costs.rows import OWN, RANDOM

_FRAMEWORKS = ["keras-tensorflow", "keras-torch", "keras-jax", "pytorch", "fastai", "keras-cntk"]
# Columns by which rows of one name differ; how a value is said, and how that there is none.
_TELLING = (
    ("framework_version", "{}", ""),
    ("driver", "driver {}", ""),
    ("settings", "{}", "no settings"),
    ("machine_id", "machine {}", ""),
)
_SAME_RUNS = [*GROUP, "hardware_label", "epochs"]
_SAME_OFFER = [*GROUP, "baseline", "price_book", "price_kind"]


def side_by_side(relative: pd.DataFrame) -> pd.DataFrame:
    """relative.csv with one row for both kinds of cost: the marginal one, and beside it the billed.

    Adds `billed_usd` and `billed_relative`; rows without a price are kept.
    """
    billed = relative[relative.cost_kind.eq(billing.BILLED)]
    billed = billed[[*_SAME_OFFER, "cost_usd", "cost_relative"]]
    marginal = relative[relative.cost_kind.ne(billing.BILLED)]
    names = {"cost_usd": "billed_usd", "cost_relative": "billed_relative"}
    return marginal.merge(billed.rename(columns=names), on=_SAME_OFFER, how="left")


def rows_of(
    relative: pd.DataFrame, workload: str, baseline: str, hardware_order: list[str]
) -> pd.DataFrame:
    """The rows to draw for a workload: own ones, and those of the study its baseline is from.

    Own rows come first, then hardware in the order of config/hardware.yaml. Where a hardware has
    several prices, the row is shown that is priced like the baseline, if there is one.
    """
    rows = relative[relative.workload.eq(workload) & relative.baseline.eq(baseline)]
    rows = best_known(rows[rows.source_id.isin([OWN, baseline])])
    keys = pd.DataFrame(
        {
            "published": rows.source_id.ne(OWN),
            "place": rows.hardware_id.map(_rank(hardware_order)).fillna(len(hardware_order)),
            "machine": rows.machine_id.fillna(""),
            "framework": rows.framework.map(_rank(_FRAMEWORKS)).fillna(len(_FRAMEWORKS)),
            "mixed": rows.mixed_price_kinds,
        }
    ).sort_values(["published", "place", "machine", "framework", "mixed"], kind="stable")
    return rows.loc[keys.index].drop_duplicates(_SAME_RUNS).reset_index(drop=True)


def rows_without_baseline(relative: pd.DataFrame, workload: str) -> pd.DataFrame:
    """The own rows of a workload that no published run can be compared with."""
    return best_known(relative[relative.workload.eq(workload) & relative.baseline.isna()])


def _rank(names: list[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def remarks(row) -> list[str]:
    """What a reader must know of a row before comparing it."""
    notes = data_remarks(row)
    if row.predicted:
        notes.append("predicted")
    compares = row.source_id == OWN and pd.notna(row.baseline_epochs)
    if compares and row.epochs != row.baseline_epochs:
        notes.append(f"{row.epochs:g} epochs, not {row.baseline_epochs:g}")
    if not row.own_recipe:
        notes.append("another recipe")
    if pd.notna(row.batch_size) and row.batch_size != row.recipe_batch_size:
        notes.append(f"batch of {row.batch_size:g}, not {row.recipe_batch_size:g}")
    if row.noisy_runs:
        notes.append("disturbed")
    if pd.notna(row.quality_reached) and not row.quality_reached:
        notes.append("below the quality target")
    return notes


def option_remarks(option) -> list[str]:
    """What a reader must know of an option (a row of options.csv)."""
    notes = ["predicted"] * bool(option.predicted) + data_remarks(option)
    notes += ["disturbed"] * bool(option.noisy_runs)
    return notes + ["if never taken away"] * (option.price_kind in prices.INTERRUPTIBLE)


def offer_remarks(option) -> list[str]:
    """What a reader must know of an option and of its price, before it is set against others."""
    kind = option.price_kind
    notes = [] if kind == prices.ON_DEMAND else [f"{words(kind)} price"]
    return notes + ["as published"] * (option.source_id != OWN) + option_remarks(option)


def words(price_kind: str) -> str:
    """The kind of a price as people say it."""
    return price_kind.replace("_", "-")


def tell_apart(rows: pd.DataFrame) -> list[str]:
    """What tells rows apart that have the same hardware, framework and variant; else nothing.

    Args:
        rows: of relative.csv or options.csv, all that are shown together.
    """
    same_name = ["workload", "hardware_label", "framework", "variant"]
    said: list[list[str]] = [[] for _ in range(len(rows))]
    for column, form, nothing in _TELLING:
        values = rows[column].fillna("")
        differ = values.groupby([rows[name] for name in same_name]).transform("nunique").gt(1)
        for facts, value, differs in zip(said, values, differ, strict=True):
            if differs:
                facts.append(form.format(value) if value else nothing)
    return [", ".join(fact for fact in facts if fact) for facts in said]


def data_remarks(row) -> list[str]:
    """What a row was trained on, where that is not all of the real data and the real weights."""
    notes = []
    if row.synthetic:
        notes.append("synthetic data")
    known = pd.notna(row.train_samples) and pd.notna(row.complete_samples)
    if known and row.train_samples != row.complete_samples:
        notes.append(f"{row.train_samples:,.0f} of {row.complete_samples:,.0f} samples")
    elif not row.data_complete and not row.synthetic:
        notes.append("subset of the data")
    if row.weights == RANDOM:
        notes.append("from random weights")
    return notes
