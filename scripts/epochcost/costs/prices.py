"""The price book: dated prices, and the one that held at a time."""

import csv
import math
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from epochcost.errors import InputError, nearest

KINDS = ("on_demand", "spot", "preemptible", "reserved", "monthly_prorated", "owned", "free")
LATEST = "latest"
_COLUMNS = ("hardware_id", "price_per_hour_usd", "price_kind", "as_of", "source_id")


@dataclass(frozen=True)
class Price:
    """What an hour of a hardware cost: one row of a price file, or (undated) the user's own."""

    hardware_id: str
    price_per_hour_usd: float
    price_kind: str
    as_of: date | None
    source_id: str


def load(*paths: Path) -> list[Price]:
    """Read price files.

    Rows without a price are left out: an unknown price is unknown, not 0.

    Raises:
        InputError: a column is missing, or a value cannot be; file, line and column are named.
    """
    prices = []
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            for column in _COLUMNS:
                if column not in (reader.fieldnames or ()):
                    raise InputError(f"{path}: the column '{column}' is missing")
            for row in reader:
                where = f"{path}, line {reader.line_num}"
                if None in row or None in row.values():
                    raise InputError(f"{where}: not as many values as columns")
                if row["price_per_hour_usd"]:
                    prices.append(_price(row, where))
    return prices


def in_book(prices: list[Price], book: str) -> list[Price]:
    """The newest price of each hardware and kind that was known at the end of a month.

    Where several rows have the same date (the ends of a stated range), the highest counts.

    Args:
        book: `YYYY-MM`, or `latest`.
    """
    newest: dict[tuple[str, str], Price] = {}
    for price in prices:
        if book != LATEST and price.as_of.isoformat()[:7] > book:
            continue
        key = (price.hardware_id, price.price_kind)
        known = newest.get(key)
        rank = (price.as_of, price.price_per_hour_usd)
        if known is None or rank > (known.as_of, known.price_per_hour_usd):
            newest[key] = price
    return list(newest.values())


def name_of(prices: list[Price], book: str) -> str:
    """`latest` as the month of the newest price; other books are named already."""
    if book != LATEST:
        return book
    return max((price.as_of for price in prices), default=date.min).isoformat()[:7]


def _price(row: dict[str, str], where: str) -> Price:
    return Price(
        hardware_id=row["hardware_id"],
        price_per_hour_usd=_amount(row["price_per_hour_usd"], f"{where}, price_per_hour_usd"),
        price_kind=_kind(row["price_kind"], f"{where}, price_kind"),
        as_of=_date(row["as_of"], f"{where}, as_of"),
        source_id=row["source_id"],
    )


def _amount(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{where}: '{text}' is not a number") from None
    if not math.isfinite(value) or value < 0:
        raise InputError(f"{where}: {text} cannot be a price")
    return value


def _kind(text: str, where: str) -> str:
    if text not in KINDS:
        raise InputError(f"{where}: unknown kind '{text}'; {nearest(text, KINDS)}")
    return text


def _date(text: str, where: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(f"{where}: '{text}' is not a date (YYYY-MM-DD)") from None
