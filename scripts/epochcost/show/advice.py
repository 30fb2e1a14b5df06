"""The advice: where to train one workload, in at most ten lines that fit into 100 columns."""

import math
import textwrap
from collections.abc import Sequence

import pandas as pd

from epochcost.money import options as choices
from epochcost.money.elsewhere import ESTIMATED, FITS
from epochcost.show.wording import amounts, names, remarks
from epochcost.statistics import spread

# Rows of the table, all lines, and columns.
_ROWS, _LINES, WIDTH = 4, 10, 100
# What a first run on a machine takes with all that is around it.
_LOOK_S = 600.0
# A range that gets no narrower than this share is not worth the money.
_MUCH = 0.95
_MACHINE = ["hardware_id", "machine_id"]
_ONE_ON_A_GPU = "Other machines: one run on a GPU gives estimates; processors say little of GPUs."


def text(
    workload: str,
    options: pd.DataFrame,
    deadline_s: float | None = None,
    budget_usd: float | None = None,
    unpriced: pd.DataFrame | None = None,
    again: Sequence[str] = (),
) -> str:
    """What a buyer should know about a workload.

    What was measured or predicted comes first, what is estimated in its own lines.

    Args:
        options: its rows of options.csv, with a plain index.
        deadline_s, budget_usd: None for none.
        unpriced: its rows of relative.csv that were measured here, by its recipe on complete real
            data, and have no price.
        again: sentences about its runs whose time says nothing (`answer.unusable`).
    """
    options = options.assign(apart=names.tell_apart(options))
    context = options[options.context.fillna("").ne("")]
    options = options[options.context.fillna("").eq("")]
    is_estimated = options.evidence.eq(ESTIMATED)
    known, estimated = options[~is_estimated], options[is_estimated]
    notes = [*_unpriced(unpriced), *again]
    if options.empty:
        lines = [f"{workload}: no machine that can be had is known.", *notes, *_context(context)]
        return _joined([*lines, *_next(workload, bool(_unpriced(unpriced)))])
    best = known if len(known) else estimated
    lines = [
        f"{workload}: one training{_terms(options)}",
        *_recommended(best, deadline_s, budget_usd, " measured" * (len(known) < len(options))),
    ]
    how, named = _estimate(known, estimated, deadline_s, budget_usd)
    if named is not None:
        lines += [f"{how}: {_said(named)}."] * (len(known) > 0)
        room = "" if named.fits == FITS else "; memory unknown"
        lines.append(f"Basis of {named.gpu}: {named.basis}{room}.")
    ends = [*notes, *_left(options, context), *_surer(known, named)]
    if estimated.empty and known.gpus_used.fillna(0).eq(0).all():
        ends.append(_ONE_ON_A_GPU)
    # The table gives way, never what is recommended.
    room = _LINES - sum(_joined([line]).count("\n") for line in (*lines, *ends))
    return _joined([*lines, *_table(known, estimated)[: max(room, 2)], *ends])


def recommended(
    options: pd.DataFrame, deadline_s: float | None, budget_usd: float | None
) -> pd.Series:
    """What each option of a workload is recommended as: `cheapest`, `fastest`, both or nothing."""
    found = pd.Series("", index=options.index)
    can = options[options.context.fillna("").eq("")]
    known = can[can.evidence.ne(ESTIMATED)]
    best = known if len(known) else can
    in_time, cheap = _within(best, deadline_s, budget_usd)
    if len(in_time):
        found[in_time.billed_usd.idxmin()] = "cheapest"
    if len(cheap):
        fastest = cheap.elapsed_s.idxmin()
        found[fastest] = "cheapest and fastest" if found[fastest] else "fastest"
    return found


def _joined(lines: list[str]) -> str:
    wrapped = [textwrap.fill(line, WIDTH, subsequent_indent="  ") for line in lines if line]
    return "\n".join(wrapped) + "\n"


