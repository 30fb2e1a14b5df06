"""The audit: what the published studies say, recomputed from their own measurements and prices.

Claims are data (claims.yaml). Each names one of the checks below and its arguments.
A check returns a `Finding`: what comes out, whether the claim holds, and the rows that decide it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from epochcost.errors import InputError, nearest
from epochcost.money import billing, prices, schedules
from epochcost.money.prices import Price
from epochcost.money.tables import price_frame

AGREES, BY_CONSTRUCTION, BY_ROUNDING, DISAGREES, UNKNOWN = (
    "agrees", "agrees by construction", "disagrees by rounding only", "disagrees",
    "cannot be checked",
)  # fmt: skip
COLUMNS = ["source_id", "claim", "published", "recomputed", "rows", "verdict", "why"]
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
# So many rows, or pairs, are named one by one.
_FEW_ROWS, _FEW_PAIRS = 2, 4


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

    @property
    def copies(self) -> set[str]:
        """The runs whose log is a copy of an older one."""
        return set(self.printed.index[self.printed.same_file_as.ne("")])


@dataclass(frozen=True)
class Finding:
    """What a check found.

    words: what comes out.
    holds: whether the claim holds for the figures as printed; None where nothing can tell.
    rows: the runs that decide it.
    by_rounding: whether it holds for some figures that would be printed alike.
    prices: the prices, or figures of the text, that decide it, in words.
    """

    words: str
    holds: bool | None
    rows: tuple[str, ...] = ()
    by_rounding: bool = False
    prices: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """AGREES, BY_ROUNDING, DISAGREES or UNKNOWN."""
        if self.holds is False and self.by_rounding:
            return BY_ROUNDING
        return {True: AGREES, False: DISAGREES, None: UNKNOWN}[self.holds]


def audit_table(claims: list[dict[str, Any]], study: Study) -> pd.DataFrame:
    """audit.csv: a row per claim."""
    rows = []
    for claim in claims:
        name = claim.get("check", "")
        check = CHECKS.get(name)
        if check is None:
            raise InputError(f"claims.yaml: unknown check '{name}'; {nearest(name, CHECKS)}")
        try:
            found = check(claim, study)
            words = found.words + _without_copies(claim, found, study)
        except (KeyError, ValueError) as error:
            raise InputError(f"claims.yaml: {claim['claim']} cannot be checked: {error}") from None
        verdict = found.verdict
        if found.holds and claim.get("construction"):
            verdict = BY_CONSTRUCTION
        rows.append(
            [claim["source"], claim["claim"], claim["published"], words, _deciding(found), verdict,
             claim.get("why")]
        )  # fmt: skip
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
    order = [AGREES, BY_CONSTRUCTION, BY_ROUNDING, DISAGREES, UNKNOWN]
    counts = [(name, verdicts[name]) for name in order if name in verdicts]
    return ", ".join(
        f"{count} {name if count == 1 else name.replace('grees', 'gree')}" for name, count in counts
    )


def _without_copies(claim: dict[str, Any], found: Finding, study: Study) -> str:
    """What comes out if logs that are copies of older ones are left out; empty without any."""
    copies = study.copies.intersection(found.rows)
    if not copies or claim["check"] == "copies":
        return ""
    fewer = replace(study, runs=study.runs[~study.runs.run_id.isin(copies)])
    try:
        without = CHECKS[claim["check"]](claim, fewer)
    except InputError:
        without = Finding("nothing to compare", None)
    words = "the same" if without.words == found.words else without.words
    if without.verdict != found.verdict:
        words += f", {without.verdict}"
    return f" (without {_many(len(copies), 'copied log')}: {words})"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _deciding(found: Finding) -> str:
    """The rows and prices that decide a claim: by name if they are few, else how many there are."""
    rows = sorted(set(found.rows))
    if len(rows) > _FEW_ROWS:
        sources = sorted({row.partition("/")[0] for row in rows})
        rows = [f"{len(rows)} rows of {', '.join(sources)}"]
    return "; ".join([*rows, *found.prices])


def _printed(claim: dict[str, Any], study: Study) -> Finding:
    """All values of one kind that a study printed, to the digits printed."""
    if claim["quantity"] == "cost":
        found = _costs(claim, study)
        good = found.verdict.isin([AGREES, BY_CONSTRUCTION])
        return Finding(
            counted(found.verdict.value_counts()),
            bool(good.all()),
            tuple(found.run_id),
            bool((good | found.verdict.eq(BY_ROUNDING)).all()),
        )
    values = _ratios_to_base(claim, study)
    good = values.apply(lambda row: _same_digits(row.ratio, row.printed), axis=1)
    words = f"{int(good.sum())} of {len(good)} agree to their two decimals"
    return Finding(words, bool(good.all()), tuple(values.run_id))


def _ratios_to_base(claim: dict[str, Any], study: Study) -> pd.DataFrame:
    """Each run's `ratio` to the base of its study, and the ratio that was `printed`."""
    quantity = claim["quantity"].removesuffix("_relative")
    runs = _values({"of": {"source_id": claim["source"]}} | claim, "of", study, quantity)
    printed = study.printed[f"{quantity}_norm_published"]
    runs = runs[runs.run_id.isin(printed.index[printed.ne("")])]
    base = runs[runs.hardware_id.eq("gce-k80") & runs.framework.eq("keras-tensorflow")]
    over = runs.merge(base[["workload", "value"]], on="workload", suffixes=("", "_base"))
    return over.assign(ratio=over.value / over.value_base, printed=over.run_id.map(printed))


