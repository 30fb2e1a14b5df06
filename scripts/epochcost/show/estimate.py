"""What a plan will cost, as text."""

from collections.abc import Mapping

import pandas as pd

from epochcost.money import estimates
from epochcost.show.wording import amounts, names

# How many trainings are named.
_FEW = 4


def text(table: pd.DataFrame, labels: Mapping[str, str]) -> str:
    """A line per hardware, and what is unknown.

    Args:
        table: from `estimates.estimate_table`.
        labels: what hardware is called.
    """
    if table.empty:
        return "Nothing to run: everything configured has been measured."
    lines = [
        _line(labels.get(hardware, hardware), estimates.total(rows)) + _price(rows.iloc[0])
        for hardware, rows in table.groupby("hardware", sort=True)
    ]
    whole = estimates.total(table)
    if len(lines) > 1:
        lines.append(_line("together", whole))
    bases = table.groupby("basis").runs.sum()
    known = ", ".join(
        f"{runs} {basis}" for basis, runs in bases.items() if basis != estimates.UNKNOWN
    )
    if known:
        lines.append(f"Runs by source of their time: {known}.")
    unknown = table[table.basis.eq(estimates.UNKNOWN)]
    for hardware, rows in unknown.groupby("hardware", sort=True):
        said = [
            f"{row.workload} with {names.framework(row.framework, row.variant)}"
            for row in rows.itertuples()
        ]
        few = ", ".join(said[:_FEW]) + (f" and {len(said) - _FEW} more" * (len(said) > _FEW))
        lines.append(f"Unknown, as no run on {hardware} counts: {few}.")
    return "\n".join(lines)


def _price(row: pd.Series) -> str:
    if pd.isna(row.price_per_hour_usd):
        return ""
    kind = names.price_kind(row.price_kind)
    if pd.notna(row.retired):
        kind += ", its last price"
    return f" at {amounts.price(row.price_per_hour_usd)} an hour ({kind})"


def refusal(total: estimates.Total, most: float) -> str:
    """Why a plan is not started."""
    could = "would" if total.usd > most else "could"
    usd = total.usd if total.usd > most else total.usd_high
    return (
        f"the plan {could} cost {amounts.dollars(usd)}, above max_cost_usd of "
        f"{amounts.dollars(most)}; `snakemake estimate` itemises it"
    )


def _line(label: str, total: estimates.Total) -> str:
    runs = f"{total.runs} run{'s' if total.runs > 1 else ''}"
    hours = "an unknown time"
    if total.untimed < total.runs:
        hours = amounts.seconds(total.hours * 3600)
        if total.untimed:
            hours = f"{hours} and more (the time of {total.untimed} is not known)"
    cost = "an unknown cost"
    if total.unpriced < total.runs:
        cost = amounts.dollars(total.usd)
        if amounts.dollars(total.usd_high) != cost:
            cost += f" (up to {amounts.dollars(total.usd_high)})"
        if total.unpriced:
            cost = f"{cost} and more (the cost of {total.unpriced} is not known)"
    return f"{label}: {runs}, {hours}, {cost}"