def _within(
    options: pd.DataFrame, deadline_s: float | None, budget_usd: float | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The options that meet both limits where any does, else those that meet each."""
    both = _in_both(options, deadline_s, budget_usd)
    if len(both):
        return both, both
    return _in_both(options, deadline_s, None), _in_both(options, None, budget_usd)


def _in_both(
    options: pd.DataFrame, deadline_s: float | None, budget_usd: float | None
) -> pd.DataFrame:
    """The options that meet both limits."""
    in_time = options if deadline_s is None else choices.ends_by(options, deadline_s)
    return in_time if budget_usd is None else choices.within_budget(in_time, budget_usd)


def _recommended(
    options: pd.DataFrame, deadline_s: float | None, budget_usd: float | None, of: str
) -> list[str]:
    """The cheapest that ends in time, what ties with it, and the fastest that can be afforded."""
    in_time, cheap = _within(options, deadline_s, budget_usd)
    of = "" if options.evidence.eq(ESTIMATED).all() else of
    limit = of if deadline_s is None else f"{of} within {amounts.seconds(deadline_s)}"
    most = of if budget_usd is None else f"{of} for up to {amounts.dollars(budget_usd)}"
    lines = []
    if in_time.empty:
        fastest = options.loc[options.elapsed_s.idxmin()]
        lines.append(f"Cheapest{limit}: none for sure; the fastest is {_said(fastest)}.")
    else:
        best = in_time.loc[in_time.billed_usd.idxmin()]
        lines.append(f"Cheapest{limit}: {_said(best)}.")
        lines += _tie(in_time, best)
    if cheap.empty:
        cheapest = options.loc[options.billed_usd.idxmin()]
        lines.append(f"Fastest{most}: none for sure; the cheapest is {_said(cheapest)}.")
    else:
        fastest = cheap.loc[cheap.elapsed_s.idxmin()]
        is_same = len(in_time) and fastest.name == in_time.billed_usd.idxmin()
        lines.append(f"Fastest{most}: {'the same' if is_same else _said(fastest)}.")
    return lines


def _tie(in_time: pd.DataFrame, best: pd.Series) -> list[str]:
    """What differs from the cheapest by no more than chance, where both were measured."""
    if best.evidence == ESTIMATED:
        return []
    tied = choices.tied_with(in_time, best).drop_duplicates([*_MACHINE, "framework"])
    if tied.empty:
        return []
    more = f" and {len(tied) - 1} more" if len(tied) > 1 else ""
    return [f"A tie: no difference in cost is shown to {_name(tied.iloc[0])}{more}."]


def _estimate(
    known: pd.DataFrame,
    estimated: pd.DataFrame,
    deadline_s: float | None,
    budget_usd: float | None,
) -> tuple[str, pd.Series | None]:
    """The estimate to look at, and why: how it would beat what was measured.

    Surely where it does so even at the end of its range.
    """
    could, measured = (_in_both(rows, deadline_s, budget_usd) for rows in (estimated, known))
    if could.empty and known.empty:
        could = _within(estimated, deadline_s, budget_usd)[0]
    if could.empty:
        return "", None
    cheap = could.loc[could.billed_usd.idxmin()]
    if measured.empty:
        return "Not measured, but by its estimate", cheap
    least, first = measured.billed_usd.min(), measured.elapsed_s.min()
    if cheap.billed_high < least:
        return "Probably cheaper, not measured", cheap
    faster = could[could.elapsed_high.lt(first)]
    if len(faster):
        return "Probably faster, not measured", faster.loc[faster.billed_usd.idxmin()]
    return ("Perhaps cheaper, not measured", cheap) if cheap.billed_usd < least else ("", None)


def _said(option: pd.Series) -> str:
    """An option in a sentence, with what is known of it."""
    usd, notes = amounts.dollars(option.billed_usd), ", ".join(_notes(option))
    said = f"{_name(option)}, {option.evidence} {_span(option)}, {usd}"
    return f"{said} ({notes})" if notes else said


def _notes(option: pd.Series) -> list[str]:
    notes = [] if option.price_kind == "on_demand" else [names.price_kind(option.price_kind)]
    if option.evidence == "measured" and option.runs == 1:
        notes.append("a single run")
    said = [note for note in remarks.of_option(option) if note != "predicted"]
    return [*notes, *said]


def _name(option: pd.Series) -> str:
    name = f"{option.hardware_label} with {names.framework(option.framework, option.variant)}"
    return f"{name} [{option.apart}]" if option.apart else name


def _span(option: pd.Series) -> str:
    value, ends = amounts.seconds(option.elapsed_s), (option.elapsed_low, option.elapsed_high)
    if pd.isna(ends[0]) or ends[0] == ends[1]:
        return value
    return f"{value} [{' to '.join(map(amounts.seconds, ends))}]"


def _table(known: pd.DataFrame, estimated: pd.DataFrame) -> list[str]:
    """The best machines: those that were measured first; of each the cheapest."""
    rows = [_best(known), _best(estimated)]
    # Both kinds have their place.
    first = rows[0].head(_ROWS - min(len(rows[1]), _ROWS // 2))
    shown = pd.concat([first, rows[1].head(_ROWS - len(first))])
    told = [("machine and framework", "evidence", "time", "bill", "an hour", "price of")]
    told += [
        (
            _name(row),
            row.evidence,
            amounts.seconds(row.elapsed_s),
            amounts.dollars(row.billed_usd),
            f"{amounts.price(row.price_per_hour_usd)}{_kind(row.price_kind)}",
            row.price_date if pd.notna(row.price_date) else "",
        )
        for _, row in shown.iterrows()
    ]
    widths = [max(len(row[place]) for row in told) for place in range(6)]
    widths[0] = min(widths[0], WIDTH - sum(widths[1:]) - 2 * 6)
    return ["  " + "  ".join(_cells(row, widths)).rstrip() for row in told]


def _cells(row: tuple[str, ...], widths: list[int]) -> list[str]:
    name = row[0] if len(row[0]) <= widths[0] else f"{row[0][: widths[0] - 3].rstrip()}..."
    left = [name.ljust(widths[0]), row[1].ljust(widths[1])]
    right = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
    return [*left, *right]


def _kind(kind: str) -> str:
    return "" if kind == "on_demand" else f" {names.price_kind(kind)}"


def _best(options: pd.DataFrame) -> pd.DataFrame:
    """Of each machine the cheapest, those first that no other beats, from cheap to dear."""
    ordered = options.sort_values(
        ["efficient", "billed_usd"], ascending=[False, True], kind="stable"
    )
    ordered = ordered.assign(machine_id=ordered.machine_id.fillna(""))
    ordered = ordered.drop_duplicates(_MACHINE).head(_ROWS)
    return ordered.sort_values("billed_usd", kind="stable")


def _terms(options: pd.DataFrame) -> str:
    if options.terms.eq(choices.EPOCHS_ALONE).any():
        return ", by epochs alone (no start of a published one is known)"
    around = options.elapsed_s - options.time_s - options.overhead_s
    return " with its start" + (
        "" if around.max() >= 1 else "; boot is not counted (billing.boot_s)"
    )


def _unpriced(rows: pd.DataFrame | None) -> list[str]:
    """The best of one's own machines that cannot be compared, and how many more there are."""
    if rows is None or rows.empty:
        return []
    machines = rows.sort_values("time_s", kind="stable").drop_duplicates(_MACHINE)
    best = machines.iloc[0]
    predicted = "predicted " if best.predicted else ""
    more = f" and {len(machines) - 1} more" if len(machines) > 1 else ""
    return [
        f"Timed without a price: {best.hardware_label}{more}; {predicted}"
        f"{amounts.seconds(best.time_s)} without its start "
        f"with {names.framework(best.framework, best.variant)}. "
        "For this machine: price=USD_AN_HOUR."
    ]


def _left(options: pd.DataFrame, context: pd.DataFrame) -> list[str]:
    """How much more there is, and where."""
    machines = len(options[_MACHINE].fillna("").drop_duplicates())
    said = f"{machines} machine{'s' * (machines > 1)}: results/advice/advice.csv"
    return [f"{said}{_aside(context)}"]


def _context(context: pd.DataFrame) -> list[str]:
    return [f"C{_aside(context)[3:]}."] if len(context) else []


def _aside(context: pd.DataFrame) -> str:
    """What others measured with what cannot be had today: no recommendation."""
    if context.empty:
        return ""
    best = context.loc[context.marginal_usd.idxmin()]
    why = best.context.split("; ")[0]
    return (
        f"; context, no option: {best.hardware_label}, {amounts.seconds(best.time_s)}, "
        f"{amounts.dollars(best.marginal_usd)} ({why})"
    )


def _next(workload: str, is_unpriced: bool) -> list[str]:
    """What to do where nothing can be recommended."""
    if is_unpriced:
        return []
    return [
        _ONE_ON_A_GPU,
        f"Measure here: snakemake --config workloads={workload} price=USD_AN_HOUR",
    ]


def _surer(known: pd.DataFrame, named: pd.Series | None) -> list[str]:
    """What to measure next, and what that costs.

    Args:
        named: the estimate that would be better, if it is right.
    """
    if named is not None:
        if named.elapsed_s < _LOOK_S:
            usd = amounts.dollars(named.billed_usd)
            return [f"Surer: train it there once, about {usd}; a full run is a measurement."]
        usd = named.price_per_hour_usd * _LOOK_S / 3600
        now = math.sqrt(named.elapsed_high / named.elapsed_low)
        then = math.exp(spread.REACH * spread.shipped()[spread.PREDICTED].later)
        return [
            f"Surer: ten minutes on {named.hardware_id} (about ${usd:.2f}) narrow its range "
            f"from x{now:.2g} to x{then:.2g}."
        ] * (then < _MUCH * now)
    if known.predicted.astype(bool).any():
        return ["Surer: full runs (scale=full) take the place of predictions."]
    return []


def nothing_left(workload: str, count: int) -> str:
    """What to say where wishes leave none of the options."""
    return f"{workload}: none of its {count} options is what was asked for.\n"