def _costs(claim: dict[str, Any], study: Study) -> pd.DataFrame:
    """The printed costs of a study, recomputed.

    A cost agrees if it does to the digits of the printed cost, prorated or billed. It disagrees by
    rounding only if it agrees for some time that would be printed like the one given.
    """
    runs = study.runs[study.runs.source_id.eq(claim["source"])]
    runs = runs.assign(printed=runs.run_id.map(study.printed.cost_usd_published))
    priced = _priced(runs[runs.printed.ne("")], study, {})
    apart = claim.get("time_digits_s", 0.0)
    verdicts, billed = [], []
    for row in priced.itertuples():
        bill = billing.bill_usd(row.time_s, billing.terms_of(row), billing.NOTHING)
        billed.append(bill)
        low, prorated, high = (
            (row.time_s + off) / billing.HOUR_S * row.price_per_hour_usd
            for off in (-apart, 0, apart)
        )
        verdict = DISAGREES
        if _same_digits(prorated, row.printed) or _same_digits(bill, row.printed):
            by_construction = row.run_id in claim.get("by_construction", [])
            verdict = BY_CONSTRUCTION if by_construction else AGREES
        elif _within_digits([low, high], row.printed):
            verdict = BY_ROUNDING
        verdicts.append(verdict)
    return priced.assign(
        printed_usd=priced.printed.astype(float),
        prorated_usd=priced.time_s * priced.price_per_hour_usd / billing.HOUR_S,
        billed_usd=billed,
        verdict=verdicts,
    )


def _every(claim: dict[str, Any], study: Study) -> Finding:
    """Each value is less than all comparable others, by a factor if one is claimed."""
    pairs = _pairs(claim, study, "less_than")
    limit = 1 / claim.get("factor", 1)
    holds = pairs.ratio < limit
    words = f"{int(holds.sum())} of {_many(len(pairs), 'pair')}"
    if not holds.all():
        words += f"; not {_named(pairs, ~holds, claim)}"
    return Finding(words, bool(holds.all()), _rows(pairs), bool((pairs.ratio_low < limit).all()))


def _share(claim: dict[str, Any], study: Study) -> Finding:
    """A large enough share of the ratios of comparable runs is within limits."""
    pairs = _pairs(claim, study, "over")
    good = pairs.ratio.between(
        claim.get("ratio_at_least", 0), claim.get("ratio_at_most", float("inf"))
    )
    words = f"{int(good.sum())} of {_many(len(pairs), 'pair')}"
    if 0 < good.sum() <= _FEW_PAIRS:
        words += f": {_named(pairs, good, claim)}"
    return Finding(words, bool(good.mean() >= claim["at_least"]), _rows(pairs))


def _ratios(claim: dict[str, Any], study: Study) -> Finding:
    """All ratios of comparable runs are within limits."""
    pairs = _pairs(claim, study, "over")
    words = f"{pairs.ratio.min():.2f} to {pairs.ratio.max():.2f} over {len(pairs)} pairs"
    if len(pairs) == 1:
        words = f"{pairs.ratio.item():.2f}"
    elif len(pairs) <= _FEW_PAIRS and "pairs" in claim:
        words = "; ".join(
            f"{row.ratio:.2f} ({_short(row.run_id)} over {_short(row.run_id_other)})"
            for row in pairs.itertuples()
        )
    if "beside" in claim:  # what does not decide, but belongs to it
        (ratio,) = _pairs(claim | {"pairs": claim["beside"]["pairs"]}, study, "").ratio
        words += f"; {ratio:.2f} {claim['beside']['words']}"
    return Finding(
        words,
        all(_within(ratio, ratio, claim) for ratio in pairs.ratio),
        _rows(pairs),
        all(_within(row.ratio_low, row.ratio_high, claim) for row in pairs.itertuples()),
    )


