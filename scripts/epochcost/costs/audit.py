"""The audit: what the published studies say, recomputed from their own measurements and prices.

Claims are data (data/published/claims.yaml). Each names one of the checks below and its arguments.
A check returns its finding in words, and whether the claim holds; None where nothing can tell.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from epochcost.costs import billing, prices, schedules
from epochcost.costs.prices import Price
from epochcost.costs.tables import price_frame
from epochcost.errors import InputError, nearest

AGREES, BY_CONSTRUCTION, DISAGREES, UNKNOWN = (
    "agrees", "agrees by construction", "disagrees", "cannot be checked",
)  # fmt: skip
COLUMNS = ["source_id", "claim", "published", "recomputed", "verdict", "why"]
COST_COLUMNS = [
    "source_id",
    "run_id",
    "workload",
    "hardware_id",
    "time_s",
    "price_per_hour_usd",
    "billing_increment_s",
    "minimum_charge_s",
    "printed_usd",
    "prorated_usd",
    "billed_usd",
    "verdict",
]
# `about` is for claims of two digits or fewer.
_ABOUT = 0.06


@dataclass(frozen=True)
class Study:
    """What claims are checked against.

    runs: published rows of runs.csv, including single epochs and statements.
    printed: data/published/measurements.csv as text, by run_id: what the sources printed.
    known: the price files.
    """

    runs: pd.DataFrame
    printed: pd.DataFrame
    known: list[Price]


def audit_table(claims: list[dict[str, Any]], study: Study) -> pd.DataFrame:
    """audit.csv: a row per claim."""
    rows = []
    for claim in claims:
        name = claim.get("check", "")
        check = CHECKS.get(name)
        if check is None:
            raise InputError(f"claims.yaml: unknown check '{name}'; {nearest(name, CHECKS)}")
        try:
            found, holds = check(claim, study)
        except (KeyError, ValueError) as error:
            raise InputError(f"claims.yaml: {claim['claim']} cannot be checked: {error}") from None
        verdict = {True: AGREES, False: DISAGREES, None: UNKNOWN}[holds]
        if holds and claim.get("construction"):
            verdict = BY_CONSTRUCTION
        rows.append(
            [claim["source"], claim["claim"], claim["published"], found, verdict, claim.get("why")]
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def costs_table(claims: list[dict[str, Any]], study: Study) -> pd.DataFrame:
    """audit_costs.csv: each cost as printed, prorated, and by the billing rules then in force."""
    tables = [
        _costs(claim, study)
        for claim in claims
        if claim["check"] == "printed" and claim["quantity"] == "cost"
    ]
    tables.append(_costs({"source": "woolf2017cpu"}, study))
    return pd.concat(tables, ignore_index=True)[COST_COLUMNS]


def counted(verdicts: pd.Series) -> str:
    """How many have each verdict, in words.

    Args:
        verdicts: counts by verdict.
    """
    many = {AGREES: "agree", BY_CONSTRUCTION: "agree by construction", DISAGREES: "disagree"}
    return ", ".join(f"{count} {many.get(name, name)}" for name, count in verdicts.items())


def _printed(claim: dict[str, Any], study: Study) -> tuple[str, bool]:
    """All values of one kind that a study printed, to the digits printed."""
    if claim["quantity"] == "cost":
        found = _costs(claim, study)
        counts = found.verdict.value_counts()
        return counted(counts), bool(found.verdict.ne(DISAGREES).all())
    values = _ratios_to_base(claim, study)
    good = [_same_digits(value, text) for value, text in values]
    return f"{sum(good)} of {len(good)} agree to their two decimals", all(good)


def _ratios_to_base(claim: dict[str, Any], study: Study) -> list[tuple[float, str]]:
    """Each run's ratio to the base of its study, and the ratio that was printed."""
    quantity = claim["quantity"].removesuffix("_relative")
    runs = _values({"of": {"source_id": claim["source"]}} | claim, "of", study, quantity)
    printed = study.printed[f"{quantity}_norm_published"]
    runs = runs[runs.run_id.isin(printed.index[printed.ne("")])]
    base = runs[runs.hardware_id.eq("gce-k80") & runs.framework.eq("keras-tensorflow")]
    over = runs.merge(base[["workload", "value"]], on="workload", suffixes=("", "_base"))
    return [(row.value / row.value_base, printed[row.run_id]) for row in over.itertuples()]


