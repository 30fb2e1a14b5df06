"""What a plan will cost, estimated from existing runs before any of it is started."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd

from epochcost.estimate import Estimate
from epochcost.hardware import LOCAL
from epochcost.money import billing, prices
from epochcost.money.billing import Rental
from epochcost.money.market import Market
from epochcost.money.prices import Price
from epochcost.record.record import recipe_id
from epochcost.results import repeats
from epochcost.results.rows import OWN

MEASURED, SIMILAR, PREDICTED, PUBLISHED, FULL, ESTIMATED, UNKNOWN = (
    "measured", "another variant", "predicted", "published", "full run", "estimated", "unknown",
)  # fmt: skip
# What is estimated of a workload, framework, variant and recipe on a machine type.
Foreseen = Callable[[str, str, str, str, str], Estimate | None]
DATA = ("complete", "subset", "synthetic")
# recipe: as records name it. data: one of DATA.
PLAN_COLUMNS = ["hardware", "workload", "framework", "variant", "trial", "recipe", "data"]
COLUMNS = [
    "hardware",
    "workload",
    "framework",
    "variant",
    "runs",
    "basis",
    "seconds",
    "seconds_high",
    "price_kind",
    "price_per_hour_usd",
    "retired",
    "cost_usd",
    "cost_high",
]


@dataclass(frozen=True)
class Total:
    """Time and cost of the known part of a plan, and how many runs are unknown.

    hours: of the runs whose time is known; usd: of those whose price is also known, and usd_high
    at the upper end of what is estimated.
    """

    runs: int
    hours: float
    untimed: int
    usd: float
    usd_high: float
    unpriced: int


def estimate_table(
    planned: pd.DataFrame,
    runs: pd.DataFrame,
    scale: str,
    market: Market,
    recipes: dict[str, dict],
    cores: int,
    foreseen: Foreseen = lambda *_: None,
) -> pd.DataFrame:
    """One row for the planned runs of one hardware, workload, framework, variant, recipe and data.

    `seconds` and `cost_usd` are totals of these runs, empty where unknown. `basis` says where the
    time comes from: a run of the same recipe on the same kind of data here (measured), one of
    another variant, a quick run of it (predicted), a published one, or, for a quick run, the full
    one, which nearly always takes longer; where none of these is there, runs on other GPUs
    (estimated). `seconds_high` and `cost_high` are upper ends of that, and else the same. On rented
    hardware each run is billed separately, at the on-demand price if that is known, but what is
    paid by the month is paid once for all runs of a hardware; the machine at hand costs only the
    time it is used. Hardware that its provider no longer rents is counted at its last price;
    `retired` says since when.

    Args:
        planned: PLAN_COLUMNS, a row per missing run.
        runs: runs.csv.
        scale: of the planned runs.
        recipes: those of the published runs.
        cores: those available to trainings on the machine at hand.
        foreseen: estimates what nobody measured.
    """
    offers, last_prices, since = _offers(market)
    ended = runs[runs.status.eq("ok") & runs.time_s.notna()]
    here = ended.machine_id.eq(market.machine_id) & ended.vcpus.eq(cores)
    ended = ended[ended.hardware_id.ne(LOCAL) | here]
    rows, used = [], {}
    keys = [name for name in PLAN_COLUMNS if name != "trial"]
    for key, group in planned.groupby(keys, sort=True):
        hardware, workload, framework, variant, recipe, data = key
        is_published = data != "subset" and _is_of(recipe, recipes.get(workload))
        same = _same_work(ended, hardware, workload, framework, recipe, data, is_published)
        basis, seconds = _seconds(same, variant, scale)
        high = seconds
        # Generated data have the shape of the real ones.
        if seconds is None and data != "subset":
            guess = foreseen(hardware, workload, framework, variant, recipe)
            if guess is not None:
                basis, seconds, high = ESTIMATED, guess.seconds, guess.high
        price = offers.get(hardware) or last_prices.get(hardware)
        cost = most = None
        if seconds is not None and price is not None:
            rental = billing.besides(price.price_kind, market.rental)
            cost, most = (len(group) * _bill(one, price, rental) for one in (seconds, high))
        if cost is not None and hardware != LOCAL:
            _, paid_s = used.get(hardware, (price, 0.0))
            used[hardware] = price, paid_s + len(group) * (seconds + rental.seconds)
        rows.append(
            (hardware, workload, framework, variant, len(group), basis)
            + tuple(None if one is None else len(group) * one for one in (seconds, high))
            + ((price.price_kind, price.price_per_hour_usd) if price else ("", None))
            + (since[hardware] if hardware in last_prices else None, cost, most)
        )
    return _with_months(pd.DataFrame(rows, columns=COLUMNS), used, market.rental)


def _is_of(recipe: str, today: dict | None) -> bool:
    """Whether a recipe is that of the workload today; an own training was published by nobody."""
    return today is not None and recipe == recipe_id(today)


def _with_months(
    table: pd.DataFrame, used: dict[str, tuple[Price, float]], rental: Rental
) -> pd.DataFrame:
    """The table with what is paid by the month, which its rows share by their seconds.

    Args:
        used: the price of each hardware with known costs, and for how many seconds it is paid.
    """
    disk = Rental(disk_gib=rental.disk_gib, disk_usd_per_gib_month=rental.disk_usd_per_gib_month)
    for hardware, (price, seconds) in used.items():
        rows = table.hardware.eq(hardware) & table.cost_usd.notna()
        share = table.seconds[rows] / table.seconds[rows].sum()
        if _is_monthly(price):
            table.loc[rows, "cost_usd"] = share * billing.bill_usd(seconds, price.terms, disk)
        elif price.monthly_fee_usd:
            fees = billing.Terms(0.0, monthly_fee_usd=price.monthly_fee_usd)
            table.loc[rows, "cost_usd"] += share * billing.bill_usd(seconds, fees, billing.NOTHING)
    # What is paid by the month is paid for the longer run, too.
    return table.assign(cost_high=table.cost_high.astype(float).clip(lower=table.cost_usd))


def _is_monthly(price: Price) -> bool:
    return (price.increment_s or 0.0) >= billing.MONTH_S


def _offers(market: Market) -> tuple[dict[str, Price], dict[str, Price], dict[str, str]]:
    """By hardware: current prices, last prices of what is retired, and since when it is."""
    offers = {price.hardware_id: price for price in _preferred(market.available())}
    if market.local is not None:
        offers[LOCAL] = market.local
    since = market.retired()
    # Of the book's time: what came later is not known in it, neither prices nor billing rules.
    gone = [
        price for price in prices.in_book(market.known, market.book) if price.hardware_id in since
    ]
    last = {price.hardware_id: price for price in _preferred(gone)}
    return offers, {name: price for name, price in last.items() if name not in offers}, since


def _same_work(
    runs: pd.DataFrame,
    hardware: str,
    workload: str,
    framework: str,
    recipe: str,
    data: str,
    is_published: bool,
) -> pd.DataFrame:
    """The runs of the same recipe on the same kind of data, and published ones if asked for."""
    same = runs[
        runs.hardware_id.eq(hardware) & runs.workload.eq(workload) & runs.framework.eq(framework)
    ]
    is_own = same.source_id.eq(OWN)
    own = is_own & same.recipe.eq(recipe) & _is_on(same, data)
    return same[own | ~is_own & is_published]


def total(table: pd.DataFrame) -> Total:
    """The sum of an estimate's rows."""
    return Total(
        runs=int(table.runs.sum()),
        hours=float(table.seconds.fillna(0).sum()) / billing.HOUR_S,
        untimed=int(table.runs[table.seconds.isna()].sum()),
        usd=float(table.cost_usd.fillna(0).sum()),
        usd_high=float(table.cost_high.fillna(0).sum()),
        unpriced=int(table.runs[table.cost_usd.isna()].sum()),
    )


