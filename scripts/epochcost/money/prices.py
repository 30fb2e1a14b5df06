"""The price book: dated prices, and those in force at a given time."""

import calendar
import math
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from epochcost import files, schemas, sheets
from epochcost.errors import InputError, nearest
from epochcost.hardware import LOCAL
from epochcost.money import billing_rules
from epochcost.money.billing import MONTH_S, Terms
from epochcost.money.billing_rules import Rule

LATEST = "latest"
USD = "USD"
ON_DEMAND, MONTHLY, FREE = "on_demand", "monthly", "free"
# Prices of machines that the provider may reclaim at any time.
INTERRUPTIBLE = ("spot", "preemptible")
_SCHEMA = schemas.FOLDER / "prices.schema.json"
_BOOK = re.compile(r"20\d\d-(0[1-9]|1[0-2])(-\d\d)?")
_AMOUNT = re.compile(r"\d+(?:\.\d+)?$")


@dataclass(frozen=True)
class Price:
    """What an hour of hardware costs: one row of a price file, or (undated) the user's own.

    increment_s, minimum_s: billed time is rounded up to the first and is at least the second;
        None where unknown. As `load` reads them, they are what the row itself states; in a book
        (`in_book`), they are the rule of that time where the row states none.
    monthly_fee_usd: paid for each month begun, whatever the hours.
    retired: the date from which the hardware could no longer be rented.
    unavailable: why nobody can buy it like this; empty where one can.
    rules: those that its provider bills it by, of all times.
    """

    hardware_id: str
    price_per_hour_usd: float
    price_kind: str
    as_of: date | None
    source_id: str
    region: str = ""
    increment_s: float | None = None
    minimum_s: float | None = None
    monthly_fee_usd: float = 0.0
    retired: date | None = None
    unavailable: str = ""
    rules: tuple[Rule, ...] = ()

    def on(self, day: date) -> "Price":
        """The price with the billing rule of a day, unless it states its own."""
        rule = billing_rules.in_force(self.rules, day)
        if rule is None or (self.increment_s, self.minimum_s) != (None, None):
            return self
        return replace(self, increment_s=rule.increment_s, minimum_s=rule.minimum_s)

    @property
    def terms(self) -> Terms:
        """Its billing terms."""
        increment, minimum = (
            math.nan if value is None else value for value in (self.increment_s, self.minimum_s)
        )
        return Terms(self.price_per_hour_usd, increment, minimum, self.monthly_fee_usd)


@dataclass(frozen=True)
class Owned:
    """A machine that was bought: what an hour of its use costs.

    used_hours_per_day: the purchase is spread over these; an idle machine is expensive.
    """

    purchase_usd: float
    years: float
    used_hours_per_day: float
    watts: float
    usd_per_kwh: float

    def per_hour_usd(self) -> float:
        """The purchase over the hours of its life, plus electricity."""
        hours = self.years * 365.25 * self.used_hours_per_day
        return self.purchase_usd / hours + self.watts / 1000 * self.usd_per_kwh


def kinds() -> list[str]:
    """The kinds of price that the schema allows."""
    return files.read_json(_SCHEMA)["properties"]["price_kind"]["enum"]


def load(
    *paths: Path,
    rates: Mapping[str, float] | None = None,
    today: date | None = None,
    billed_by: Sequence[Rule] | None = None,
) -> list[Price]:
    """Read price files and check them against the schema and each other.

    Rows without a price are left out: an unknown price is unknown, not 0. But what they say of
    retired hardware counts.

    Args:
        rates: USD for one unit of each other currency (`exchange_rates` of config.yaml).
        today: no price may be dated after the next day; default: the day of the call (UTC).
        billed_by: the billing rules of all providers; default: those of config/billing.csv.

    Raises:
        InputError: names the file, the line and the column of what is invalid.
    """
    rates = dict(rates or {}) | {USD: 1.0}
    billed_by = billing_rules.load() if billed_by is None else billed_by
    rows = [found for path in paths for found in sheets.read(path, _SCHEMA)]
    for where, row in rows:
        _check_row(row, where, rates, today or _today())
    _check_together(rows, rates)
    retired: dict[str, date] = {}
    for _, row in rows:
        if row.get("retired"):
            day, name = date.fromisoformat(row["retired"]), row["hardware_id"]
            retired[name] = min(day, retired.get(name, day))
    return [
        _price(row, rates, retired, billed_by)
        for _, row in rows
        if row["price_per_hour"] is not None
    ]