def _ratio(claim: dict[str, Any], study: Study) -> Finding:
    """The ratio of two runs; with `least`, of a first one that is a lower limit."""
    one, other = (_values(claim, key, study) for key in ("of", "over"))
    (first,), (second,) = one.value, other.value
    words = f"{'at least ' if claim.get('least') else ''}{first / second:.2f}"
    if claim["quantity"] == "cost":
        words += f" ({first:.3g} over {second:.3g} USD)"
    ratio = first / second
    return Finding(words, _within(ratio, ratio, claim), (*one.run_id, *other.run_id))


def _range(claim: dict[str, Any], study: Study) -> Finding:
    """A multiple of the values, in a unit, lies within two limits."""
    runs = _values(claim, "of", study)
    values = runs.value * claim["times"] / claim["unit_s"]
    low, high = claim["within"]
    words = f"{values.min():.1f} to {values.max():.1f}"
    return Finding(words, bool(values.between(low, high).all()), tuple(runs.run_id))


def _spread(claim: dict[str, Any], study: Study) -> Finding:
    """What the runs learned differs by no more than a limit."""
    runs = _chosen(study.runs, claim["of"])
    low, high = runs.metric_value.min(), runs.metric_value.max()
    words = f"{low:.4f} to {high:.4f} over {len(runs)} runs"
    return Finding(words, bool(high - low <= claim["at_most"]), tuple(runs.run_id))


def _best(claim: dict[str, Any], study: Study) -> Finding:
    """In every workload, the best run is one that the claim names."""
    wins, losses, rows = _winners(claim, study)
    words = f"in {len(wins)} of {len(wins) + len(losses)}"
    return Finding(words + (f"; not {', '.join(losses)}" if losses else ""), not losses, rows)


def _never_best(claim: dict[str, Any], study: Study) -> Finding:
    """In no workload is the best run one that the claim names."""
    wins, losses, rows = _winners(claim, study)
    return Finding(f"in {len(wins)} of {len(wins) + len(losses)}", not wins, rows)


def _winners(claim: dict[str, Any], study: Study) -> tuple[list[str], list[str], tuple[str, ...]]:
    """The workloads that a named run wins, those that it does not, and all runs compared."""
    named = set(_values(claim, "of", study).run_id)
    everything = _values(claim, "among", study)
    best = everything.loc[everything.groupby("workload").value.idxmin()]
    won = best.run_id.isin(named)
    return list(best.workload[won]), list(best.workload[~won]), tuple(everything.run_id)


def _price(claim: dict[str, Any], study: Study) -> Finding:
    """The ratio of two prices, or of each of several machines' two prices."""
    words, holds, named = [], True, []
    for of, over in zip(_each(claim["of"]), _each(claim["over"]), strict=True):
        one, other = (_price_of(wanted, study).price_per_hour_usd for wanted in (of, over))
        words.append(f"{one / other:.3f} ({one:g} over {other:g})")
        holds = holds and _within(one / other, one / other, claim)
        named += [_price_name(of), _price_name(over)]
    return Finding(", ".join(words), holds, prices=tuple(dict.fromkeys(named)))


def _price_is(claim: dict[str, Any], study: Study) -> Finding:
    """A price, or a multiple of it, is what was printed, to its last digit."""
    value = _price_of(claim["of"], study).price_per_hour_usd * claim.get("times", 1)
    holds = _same_digits(value, claim["published"])
    return Finding(f"{value:g}", holds, prices=(_price_name(claim["of"]),))


def _each(wanted: dict[str, Any]) -> list[dict[str, str]]:
    """A wanted price of each hardware that is named."""
    names = wanted["hardware_id"]
    return [
        wanted | {"hardware_id": name} for name in ([names] if isinstance(names, str) else names)
    ]


def _price_name(wanted: dict[str, str]) -> str:
    kind = wanted["price_kind"].replace("_", " ")
    return f"price of {wanted['hardware_id']} {kind} in {wanted['book']}"


def _price_of(wanted: dict[str, str], study: Study) -> Price:
    (price,) = (
        price
        for price in prices.in_book(study.known, str(wanted["book"]))
        if (price.hardware_id, price.price_kind) == (wanted["hardware_id"], wanted["price_kind"])
    )
    return price


