"""What a provider charges for a training: the bill's clock, not the training's.

marginal: seconds of training x price, as in the published studies. billed: all that is paid for
when a machine is rented for one training alone. Pure functions over numbers or columns of them.
"""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epochcost.durations import HOUR_S

if TYPE_CHECKING:  # Each start of Snakemake reads prices, and none needs a table for that.
    import pandas as pd

MARGINAL, BILLED = "marginal", "billed"
OWNED = "owned"  # the kind of price of a machine that was bought
KINDS = (MARGINAL, BILLED)
# What a bill is made of, in order.
PARTS = (
    "training",
    "start and end of the process",
    "boot and set-up",
    "idle",
    "rounding and minimum",
    "disk and fees",
)
# Providers that price storage by the month take it as 730 hours.
MONTH_H = 730.0
# A month that is billed whole has 30 days.
MONTH_S = 30 * 24 * HOUR_S
# So much of an increment is an error of rounding, and nothing that was used.
_ROUNDING = 1e-9

# What a row keeps of the price it was computed with.
PRICE_COLUMNS = [
    "price_book",
    "price_kind",
    "price_per_hour_usd",
    "price_date",
    "price_source",
    "price_region",
    "billing_increment_s",
    "minimum_charge_s",
    "monthly_fee_usd",
]


@dataclass(frozen=True)
class Terms:
    """A provider's billing terms; numbers, or columns of equal length.

    increment_s, minimum_s: charged time is rounded up to the first and is at least the second;
        NaN where unknown.
    monthly_fee_usd: paid for each month begun.
    """

    price_per_hour_usd: float | pd.Series
    increment_s: float | pd.Series = math.nan
    minimum_s: float | pd.Series = math.nan
    monthly_fee_usd: float | pd.Series = 0.0


def terms_of(row) -> Terms:
    """The terms of a row, or of rows, with the columns of `PRICE_COLUMNS`."""
    return Terms(
        row.price_per_hour_usd, row.billing_increment_s, row.minimum_charge_s, row.monthly_fee_usd
    )


@dataclass(frozen=True)
class Rental:
    """What is paid for besides the training's process; assumed in config.yaml, not measured.

    boot_s, environment_s, data_s: from the start of billing until a training can start.
    idle_s: from its end until the machine is released.
    disk_gib, disk_usd_per_gib_month: storage, for as long as the machine is rented.
    """

    boot_s: float = 0.0
    environment_s: float = 0.0
    data_s: float = 0.0
    idle_s: float = 0.0
    disk_gib: float = 0.0
    disk_usd_per_gib_month: float = 0.0

    @property
    def before_s(self) -> float:
        """Seconds from the start of billing until a training can start."""
        return self.boot_s + self.environment_s + self.data_s

    @property
    def seconds(self) -> float:
        """Seconds that are paid for besides the process."""
        return self.before_s + self.idle_s

    @property
    def disk_usd_per_hour(self) -> float:
        """What the storage costs per hour."""
        return self.disk_gib * self.disk_usd_per_gib_month / MONTH_H


NOTHING = Rental()


def besides(price_kind: str, rental: Rental) -> Rental:
    """What is paid for besides a training at a kind of price: a machine that is owned is there."""
    return NOTHING if price_kind == OWNED else rental


def amount(text: str) -> float:
    """A valid amount, for a command line."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ArgumentTypeError(f"{text} cannot be an amount")
    return value


def charged_seconds(seconds, terms: Terms):
    """Seconds that are charged for `seconds` of use.

    They are rounded up to whole increments and are at least the minimum; where the provider's
    rules are unknown (NaN) or there are none (0), seconds are charged as they are. What is not used
    is not charged.
    Numbers, or arrays of equal length.
    """
    seconds, increment, minimum = np.broadcast_arrays(
        *(np.asarray(value, float) for value in (seconds, terms.increment_s, terms.minimum_s))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.ceil(seconds / increment - _ROUNDING) * increment
    charged = np.where(increment > 0, np.maximum(whole, seconds), seconds)
    charged = np.fmax(charged, np.nan_to_num(minimum))
    charged = np.where(seconds > 0, charged, seconds)
    return charged if charged.ndim else float(charged)


def bill_usd(seconds, terms: Terms, rental: Rental):
    """What a rental for a process of `seconds` costs, with the rest of `rental`.

    Numbers, or arrays of equal length; NaN where the seconds or the price are.
    """
    charged = charged_seconds(np.asarray(seconds) + rental.seconds, terms)
    hourly = np.asarray(terms.price_per_hour_usd) + rental.disk_usd_per_hour
    return charged * hourly / HOUR_S + _fees_usd(charged, terms.monthly_fee_usd)


def bill_in_parts(
    training_s: float, overhead_s: float, terms: Terms, rental: Rental
) -> dict[str, tuple[float, float]]:
    """The same bill, itemised (`PARTS`): the seconds and the USD of each part.

    The USD add up to `bill_usd`, the seconds to those that are charged.
    """
    seconds = {
        "training": training_s,
        "start and end of the process": overhead_s,
        "boot and set-up": rental.before_s,
        "idle": rental.idle_s,
    }
    used = sum(seconds.values())
    charged = charged_seconds(used, terms)
    hourly = terms.price_per_hour_usd / HOUR_S
    parts = {name: (value, value * hourly) for name, value in seconds.items()}
    parts["rounding and minimum"] = (charged - used, (charged - used) * hourly)
    fees = charged * rental.disk_usd_per_hour / HOUR_S
    fees += float(_fees_usd(charged, terms.monthly_fee_usd))
    return parts | {"disk and fees": (0.0, fees)}


def _fees_usd(charged_s, monthly_fee_usd):
    """What is paid for each month begun."""
    return np.ceil(np.asarray(charged_s) / MONTH_S) * np.nan_to_num(monthly_fee_usd)


def cost_usd(rows: pd.DataFrame, seconds: pd.Series, rental: Rental) -> pd.Series:
    """The cost of each row, by its `cost_kind`, for its seconds of training.

    Args:
        rows: with the columns of `PRICE_COLUMNS`, `cost_kind` and `overhead_s`, the seconds of the
            process outside the training.
        rental: of machines that are rented (`besides`).
    """
    used, terms = seconds + rows.overhead_s.fillna(0.0), terms_of(rows)
    rented, owned = (bill_usd(used, terms, one) for one in (rental, NOTHING))
    billed = np.where(rows.price_kind.eq(OWNED), owned, rented)
    marginal = seconds * rows.price_per_hour_usd / HOUR_S
    return marginal.where(rows.cost_kind.ne(BILLED), billed)