def of_file(path: Path, rates: Mapping[str, float], known: Collection[str]) -> list[Price]:
    """The prices of the user's own file, checked (`load`).

    Args:
        known: the ids of all known hardware.

    Raises:
        InputError: it holds no price, or one of unknown hardware.
    """
    found = load(path, rates=rates)
    if not found:
        raise InputError(f"{path} holds no price")
    for price in found:
        if price.hardware_id not in known:
            hint = nearest(price.hardware_id, known)
            raise InputError(f"{path}: unknown hardware '{price.hardware_id}'; {hint}")
    return found


def addable(
    rows: Sequence[dict[str, str]],
    added: Sequence[dict[str, str]],
    rates: Mapping[str, float] | None = None,
) -> tuple[list[dict[str, str]], list[str]]:
    """Of new rows those that a price file can take, and why it cannot take the others.

    A row is checked by itself and against those of the same hardware, so that an odd one costs no
    other its place.

    Args:
        rows: of the price file, as text; they are sound (`load`).
        rates: as for `load`.
    """
    rates = dict(rates or {}) | {USD: 1.0}
    beside = defaultdict(list)
    for row in rows:
        beside[row["hardware_id"]].append(("the price file", sheets.typed(row, _SCHEMA)))
    kept, refused = [], []
    # Interruptible prices are held against on-demand ones, so those come first.
    for row in sorted(added, key=lambda row: row["price_kind"] in INTERRUPTIBLE):
        where, found = f"{row['hardware_id']}, {row['price_kind']}", sheets.typed(row, _SCHEMA)
        others = beside[row["hardware_id"]]
        try:
            schemas.check(found, _SCHEMA, where)
            _check_row(found, where, rates, _today())
            _check_together([*others, (where, found)], rates)
        except InputError as error:
            refused.append(f"{error}; not taken")
            continue
        others.append((where, found))
        kept.append(row)
    return kept, refused


def in_book(prices: Sequence[Price], book: str) -> list[Price]:
    """The newest price of each hardware and kind that was known at the end of a day or month.

    Where hardware has prices for several regions on the same date, the highest counts. They are
    billed by the rules of the book's last day; `latest`, and the user's own file, by today's.

    Args:
        book: `YYYY-MM`, `YYYY-MM-DD`, or `latest`; for the user's own file all count, too.
    """
    newest: dict[tuple[str, str], Price] = {}
    for price in prices:
        if _BOOK.fullmatch(book) and _day(price)[: len(book)] > book:
            continue
        key = (price.hardware_id, price.price_kind)
        known = newest.get(key)
        rank = (_day(price), price.price_per_hour_usd)
        if known is None or rank > (_day(known), known.price_per_hour_usd):
            newest[key] = price
    day = day_of(book) or _today()
    return [price.on(day) for price in newest.values()]


def name_of(prices: Sequence[Price], book: str) -> str:
    """For `latest`, the month of the newest price; other books already have a name."""
    if book != LATEST:
        return book
    return max((_day(price)[:7] for price in prices), default="")


def check_book(book: str) -> str:
    """The book if it is valid: `latest`, a month, a day, or the user's own price file."""
    try:
        day_of(book)
    except ValueError:
        raise InputError(f"'{book}' is not a price book: there is no such day") from None
    tomorrow = _today() + timedelta(days=1)  # which is today somewhere
    if _BOOK.fullmatch(book) and book > tomorrow.isoformat()[: len(book)]:
        raise InputError(f"'{book}' is not a price book: nobody knows the prices of that time yet")
    if book == LATEST or _BOOK.fullmatch(book) or Path(book).is_file():
        return book
    raise InputError(
        f"'{book}' is not a price book: {LATEST}, a month (2017-12), a day (2017-12-17), "
        "or a price file that is there"
    )


def is_file(book: str) -> bool:
    """Whether a book is the user's own file."""
    return book != LATEST and not _BOOK.fullmatch(book)


def day_of(book: str) -> date | None:
    """The last day that a book covers; None for `latest` and for files."""
    if not _BOOK.fullmatch(book):
        return None
    if len(book) == len("2017-12"):
        year, month = int(book[:4]), int(book[5:])
        return date(year, month, calendar.monthrange(year, month)[1])
    return date.fromisoformat(book)


