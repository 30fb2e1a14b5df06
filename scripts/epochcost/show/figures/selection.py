"""Which rows of relative.csv a picture of one workload shows, and in which order."""

from collections.abc import Iterable

import pandas as pd

from epochcost.frameworks.variants import DEFAULT
from epochcost.money import billing
from epochcost.results.identity import GROUP
from epochcost.results.repeats import best_known
from epochcost.results.rows import OWN
from epochcost.results.tables import is_shipped
from epochcost.show.wording import names

_SAME_RUNS = [*GROUP, "hardware_label", "epochs"]
_SAME_OFFER = [*GROUP, "baseline", "price_book", "price_kind"]


def side_by_side(relative: pd.DataFrame) -> pd.DataFrame:
    """relative.csv with one row for both kinds of cost: the marginal one, beside it the billed one.

    Adds `billed_usd` and `billed_relative`; rows without a price are kept.
    """
    billed = relative[relative.cost_kind.eq(billing.BILLED)]
    billed = billed[[*_SAME_OFFER, "cost_usd", "cost_relative"]]
    marginal = relative[relative.cost_kind.ne(billing.BILLED)]
    columns = {"cost_usd": "billed_usd", "cost_relative": "billed_relative"}
    return marginal.merge(billed.rename(columns=columns), on=_SAME_OFFER, how="left")


def rows_of(
    relative: pd.DataFrame, workload: str, baseline: str, hardware_order: list[str]
) -> pd.DataFrame:
    """The rows to draw for a workload: own ones, and those of the study its baseline is from.

    Own rows come first, then those that came with the clone (`_few_shipped`), then hardware in the
    order of config/hardware.yaml. Where hardware has
    several prices, the row priced like the baseline is shown, if there is one.
    """
    rows = relative[relative.workload.eq(workload) & relative.baseline.eq(baseline)]
    rows = _few_shipped(best_known(rows[rows.source_id.isin([OWN, baseline])]))
    keys = pd.DataFrame(
        {
            "published": rows.source_id.ne(OWN),
            "shipped": is_shipped(rows),
            "place": rows.hardware_id.map(_rank(hardware_order)).fillna(len(hardware_order)),
            "machine": rows.machine_id.fillna(""),
            "framework": rows.framework.map(_rank(names.FRAMEWORKS)).fillna(len(names.FRAMEWORKS)),
            "mixed": rows.mixed_price_kinds,
        }
    ).sort_values(["published", "shipped", "place", "machine", "framework", "mixed"], kind="stable")
    return rows.loc[keys.index].drop_duplicates(_SAME_RUNS).reset_index(drop=True)


def rows_without_baseline(relative: pd.DataFrame, workload: str) -> pd.DataFrame:
    """The own rows of a workload that no published run can be compared with."""
    rows = relative[relative.workload.eq(workload) & relative.baseline.isna()]
    return _few_shipped(best_known(rows))


def _few_shipped(rows: pd.DataFrame) -> pd.DataFrame:
    """Of the rows that came with the clone, one for each kind of machine and framework.

    It is that of default settings, by the recipe and undisturbed, which has most runs.
    """
    shipped = rows[is_shipped(rows)]
    fit = shipped.variant.eq(DEFAULT) & shipped.own_recipe.astype(bool) & shipped.noisy_runs.eq(0)
    fit &= shipped.data_complete.astype(bool) & ~shipped.quality_reached.eq(False)
    ordered = shipped[fit].sort_values(
        ["predicted", "runs", "shipped"], ascending=[True, False, False], kind="stable"
    )
    kept = ordered.drop_duplicates(["workload", "hardware_label", "framework"]).index
    return rows[~is_shipped(rows) | rows.index.isin(kept)]


def _rank(order: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(order)}