def _costs(claim: dict[str, Any], study: Study) -> pd.DataFrame:
    """The printed costs of a study, recomputed.

    A cost agrees if it does to the digits of the printed time and cost, prorated or billed.
    """
    runs = study.runs[study.runs.source_id.eq(claim["source"])]
    runs = runs.assign(printed=runs.run_id.map(study.printed.cost_usd_published))
    priced = _priced(runs[runs.printed.ne("")], study, {})
    apart = claim.get("time_digits_s", 0.0)
    verdicts, billed = [], []
    for row in priced.itertuples():
        bill = billing.bill_usd(row.time_s, billing.terms_of(row), billing.NOTHING)
        billed.append(bill)
        hours = [(row.time_s + off) / billing.HOUR_S for off in (-apart, 0, apart)]
        around = [hour * row.price_per_hour_usd for hour in hours]
        verdict = DISAGREES
        if _within_digits(around, row.printed) or _same_digits(bill, row.printed):
            verdict = AGREES
            if row.run_id in claim.get("by_construction", []):
                verdict = BY_CONSTRUCTION
        verdicts.append(verdict)
    return priced.assign(
        printed_usd=priced.printed.astype(float),
        prorated_usd=priced.time_s * priced.price_per_hour_usd / billing.HOUR_S,
        billed_usd=billed,
        verdict=verdicts,
    )


def _every(claim: dict[str, Any], study: Study) -> tuple[str, bool]:
    """Each value is less than all comparable others, by a factor if one is claimed."""
    pairs = _pairs(claim, study, "less_than")
    limit = 1 / claim.get("factor", 1)
    holds = pairs.ratio < limit
    words = f"{int(holds.sum())} of {len(pairs)} pairs"
    if not holds.all():
        words += f"; not {_named(pairs[~holds], claim)}"
    return words, bool(holds.all())


def _share(claim: dict[str, Any], study: Study) -> tuple[str, bool]:
    """A large enough share of the ratios of comparable runs is high enough."""
    pairs = _pairs(claim, study, "over")
    share = pairs.ratio.ge(claim["ratio_at_least"]).mean()
    return f"{share:.0%} of {len(pairs)} pairs", bool(share >= claim["at_least"])


def _ratios(claim: dict[str, Any], study: Study) -> tuple[str, bool]:
    """All ratios of comparable runs are within limits."""
    ratios = _pairs(claim, study, "over").ratio
    words = f"{ratios.min():.2f} to {ratios.max():.2f} over {len(ratios)} pairs"
    return words, all(_within(ratio, claim) for ratio in ratios)


def _ratio(claim: dict[str, Any], study: Study) -> tuple[str, bool]:
    """The ratio of two runs."""
    (one,), (other,) = (_values(claim, key, study).value for key in ("of", "over"))
    return f"{one / other:.2f}", _within(one / other, claim)


def _range(claim: dict[str, Any], study: Study) -> tuple[str, bool]:
    """A multiple of the values, in a unit, lies within two limits."""
    values = _values(claim, "of", study).value * claim["times"] / claim["unit_s"]
    low, high = claim["within"]
    return f"{values.min():.1f} to {values.max():.1f}", bool(values.between(low, high).all())


def _best(claim: dict[str, Any], study: Study) -> tuple[str, bool]:
    """In every workload, the best run is one that the claim names."""
    wins, losses = _winners(claim, study)
    words = f"in {len(wins)} of {len(wins) + len(losses)}"
    return words + (f"; not {', '.join(losses)}" if losses else ""), not losses


def _never_best(claim: dict[str, Any], study: Study) -> tuple[str, bool]:
    """In no workload is the best run one that the claim names."""
    wins, losses = _winners(claim, study)
    return f"in {len(wins)} of {len(wins) + len(losses)}", not wins


def _winners(claim: dict[str, Any], study: Study) -> tuple[list[str], list[str]]:
    named = set(_values(claim, "of", study).run_id)
    everything = _values(claim, "among", study)
    best = everything.loc[everything.groupby("workload").value.idxmin()]
    won = best.run_id.isin(named)
    return list(best.workload[won]), list(best.workload[~won])


def _price(claim: dict[str, Any], study: Study) -> tuple[str, bool]:
    """The ratio of two prices."""
    one, other = (_price_of(claim[key], study).price_per_hour_usd for key in ("of", "over"))
    return f"{one / other:.3f} ({one:g} over {other:g})", _within(one / other, claim)


def _price_is(claim: dict[str, Any], study: Study) -> tuple[str, bool]:
    """A price, or a multiple of it, is what was printed, to its last digit."""
    value = _price_of(claim["of"], study).price_per_hour_usd * claim.get("times", 1)
    return f"{value:g}", _same_digits(value, claim["published"])


def _price_of(wanted: dict[str, str], study: Study) -> Price:
    (price,) = (
        price
        for price in prices.in_book(study.known, str(wanted["book"]))
        if (price.hardware_id, price.price_kind) == (wanted["hardware_id"], wanted["price_kind"])
    )
    return price


def _quotient(claim: dict[str, Any], study: Study) -> tuple[str, bool]:
    """The quotient of two numbers that the source prints."""
    value = claim["of"] / claim["over"]
    return f"{value:.4g} ({claim['of']:g} over {claim['over']:g})", _within(value, claim)


def _copies(claim: dict[str, Any], study: Study) -> tuple[str, bool]:
    """No log is a copy of an older one."""
    runs = _chosen(study.runs, claim["of"])
    older = runs.run_id.map(study.printed.same_file_as).ne("")
    return f"{int(older.sum())} of {len(runs)} logs are older ones", not older.any()


