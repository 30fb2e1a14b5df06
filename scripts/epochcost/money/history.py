"""What training each workload cost in 2017 and costs now, and what changed it."""

from dataclasses import asdict, dataclass

import pandas as pd

from epochcost.money.elsewhere import ESTIMATED
from epochcost.money.prices import INTERRUPTIBLE
from epochcost.results.rows import OWN

# The software of 2017, where it was run here too.
_SOFTWARE_OF_2017 = "keras2-tensorflow1"
# What its time and that of today's software must share to say what the software gained.
_ALIKE = ["predicted", "hardware_id", "machine", "vcpus", "data_id", "train_samples"]
# What a row takes from the option that it is about.
_OPTION = ["hardware_id", "hardware_label", "machine_id", "framework", "variant", "source_id",
           "evidence", "predicted", "price_kind", "price_date"]  # fmt: skip
COLUMNS = ["workload", "then_label", "then_book", "then_usd", *_OPTION, "now_usd",
           "price", "hardware", "software", "both", "whole"]  # fmt: skip


@dataclass(frozen=True)
class Change:
    """What a training costs now over what it cost then, as factors whose product is the whole.

    price: an hour of today's machine over an hour of the old one. hardware: time on today's machine
    over that on the old one, with the old software. software: time with today's software over that
    with the old, on today's machine. Where the old software was not run there, the two are one
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


def history_table(
    runs: pd.DataFrame, options: pd.DataFrame, baselines: pd.DataFrame
) -> pd.DataFrame:
    """history.csv: a row per workload; its baseline at the price of then, its cheapest option now.

    That is the cheapest measured one; where none has a price, the cheapest estimated one. What is
    only context (`options.context`) cannot be had now. Both costs are marginal. An option that can
    be interrupted is not like the baseline and left out.

    Args:
        runs, options: runs.csv and options.csv.
        baselines: baselines.csv; its rows that hold for every study.
    """
    found = []
    for base in baselines[baselines.scope.eq("all")].itertuples():
        of_workload = options[options.workload.eq(base.workload)]
        then = runs[runs.run_id.eq(base.run_id)].iloc[0]
        row = {
            "workload": base.workload,
            "then_label": then.hardware_label,
            "then_book": base.price_book,
            "then_usd": then.time_s * base.price_per_hour_usd / 3600,
        }
        now = cheapest(of_workload)
        if now is not None:
            factors = change(then, base.price_per_hour_usd, now, of_workload)
            row |= now[_OPTION].to_dict() | {"now_usd": now.marginal_usd}
            row |= asdict(factors) | {"whole": factors.whole}
        found.append(row)
    return pd.DataFrame(found).reindex(columns=COLUMNS)


def cheapest(options: pd.DataFrame) -> pd.Series | None:
    """The cheapest option measured here, else by others, else estimated; None if none has a price.

    Args:
        options: one workload's rows of options.csv.
    """
    priced = options[options.marginal_usd.gt(0) & ~options.price_kind.isin(list(INTERRUPTIBLE))]
    priced = priced[priced.context.fillna("").eq("")]
    known = priced[priced.evidence.ne(ESTIMATED)]
    own = known[known.source_id.eq(OWN)]
    among = next((rows for rows in (own, known) if len(rows)), priced)
    return among.loc[among.marginal_usd.idxmin()] if len(among) else None


def change(base: pd.Series, base_price: float, option: pd.Series, options: pd.DataFrame) -> Change:
    """What made the difference between a published training and one of today's options.

    Args:
        base: the row of runs.csv that a workload's ratios are relative to.
        base_price: USD an hour for its machine then.
        option: a row of options.csv.
        options: all rows of the workload; the software of 2017 is looked up among them.
    """
    then = _with_old_software(base, option, options)
    return Change(
        price=option.price_per_hour_usd / base_price,
        hardware=then / base.time_s if then else None,
        software=option.time_s / then if then else None,
        both=option.time_s / base.time_s,
    )


def _with_old_software(base: pd.Series, option: pd.Series, options: pd.DataFrame) -> float | None:
    """Seconds that the training took on the option's machine with the software of the base."""
    if (option.source_id, option.framework) == (base.source_id, base.framework):
        return option.time_s
    old = options[
        options.framework.eq(_SOFTWARE_OF_2017)
        & options.variant.eq("default")
        & _shares(options, option, _ALIKE)
        # What software gains is not to be seen where machines change with it.
        & (option.machines == 1)
    ]
    return old.time_s.min() if len(old) else None


def _shares(rows: pd.DataFrame, one: pd.Series, columns: list[str]) -> pd.Series:
    """Whether each row is like one in some columns; empty texts and missing values are alike."""
    wanted, there = one[columns].astype(object), rows[columns].astype(object)
    return there.where(there.notna(), "").eq(wanted.where(wanted.notna(), "")).all(axis=1)
