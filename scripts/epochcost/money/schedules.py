"""The monthly cost of measuring on a schedule, with a machine that is started and stopped."""

from dataclasses import dataclass

from epochcost.money import billing

_DAYS = 30


@dataclass(frozen=True)
class Rates:
    """Prices around a scheduled machine, in USD.

    disk_usd_per_gib_month: kept all month, even while the machine is off.
    rule_usd_per_month: a rule of the scheduler.
    function_usd_per_100_ms: of a function that starts or stops the machine.
    """

    disk_usd_per_gib_month: float
    rule_usd_per_month: float
    function_usd_per_100_ms: float


# As the post of November 2018 states them.
RATES_2018 = Rates(0.04, 0.10, 0.000000463)


@dataclass(frozen=True)
class Visits:
    """How often, and how long each time.

    up_s: seconds that the machine is up.
    function_s: seconds of all functions of one cycle; 0 for a machine that the scheduler starts
        itself.
    rules: of the scheduler: one that starts, and one that stops.
    """

    every_hours: float
    up_s: float
    function_s: float = 0.0
    rules: int = 2
    disk_gib: float = 10.0

    @property
    def cycles(self) -> float:
        """Cycles in a month of 30 days."""
        return _DAYS * 24 / self.every_hours


def monthly_bill(visits: Visits, terms: billing.Terms, rates: Rates) -> dict[str, float]:
    """USD per month by part: machine, disk, scheduler, functions, and a fee if there is one."""
    # Each cycle is charged by itself, but no month has more than its hours.
    up_s = min(visits.cycles * billing.charged_seconds(visits.up_s, terms), billing.MONTH_S)
    functions = visits.function_s * 10 * rates.function_usd_per_100_ms
    fee = {"fee": terms.monthly_fee_usd} if terms.monthly_fee_usd else {}
    return {
        "machine": up_s * terms.price_per_hour_usd / billing.HOUR_S,
        "disk": visits.disk_gib * rates.disk_usd_per_gib_month,
        "scheduler": visits.rules * rates.rule_usd_per_month,
        "functions": visits.cycles * functions,
        **fee,
    }


def always_up_usd(terms: billing.Terms) -> float:
    """USD per month of a machine that is never stopped."""
    monthly = terms.increment_s >= billing.MONTH_S
    hours = billing.MONTH_S / billing.HOUR_S if monthly else billing.MONTH_H
    return hours * terms.price_per_hour_usd + terms.monthly_fee_usd
