"""Billing rules: how providers round the time that they bill, and since when.

They change on other days than prices do, so they have a file of their own, `config/billing.csv`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path

from epochcost import schemas, sheets
from epochcost.errors import InputError

SHIPPED = schemas.FOLDER.parent / "billing.csv"
# Below it, counting increments would overflow.
_LEAST_S = 0.001
_SCHEMA = schemas.FOLDER / "billing.schema.json"


@dataclass(frozen=True)
class Rule:
    """What a provider's billed time is rounded up to, from a day on.

    instance: a pattern of the instances that it is for; empty for all.
    price_kind: the kind of price that it is for; empty for all.
    since: its first day, or the day of its source where that is not known.
    increment_s, minimum_s: None where not known.
    """

    provider: str
    instance: str
    price_kind: str
    since: date
    increment_s: float | None
    minimum_s: float | None

    @property
    def rank(self) -> tuple[bool, bool, date]:
        """The narrower of two rules goes before the other, then the newer one."""
        return bool(self.instance), bool(self.price_kind), self.since

    def is_for(self, provider: str, instance: str, price_kind: str) -> bool:
        """Whether a price is billed by it."""
        return (
            self.provider == provider
            and fnmatchcase(instance, self.instance or "*")
            and self.price_kind in ("", price_kind)
        )


def load(path: Path = SHIPPED) -> list[Rule]:
    """Read billing rules and check them.

    Raises:
        InputError: names the file, the line and the column of what is invalid.
    """
    seen: dict[tuple, str] = {}
    found = []
    for where, row in sheets.read(path, _SCHEMA):
        rule = Rule(
            row["provider"],
            row.get("instance") or "",
            row.get("price_kind") or "",
            date.fromisoformat(row["since"]),
            row["billing_increment_s"],
            row["minimum_charge_s"],
        )
        check(rule.increment_s, rule.minimum_s, where)
        key = (rule.provider, rule.instance, rule.price_kind, rule.since)
        if key in seen:
            raise InputError(
                f"{where}, since: the rule of {rule.provider} of {rule.since} is given already "
                f"({seen[key]})"
            )
        seen[key] = where
        found.append(rule)
    return found


def check(increment: float | None, minimum: float | None, where: str) -> None:
    """Refuse a minimum charge below the increment, and an increment that nobody can bill by."""
    if increment and increment < _LEAST_S:
        raise InputError(f"{where}, billing_increment_s: {increment:g} is less than a millisecond")
    if increment and minimum is not None and minimum < increment:
        raise InputError(
            f"{where}, minimum_charge_s: {minimum:g} is below the increment {increment:g}"
        )


def in_force(rules: Iterable[Rule], day: date) -> Rule | None:
    """The rule of a day, of those that a price can be billed by."""
    return max(
        (rule for rule in rules if rule.since <= day), key=lambda one: one.rank, default=None
    )
