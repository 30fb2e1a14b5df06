"""The prices that an analysis uses, and the command-line options that choose them."""

import argparse
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

from epochcost.hardware import LOCAL
from epochcost.money import billing, prices
from epochcost.money.billing import Rental
from epochcost.money.prices import Price

# For how long after its day a price is assumed to hold.
PRICE_HOLDS = timedelta(days=2 * 365)
# The name of the price that the configuration gives to the machine at hand.
CONFIGURED_BOOK = "config"


@dataclass(frozen=True)
class Market:
    """All known prices, and those that own runs are priced with.

    known: the price files of the repository.
    book: the price book of own runs: a month, a day, `latest`, or the name of a file.
    offers: the prices that `book` is taken from: `known`, or those of the file.
    rental: what is paid for besides a training's process.
    local: the price of the machine at hand; None if unknown.
    machine_id: the machine at hand, the only one with that price.
    catalogue: config/hardware.yaml, for the dates since which hardware can no longer be rented.
    published: the prices of the studies, at which published runs are priced by their month,
        whatever is added to `known` for own runs; None where that holds no others.
    """

    known: list[Price]
    book: str = prices.LATEST
    offers: list[Price] | None = None
    rental: Rental = field(default_factory=Rental)
    local: Price | None = None
    machine_id: str = ""
    catalogue: dict[str, dict] = field(default_factory=dict)
    published: list[Price] | None = None

    def current(self) -> list[Price]:
        """The prices of the book that are recent enough to rely on, and that one can buy at.

        Those of the user's own file always count, however old they are.
        """
        newest = [
            price for price in prices.in_book(self._offers, self.book) if not price.unavailable
        ]
        if self.offers is not None:
            return newest
        dates = [price.as_of for price in newest if price.as_of]
        day = prices.day_of(self.book) or max(dates, default=date.max)
        return [
            price for price in newest if price.as_of is None or day - price.as_of <= PRICE_HOLDS
        ]

    @property
    def name(self) -> str:
        """The book's name: for `latest`, the month of the newest price."""
        return prices.name_of(self._offers, self.book)

    @property
    def _offers(self) -> list[Price]:
        return self.known if self.offers is None else self.offers

    def of_month(self, month: str) -> list[Price]:
        """The prices of published runs of a month."""
        return prices.in_book(self.known if self.published is None else self.published, month)

    def available(self) -> list[Price]:
        """The current prices of hardware that can be rented at the time of the book."""
        day = prices.day_of(self.book) or date.today()
        gone = {hardware for hardware, since in self.retired().items() if since <= day}
        return [price for price in self.current() if price.hardware_id not in gone]

    def retired(self) -> dict[str, date]:
        """Since when hardware can no longer be rented, by the catalogue or its prices."""
        said = [
            (name, date.fromisoformat(entry["retired"]))
            for name, entry in self.catalogue.items()
            if "retired" in entry
        ]
        prices_of = [*self.known, *self._offers]
        said += [(price.hardware_id, price.retired) for price in prices_of if price.retired]
        return {name: min(day for other, day in said if other == name) for name, _ in said}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `of` reads to a script."""
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    parser.add_argument("--prices", type=Path, nargs="*", default=[Path("config/prices.csv")])
    parser.add_argument(
        "--price-book",
        default=prices.LATEST,
        help="latest, a month (2017-12), a day, or a price file of one's own",
    )
    parser.add_argument("--local-price", type=billing.amount, help="USD an hour of `local`")
    parser.add_argument("--local-price-kind", choices=prices.kinds(), default=prices.ON_DEMAND)
    parser.add_argument("--machine", help="the machine with that price; default: this one")
    parser.add_argument(
        "--rental",
        type=billing.rental_of,
        default=Rental(),
        help="what is billed beside the process: boot_s=90,disk_gib=10,... (`billing` of config)",
    )
    parser.add_argument(
        "--exchange-rates", type=billing.assignments, default={}, help="USD for one: EUR=1.15"
    )


def of(arguments: argparse.Namespace, machine_id: str, catalogue: dict[str, dict]) -> Market:
    """The market that a script's options describe.

    Args:
        machine_id: the machine at hand, where the options name none.
        catalogue: config/hardware.yaml.

    Raises:
        InputError: a price file or the name of the book is invalid.
    """
    rates = arguments.exchange_rates
    book = prices.check_book(arguments.price_book)
    local = None
    if arguments.local_price is not None:
        kind = arguments.local_price_kind
        whole = prices.months(kind)
        local = Price(
            LOCAL, arguments.local_price, kind, None, CONFIGURED_BOOK,
            increment_s=whole, minimum_s=whole,
        )  # fmt: skip
    of_studies = arguments.published / "prices.csv"
    known = prices.load(of_studies, *arguments.prices, rates=rates)
    offers = None
    if prices.is_file(book):
        hardware = {price.hardware_id for price in known}.union(catalogue)
        offers = prices.of_file(Path(book), rates, hardware)
    return Market(
        known=known,
        book=book,
        offers=offers,
        rental=arguments.rental,
        local=local,
        machine_id=arguments.machine or machine_id,
        catalogue=catalogue,
        published=prices.load(of_studies, rates=rates),
    )
