"""The prices that an analysis uses."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

from epochcost.hardware import LOCAL
from epochcost.money import billing, prices
from epochcost.money.billing import Rental
from epochcost.money.prices import Price
from epochcost.settings import Settings

PRICES = Path("config/prices.csv")

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


def of(settings: Settings, machine_id: str, catalogue: dict[str, dict], published: Path) -> Market:
    """The market that the configuration describes.

    Args:
        settings: the keys of a command that calculates with prices.
        machine_id: the machine at hand.
        catalogue: config/hardware.yaml.
        published: the folder of the studies' prices.

    Raises:
        InputError: a price file or the name of the book is invalid.
    """
    rates, book = settings.exchange_rates, prices.check_book(settings.price_book)
    of_studies = published / "prices.csv"
    known = prices.load(of_studies, PRICES, rates=rates)
    offers = None
    if prices.is_file(book):
        hardware = {price.hardware_id for price in known}.union(catalogue)
        offers = prices.of_file(Path(book), rates, hardware)
    return Market(
        known=known,
        book=book,
        offers=offers,
        rental=Rental(**dict(settings.billing)),
        local=_local(settings),
        machine_id=machine_id,
        catalogue=catalogue,
        published=prices.load(of_studies, rates=rates),
    )


def _local(settings: Settings) -> Price | None:
    """The configured price of the machine at hand; None if it is unknown."""
    hourly, kind = settings.price.per_hour_usd, settings.price.kind
    if settings.owned:
        hourly, kind = prices.Owned(**settings.owned).per_hour_usd(), billing.OWNED
    if hourly is None:
        return None
    whole = prices.months(kind)
    return Price(LOCAL, hourly, kind, None, CONFIGURED_BOOK, increment_s=whole, minimum_s=whole)