def _is_on(runs: pd.DataFrame, data: str) -> pd.Series:
    """Which runs used data of a kind: complete, subset or synthetic."""
    synthetic = runs.synthetic.astype(bool)
    if data == "synthetic":
        return synthetic
    return ~synthetic & runs.data_complete.astype(bool).eq(data == "complete")


def _seconds(same: pd.DataFrame, variant: str, scale: str) -> tuple[str, float | None]:
    """The basis of one run's time, and its seconds."""
    own = same[same.source_id.eq(OWN)]
    is_same = own.variant.eq(variant)
    own, is_other = (own[is_same], False) if is_same.any() else (own, True)
    alike = own[own.scale.eq(scale)]
    if len(alike):
        seconds = float(repeats.values_of(alike, "wall_s").median())
        return (SIMILAR if is_other else MEASURED), seconds
    if len(own):
        whole = own.assign(time_s=own.time_s + own.overhead_s.fillna(0))
        seconds = float(repeats.values_of(whole).median())
        basis = PREDICTED if scale == "full" else FULL
        return (SIMILAR if is_other else basis), seconds
    published = same[same.source_id.ne(OWN)]
    if len(published):
        # Of the variant, if there are any; and of the newest study, which had the newest software.
        alike = published[published.variant.eq(variant)]
        published = alike if len(alike) else published
        newest = published[published.date.eq(published.date.max())]
        return (PUBLISHED if scale == "full" else FULL), float(newest.time_s.median())
    return UNKNOWN, None


def _bill(seconds: float, price: Price, rental: Rental) -> float:
    """The bill of one run, without what is paid by the month."""
    if price.hardware_id == LOCAL:
        return seconds * price.price_per_hour_usd / billing.HOUR_S
    by_run = replace(price, monthly_fee_usd=0.0)
    return float(billing.bill_usd(seconds, by_run.terms, rental))


def _preferred(offers: list[Price]) -> list[Price]:
    """Prices in an order in which each hardware's on-demand one comes last, so that it is kept."""
    ordered = sorted(offers, key=lambda price: price.price_per_hour_usd, reverse=True)
    return sorted(ordered, key=lambda price: price.price_kind == prices.ON_DEMAND)
