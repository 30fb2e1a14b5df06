"""How the cost of training one model has changed since 2016, and what changed it."""

from dataclasses import dataclass

import pandas as pd

from epochcost.money import prices
from epochcost.money.billing import HOUR_S
from epochcost.money.market import Market
from epochcost.results.identity import GROUP
from epochcost.results.rows import OWN

COLUMNS = ["workload", "hardware_id", "hardware_label", "price_kind", "date", "cost_usd"]
# The software of 2017, where it was run here too.
_SOFTWARE_OF_2017 = "keras2-tensorflow1"
# What its time and that of today's software must share to say what the software gained.
_ALIKE = ["predicted", "hardware_id", "machine", "vcpus", "data_id", "train_samples"]


@dataclass(frozen=True)
class Change:
    """What a training costs now over what it cost then, as factors whose product is the whole.

    price: an hour of today's machine over an hour of the old one. hardware: time on today's machine
    over that on the old one, with the old software. software: time with today's software over that
    with the old, on today's machine. Where the old software was not run here, the two are one
    factor, `both`.
    """

    price: float
    hardware: float | None
    software: float | None
    both: float

    @property
    def whole(self) -> float:
        """The product of all factors."""
        return self.price * self.both


def history_table(runs: pd.DataFrame, market: Market) -> pd.DataFrame:
    """history.csv: what each published training cost at every price of its machine since then.

    Marginal costs of the fastest published run of each workload on each type of hardware;
    an earlier price that was in force on the day of its publication is dated that day.
    """
    published = runs[runs.source_id.ne(OWN) & runs.status.eq("ok") & runs.time_s.notna()]
    ordered = published.sort_values(["time_s", "date"], kind="stable")
    fastest = ordered.drop_duplicates(["workload", "hardware_id"])
    fastest = fastest.rename(columns={"date": "published"})
    dated = pd.DataFrame(
        [
            (price.hardware_id, price.price_kind, price.as_of.isoformat(), price.price_per_hour_usd)
            for price in market.known
            if price.as_of
        ],
        columns=["hardware_id", "price_kind", "date", "price"],
    )
    table = fastest.merge(dated, on="hardware_id").sort_values(["date", "price"])
    table["date"] = table.date.where(table.date.ge(table.published), table.published)
    # Of several earlier prices, the last one was in force; of several regions the dearest counts.
    table = table.drop_duplicates(["workload", "hardware_id", "price_kind", "date"], keep="last")
    table["cost_usd"] = table.time_s * table.price / HOUR_S
    return table[COLUMNS].sort_values(COLUMNS[:5], kind="stable", ignore_index=True)


def measured_here(options: pd.DataFrame, runs: pd.DataFrame) -> pd.Series | None:
    """The cheapest option measured here, with the day of its newest run; None if there is none.

    Args:
        options, runs: one workload's rows of options.csv and runs.csv.
    """
    own = options[options.source_id.eq(OWN) & options.marginal_usd.gt(0)]
    if own.empty:
        return None
    best = own.loc[own.marginal_usd.idxmin()]
    matching = runs[runs.status.eq("ok") & _shares(runs, best, GROUP)]
    return pd.concat([best, pd.Series({"date": matching.date.max()})])


def change(base: pd.Series, base_price: float, option: pd.Series, options: pd.DataFrame) -> Change:
    """What made the difference between a published training and one of today's options.

    Args:
        base: the row of runs.csv that a workload's ratios are relative to.
        base_price: USD an hour for its machine then.
        option: a row of options.csv, measured here.
        options: all rows of the workload; the software of 2017 is looked up among them.
    """
    old = options[
        options.framework.eq(_SOFTWARE_OF_2017)
        & options.variant.eq("default")
        & _shares(options, option, _ALIKE)
        # What software gains is not to be seen where machines change with it.
        & (option.machines == 1)
    ]
    then = old.time_s.min() if len(old) else None
    return Change(
        price=option.price_per_hour_usd / base_price,
        hardware=then / base.time_s if then else None,
        software=option.time_s / then if then else None,
        both=option.time_s / base.time_s,
    )


def _shares(rows: pd.DataFrame, one: pd.Series, columns: list[str]) -> pd.Series:
    """Whether each row is like one in some columns; empty texts and missing values are alike."""
    wanted, there = one[columns].astype(object), rows[columns].astype(object)
    return there.where(there.notna(), "").eq(wanted.where(wanted.notna(), "")).all(axis=1)


def kinds_shown(table: pd.DataFrame) -> pd.DataFrame:
    """The rows without free offers, which do not fit on an axis of ratios."""
    return table[table.price_kind.ne(prices.FREE)]