def _scheduled(claim: dict[str, Any], study: Study) -> tuple[str, bool]:
    """The monthly bill of a scheduled task, at the prices and by the rules of the 2018 post.

    `minimum_s` is that of another time.
    """
    plan = schedules.Plan(
        every_hours=claim["every_hours"], up_s=claim["up_s"], function_s=claim["function_s"]
    )
    price = _price_of(
        {"hardware_id": "gce-n1-standard-1", "price_kind": "preemptible", "book": "2018-11"}, study
    )
    terms = replace(price, minimum_s=claim.get("minimum_s", price.minimum_s)).terms
    bill = schedules.monthly_bill(plan, terms, schedules.RATES_2018)
    total = sum(bill.values())
    parts = " + ".join(f"{value:.2f}" for value in bill.values())
    return f"{total:.2f} USD ({parts})", round(total, 2) == claim["about"]


def _none(claim: dict[str, Any], study: Study) -> tuple[str, None]:
    """Nothing published can tell."""
    return "", None


CHECKS: dict[str, Callable[[dict[str, Any], Study], tuple[str, bool | None]]] = {
    "printed": _printed,
    "every": _every,
    "share": _share,
    "ratios": _ratios,
    "ratio": _ratio,
    "range": _range,
    "best": _best,
    "never_best": _never_best,
    "price": _price,
    "price_is": _price_is,
    "quotient": _quotient,
    "copies": _copies,
    "scheduled": _scheduled,
    "none": _none,
}


def _values(
    claim: dict[str, Any], key: str, study: Study, quantity: str | None = None
) -> pd.DataFrame:
    """The runs that a part of a claim selects, with `value`: their time, or what they cost."""
    runs = _chosen(study.runs, claim[key])
    runs = runs[runs.time_s.notna()]
    if (quantity or claim["quantity"]) == "time":
        return runs.assign(value=runs.time_s)
    priced = _priced(runs, study, claim)
    return priced.assign(value=priced.time_s * priced.price_per_hour_usd / billing.HOUR_S)


def _priced(runs: pd.DataFrame, study: Study, claim: dict[str, Any]) -> pd.DataFrame:
    """Runs with the price that the claim names, or that their study states."""
    parts = []
    for month, group in runs.groupby(runs.date.str[:7], sort=True):
        book = str(claim.get("book", month))
        offers = price_frame(prices.in_book(study.known, book), book)
        if "price_kind" in claim:
            offers = offers[offers.price_kind.eq(claim["price_kind"])]
        else:  # on-demand where the study has both: it priced by that
            offers = offers.sort_values(
                "price_kind", key=lambda kind: kind.ne(prices.ON_DEMAND), kind="stable"
            ).drop_duplicates("hardware_id")
        parts.append(group.merge(offers, on="hardware_id"))
    return pd.concat(parts, ignore_index=True)


def _pairs(claim: dict[str, Any], study: Study, key: str) -> pd.DataFrame:
    """Each value paired with every comparable other, and their ratio."""
    pairs = _values(claim, "of", study).merge(
        _values(claim, key, study), on=claim["alike"], suffixes=("", "_other")
    )
    if pairs.empty:
        raise InputError(f"claims.yaml: nothing to compare for: {claim['claim']}")
    return pairs.assign(ratio=pairs.value / pairs.value_other)


def _chosen(runs: pd.DataFrame, wanted: dict[str, str | list[str]]) -> pd.DataFrame:
    """The runs whose columns have the wanted values; `*` stands for anything."""
    for name, patterns in wanted.items():
        patterns = [patterns] if isinstance(patterns, str) else patterns
        fits = [any(fnmatchcase(value, pattern) for pattern in patterns) for value in runs[name]]
        runs = runs.loc[pd.Series(fits, runs.index, dtype=bool)]
    if runs.empty:
        raise InputError(f"claims.yaml: no published run is {wanted}")
    return runs


def _named(pairs: pd.DataFrame, claim: dict[str, Any]) -> str:
    """Pairs by what tells them apart."""
    names = [name for name in ("workload", "hardware_id", "hardware_id_other") if name in pairs]
    return "; ".join(
        " ".join(dict.fromkeys(str(getattr(row, name)) for name in names))
        for row in pairs.drop_duplicates(names).itertuples()
    )


def _within(value: float, claim: dict[str, Any]) -> bool:
    if "about" in claim and abs(value / claim["about"] - 1) > _ABOUT:
        return False
    return claim.get("at_least", value) <= value <= claim.get("at_most", value)


def _same_digits(value: float, printed: str) -> bool:
    """Whether a value is what was printed, to its last digit (long ones: to a millionth)."""
    return _within_digits([value], printed)


def _within_digits(values: list[float], printed: str) -> bool:
    """Whether some number between the values would be printed like that."""
    digits = len(printed.partition(".")[2])
    half = max(0.5 * 10**-digits, 1e-6 * abs(float(printed))) * (1 + 1e-9)
    return min(values) - half <= float(printed) <= max(values) + half