def _quotient(claim: dict[str, Any], study: Study) -> Finding:
    """The quotients of numbers that the source prints; they are quoted, for their digits count."""
    words, holds, by_rounding = [], [], []
    for one, other in claim["quotients"]:
        value = float(one) / float(other)
        words.append(f"{value:.4g} ({one} over {other})")
        holds.append(_within(value, value, claim))
        (low, high), (least, most) = _rounded(one), _rounded(other)
        by_rounding.append(_within(low / most, high / least, claim))
    return Finding(", ".join(words), all(holds), (), all(by_rounding), ("figures of the text",))


def _charged(claim: dict[str, Any], study: Study) -> Finding:
    """Some minutes were charged with more than their price; `least` if they were fewer."""
    price = _price_of(claim["of"], study).price_per_hour_usd
    quoted = [minutes / 60 * price for minutes in claim["minutes"]]
    times = sorted(claim["charged_usd"] / usd for usd in quoted)
    words = " to ".join(dict.fromkeys(f"{value:.1f}" for value in times))
    words = f"{'at least ' if claim.get('least') else ''}{words} times the "
    words += " to ".join(dict.fromkeys(f"{usd:.2f}" for usd in quoted)) + " USD of the price"
    return Finding(words, min(times) > 1, prices=(_price_name(claim["of"]),))


def _copies(claim: dict[str, Any], study: Study) -> Finding:
    """No log is a copy of an older one."""
    runs = _chosen(study.runs, claim["of"])
    older = runs.run_id.isin(study.copies)
    words = f"{int(older.sum())} of {len(runs)} logs are older ones"
    return Finding(words, not older.any(), tuple(runs.run_id))


def _scheduled(claim: dict[str, Any], study: Study) -> Finding:
    """The monthly bill of a scheduled task, at the prices and by the rules of the 2018 post.

    `minimum_s` is that of another time.
    """
    plan = schedules.Visits(
        every_hours=claim["every_hours"], up_s=claim["up_s"], function_s=claim["function_s"]
    )
    wanted = {"hardware_id": "gce-n1-standard-1", "price_kind": "preemptible", "book": "2018-11"}
    price = _price_of(wanted, study)
    terms = replace(price, minimum_s=claim.get("minimum_s", price.minimum_s)).terms
    bill = schedules.monthly_bill(plan, terms, schedules.RATES_2018)
    total = sum(bill.values())
    parts = " + ".join(f"{value:.2f}" for value in bill.values())
    holds = round(total, 2) == claim["about"]
    return Finding(f"{total:.2f} USD ({parts})", holds, prices=(_price_name(wanted),))


def _none(claim: dict[str, Any], study: Study) -> Finding:
    """Nothing published can tell."""
    return Finding("", None)


CHECKS: dict[str, Callable[[dict[str, Any], Study], Finding]] = {
    "printed": _printed,
    "every": _every,
    "share": _share,
    "ratios": _ratios,
    "ratio": _ratio,
    "range": _range,
    "spread": _spread,
    "best": _best,
    "never_best": _never_best,
    "price": _price,
    "price_is": _price_is,
    "quotient": _quotient,
    "charged": _charged,
    "copies": _copies,
    "scheduled": _scheduled,
    "none": _none,
}