def months(kind: str) -> float | None:
    """What a kind of price is billed by unless stated otherwise: monthly ones by whole months."""
    return MONTH_S if kind == MONTHLY else None


def _day(price: Price) -> str:
    return price.as_of.isoformat() if price.as_of else ""


def _today() -> date:
    return datetime.now(UTC).date()


def _check_row(row: dict[str, Any], where: str, rates: Mapping[str, float], today: date) -> None:
    """Check what the schema cannot express about one row."""
    price, kind = row["price_per_hour"], row["price_kind"]
    if row["hardware_id"] == LOCAL:
        raise InputError(
            f"{where}, hardware_id: {LOCAL} is whichever machine trains; of this one give --config "
            "price=0.10, of others name the hardware (config/hardware.yaml)"
        )
    if row["currency"] not in rates:
        raise InputError(
            f"{where}, currency: no exchange rate for '{row['currency']}'; "
            f"{nearest(row['currency'], rates)}; others: exchange_rates in config.yaml"
        )
    if date.fromisoformat(row["as_of"]) > today + timedelta(days=1):  # it is tomorrow somewhere
        raise InputError(f"{where}, as_of: {row['as_of']} is in the future")
    if price is not None and (price == 0) != (kind == FREE):
        raise InputError(
            f"{where}, price_per_hour: 0 and the kind '{FREE}' go together; "
            "leave an unknown price empty"
        )
    billing_rules.check(row.get("billing_increment_s"), row.get("minimum_charge_s"), where)
    if row.get("parts") and price is not None:
        amounts = [_AMOUNT.search(part.strip()) for part in row["parts"].split(" + ")]
        total = sum(float(amount[0]) if amount else math.nan for amount in amounts)
        if not math.isclose(total, price, rel_tol=1e-6):
            raise InputError(f"{where}, parts: they add up to {total:g}, not to {price:g}")


def _check_together(rows: list[tuple[str, dict[str, Any]]], rates: Mapping[str, float]) -> None:
    """Refuse a row given twice, and an interruptible price above the on-demand one."""
    seen: dict[tuple, tuple[str, float | None]] = {}
    for where, row in rows:
        key = (row["hardware_id"], row.get("region"), row["as_of"], row["price_kind"])
        if key in seen:
            raise InputError(
                f"{where}, hardware_id: the {row['price_kind']} price of {row['hardware_id']} "
                f"of {row['as_of']} is given already ({seen[key][0]})"
            )
        price = row["price_per_hour"]
        seen[key] = where, price if price is None else price * rates[row["currency"]]
    for (hardware, region, day, kind), (where, price) in seen.items():
        if kind not in INTERRUPTIBLE or price is None:
            continue
        dated = [
            (other_day, other)
            for (*place, other_day, other_kind), (_, other) in seen.items()
            if place == [hardware, region]
            and (other_kind, other_day <= day) == (ON_DEMAND, True)
            and other is not None
        ]
        in_force = max(dated, default=(day, price))[1]
        if price > in_force:
            raise InputError(
                f"{where}, price_per_hour: the {kind} price {price:g} is above the on-demand "
                f"price {in_force:g}"
            )


def _price(
    row: dict[str, Any],
    rates: Mapping[str, float],
    retired: Mapping[str, date],
    billed_by: Sequence[Rule],
) -> Price:
    rate = rates[row["currency"]]
    named = (row.get("provider") or "", row.get("instance") or "", row["price_kind"])
    return Price(
        hardware_id=row["hardware_id"],
        price_per_hour_usd=row["price_per_hour"] * rate,
        price_kind=row["price_kind"],
        as_of=date.fromisoformat(row["as_of"]),
        source_id=row["source_id"],
        region=row.get("region") or "",
        increment_s=_stated(row, "billing_increment_s"),
        minimum_s=_stated(row, "minimum_charge_s"),
        monthly_fee_usd=(row.get("monthly_fee") or 0.0) * rate,
        retired=retired.get(row["hardware_id"]),
        unavailable=row.get("unavailable") or "",
        rules=tuple(rule for rule in billed_by if rule.is_for(*named)),
    )


def _stated(row: dict[str, Any], column: str) -> float | None:
    """What a row says of the increment or minimum by which it is billed; 0 is none at all."""
    value = row.get(column)
    return months(row["price_kind"]) if value is None else value