def _values(
    claim: dict[str, Any], key: str, study: Study, quantity: str | None = None
) -> pd.DataFrame:
    """The runs that a part of a claim selects, with `value`: their time, or what they cost.

    A run without a time costs what its source prints, and is left out if that is nothing.
    """
    runs = _chosen(study.runs, claim[key])
    timed = runs[runs.time_s.notna()]
    if (quantity or claim["quantity"]) == "time":
        return timed.assign(value=timed.time_s)
    printed = pd.to_numeric(runs.run_id.map(study.printed.cost_usd_published), errors="coerce")
    untimed = runs.assign(value=printed)[runs.time_s.isna() & printed.notna()]
    if timed.empty:
        return untimed
    priced = _priced(timed, study, claim)
    priced = priced.assign(value=priced.time_s * priced.price_per_hour_usd / billing.HOUR_S)
    return pd.concat([priced, untimed], ignore_index=True) if len(untimed) else priced


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
    """Each value paired with every comparable other, and their `ratio`.

    Comparable is what is alike in some columns, or what the claim names as `pairs` of runs. With
    `cheapest`, only the least of each side counts. `ratio_low` and `ratio_high` are the ratios of
    times that would be printed alike.
    """
    if "pairs" in claim:
        sides = [
            [_values(claim | {"of": {"run_id": run}}, "of", study) for run in pair]
            for pair in claim["pairs"]
        ]
        pairs = pd.concat(
            [one.merge(other, how="cross", suffixes=("", "_other")) for one, other in sides],
            ignore_index=True,
        )
    else:
        sides = [_values(claim, part, study) for part in ("of", key)]
        if claim.get("cheapest"):
            sides = [side.loc[side.groupby(claim["alike"]).value.idxmin()] for side in sides]
        pairs = sides[0].merge(sides[1], on=claim["alike"], suffixes=("", "_other"))
    if pairs.empty:
        raise InputError(f"claims.yaml: nothing to compare for: {claim['claim']}")
    ratio = pairs.value / pairs.value_other
    if "time_digits_s" not in claim:
        return pairs.assign(ratio=ratio, ratio_low=ratio, ratio_high=ratio)
    off = claim["time_digits_s"] / pairs.time_s
    off_other = claim["time_digits_s"] / pairs.time_s_other
    return pairs.assign(
        ratio=ratio,
        ratio_low=ratio * (1 - off) / (1 + off_other),
        ratio_high=ratio * (1 + off) / (1 - off_other),
    )


def _rows(pairs: pd.DataFrame) -> tuple[str, ...]:
    return (*pairs.run_id, *pairs.run_id_other)


def _chosen(runs: pd.DataFrame, wanted: dict[str, str | list[str]]) -> pd.DataFrame:
    """The runs whose columns have the wanted values; `*` stands for anything."""
    for name, patterns in wanted.items():
        patterns = [patterns] if isinstance(patterns, str) else patterns
        fits = [any(fnmatchcase(value, pattern) for pattern in patterns) for value in runs[name]]
        runs = runs.loc[pd.Series(fits, runs.index, dtype=bool)]
    if runs.empty:
        raise InputError(f"claims.yaml: no published run is {wanted}")
    return runs


def _named(pairs: pd.DataFrame, which: pd.Series, claim: dict[str, Any]) -> str:
    """Some of the pairs, by what tells them apart: machines by workload, or runs with values."""
    some = pairs[which]
    if "pairs" in claim:
        digits, unit = (".2f", "USD") if claim["quantity"] == "cost" else (".0f", "s")
        return "; ".join(
            f"{_short(row.run_id)} ({row.value:{digits}} {unit}) against "
            f"{_short(row.run_id_other)} ({row.value_other:{digits}} {unit})"
            for row in some.itertuples()
        )
    candidates = [name for name in ("framework", "variant") if name in claim["alike"]]
    candidates += [name for name in ("hardware_id", "hardware_id_other") if name in pairs]
    columns = [name for name in candidates if pairs[name].nunique() > 1]
    if claim.get("cheapest"):
        columns = []
    named: dict[str, list[str]] = {}
    for _, row in some.drop_duplicates(["workload", *columns]).iterrows():
        named.setdefault(row.workload, []).append(" ".join(dict.fromkeys(row[columns])))
    if pairs.workload.nunique() == 1 and columns:
        return ", ".join(*named.values())
    return "; ".join(
        f"{workload}: {', '.join(others)}" if columns else workload
        for workload, others in named.items()
    )


def _short(run_id: str) -> str:
    """A run without its source."""
    return run_id.partition("/")[2]


def _within(low: float, high: float, claim: dict[str, Any]) -> bool:
    """Whether some number between the two fulfils the limits of a claim."""
    least, most = claim.get("at_least", float("-inf")), claim.get("at_most", float("inf"))
    if "about" in claim:
        least = max(least, claim["about"] * (1 - _ABOUT))
        most = min(most, claim["about"] * (1 + _ABOUT))
    return high >= least and low <= most


def _same_digits(value: float, printed: str) -> bool:
    """Whether a value is what was printed, to its last digit (long ones: to a millionth)."""
    return _within_digits([value], printed)


def _within_digits(values: list[float], printed: str) -> bool:
    """Whether some number between the values would be printed like that."""
    low, high = _rounded(printed)
    return min(values) <= high and max(values) >= low


def _rounded(printed: str) -> tuple[float, float]:
    """The least and the greatest number that would be printed like that."""
    digits = len(printed.partition(".")[2])
    half = max(0.5 * 10**-digits, 1e-6 * abs(float(printed))) * (1 + 1e-9)
    return float(printed) - half, float(printed) + half
