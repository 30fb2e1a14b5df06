"""The advice: where to train one workload, in at most ten lines that fit into 100 columns."""

import math
import textwrap
from collections.abc import Collection, Sequence

import pandas as pd

from epochcost.hardware import LOCAL
from epochcost.money import options as choices
from epochcost.money.elsewhere import ESTIMATED, FITS
from epochcost.record.types import OWN_TRAINING
from epochcost.show.wording import amounts, names, remarks
from epochcost.statistics import spread
from epochcost.statistics.own import UNIT_STEPS

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
    length: str = "",
    is_listed: bool = True,
) -> str:
    """What a buyer should know about a workload.

    What was measured or predicted comes first, what is estimated in its own lines.

    Args:
        options: its rows of options.csv, with a plain index.
        deadline_s, budget_usd: None for none.
        unpriced: its rows of relative.csv that were measured here, by its recipe on complete real
            data, and have no price.
        again: sentences about its runs whose time says nothing (`answer.unusable`).
        length: of the training, such as `50 epochs`, where it was asked for.
        is_listed: whether config/workloads.yaml has it, so that Snakemake can train it.
    """
    options = options.assign(apart=names.tell_apart(options))
    context = options[options.context.fillna("").ne("")]
    options = options[options.context.fillna("").eq("")]
    is_estimated = options.evidence.eq(ESTIMATED)
    known, estimated = options[~is_estimated], options[is_estimated]
    notes = [*_unpriced(unpriced, length), *again]
    if options.empty:
        lines = [f"{workload}: no machine that can be had is known.", *notes]
        lines += _context(context, length)
        return _joined([*lines, *([] if notes else _next(workload, is_listed))])
    if not length and any(remarks.of_length(row) for row in options.itertuples()):
        length = f"{UNIT_STEPS:,} steps (for the whole say steps=N)"
    marks = recommended(options, deadline_s, budget_usd)
    best = known if len(known) else estimated
    lines = [
        f"{workload}: one training{f' of {length}' * bool(length)}{_terms(options)}",
        *_sentences(best.assign(mark=marks), deadline_s, budget_usd, len(known) < len(options)),
    ]
    how, named = untried(options, deadline_s, budget_usd)
    surer, there = _surer(known, named)
    ends = [*notes, f"{_left(options, context)} {surer}".rstrip(), *there]
    if named is not None:
        lines += [f"{how}: {_said(named)}."] * (len(known) > 0)
        ends = [_basis(named), *ends]
    if estimated.empty and known.gpus_used.fillna(0).eq(0).all():
        ends.append(_ONE_ON_A_GPU)
    named_above = {*marks[marks.ne("")].index, *([] if named is None else [named.name])}
    # The table gives way, never what is recommended.
    room = _LINES - sum(_joined([line]).count("\n") for line in (*lines, *ends))
    return _joined([*lines, *_table(known, estimated, named_above, max(room - 1, 1)), *ends])


def recommended(
    options: pd.DataFrame, deadline_s: float | None, budget_usd: float | None
) -> pd.Series:
    """What each option of a workload is recommended as: `cheapest`, `fastest`, both or nothing."""
    found = pd.Series("", index=options.index)
    can = options[options.context.fillna("").eq("")]
    known = can[can.evidence.ne(ESTIMATED)]
    in_time, cheap = _within(known if len(known) else can, deadline_s, budget_usd)
    if len(in_time):
        found[in_time.billed_usd.idxmin()] = "cheapest"
    if len(cheap):
        fastest = cheap.elapsed_s.idxmin()
        found[fastest] = "cheapest and fastest" if found[fastest] else "fastest"
    return found


def _joined(lines: list[str]) -> str:
    whole = {"break_long_words": False, "break_on_hyphens": False}  # as names in calls must be
    wrapped = [
        textwrap.fill(line, WIDTH, subsequent_indent="  ", **whole) for line in lines if line
    ]
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


def _sentences(
    options: pd.DataFrame, deadline_s: float | None, budget_usd: float | None, is_part: bool
) -> list[str]:
    """The cheapest that ends in time, what ties with it, and the fastest that can be afforded.

    Args:
        options: of the strongest evidence that there is, with their `mark` (`recommended`).
        is_part: others are estimated.
    """
    of = " tried" if is_part and not options.evidence.eq(ESTIMATED).all() else ""
    limit = of if deadline_s is None else f"{of} within {amounts.seconds(deadline_s)}"
    most = of if budget_usd is None else f"{of} for up to {amounts.dollars(budget_usd)}"
    cheapest = options[options.mark.str.startswith("cheapest")]
    fastest = options[options.mark.str.endswith("fastest")]
    if cheapest.empty:
        near = options.loc[options.elapsed_s.idxmin()]
        lines = [f"Cheapest{limit}: none for sure; the fastest is {_said(near)}."]
    else:
        best = cheapest.iloc[0]
        in_time = _within(options, deadline_s, budget_usd)[0]
        lines = [f"Cheapest{limit}: {_said(best)}.", *_tie(in_time, best)]
    if fastest.empty:
        near = options.loc[options.billed_usd.idxmin()]
        return [*lines, f"Fastest{most}: none for sure; the cheapest is {_said(near)}."]
    is_same = fastest.index.equals(cheapest.index)
    return [*lines, f"Fastest{most}: {'the same' if is_same else _said(fastest.iloc[0])}."]


def _tie(in_time: pd.DataFrame, best: pd.Series) -> list[str]:
    """What differs from the cheapest by no more than chance, where both were measured."""
    if best.evidence == ESTIMATED:
        return []
    tied = choices.tied_with(in_time, best).drop_duplicates([*_MACHINE, "framework"])
    if tied.empty:
        return []
    more = f" and {len(tied) - 1} more" if len(tied) > 1 else ""
    return [f"A tie: no difference in cost is shown to {_name(tied.iloc[0])}{more}."]


def untried(
    options: pd.DataFrame, deadline_s: float | None = None, budget_usd: float | None = None
) -> tuple[str, pd.Series | None]:
    """The estimate to look at, and why: how it would beat what was measured; None for none.

    Probably where it does so even at the end of its range.

    Args:
        options: of a workload, of options.csv.
    """
    options = options[options.context.fillna("").eq("")]
    is_estimated = options.evidence.eq(ESTIMATED)
    known, estimated = options[~is_estimated], options[is_estimated]
    could, measured = (_in_both(rows, deadline_s, budget_usd) for rows in (estimated, known))
    if could.empty and known.empty:
        could = _within(estimated, deadline_s, budget_usd)[0]
    if could.empty:
        return "", None
    cheap = could.loc[could.billed_usd.idxmin()]
    if measured.empty:
        return "Not tried, but by its estimate", cheap
    least, soonest = measured.billed_usd.min(), measured.elapsed_s.min()
    if cheap.billed_high < least:
        return "Probably cheaper, not tried", cheap
    faster = could[could.elapsed_high.lt(soonest)]
    if len(faster):
        first = faster.loc[faster.billed_usd.idxmin()]
        also = ", perhaps cheaper" if first.billed_usd < least else ""
        return f"Probably faster{also}, not tried", first
    return ("Perhaps cheaper, not tried", cheap) if cheap.billed_usd < least else ("", None)


def _said(option: pd.Series) -> str:
    """An option in a sentence, with what is known of it."""
    time, usd = amounts.seconds(option.elapsed_s), amounts.dollars(option.billed_usd)
    said, notes = f"{_name(option)}, {option.evidence} {time}, {usd}", ", ".join(_notes(option))
    return f"{said} ({notes})" if notes else said


def _notes(option: pd.Series) -> list[str]:
    notes = [] if option.price_kind == "on_demand" else [names.price_kind(option.price_kind)]
    if option.evidence == "measured" and option.runs == 1:
        notes.append("a single run")
    is_above = {"predicted", *remarks.of_length(option)}  # in the sentence, in the heading
    said = [note for note in remarks.of_option(option) if note not in is_above]
    return [*notes, *said]


def _name(option: pd.Series) -> str:
    """A machine and its framework, in words."""
    name = f"{option.hardware_label} with {names.framework(option.framework, option.variant)}"
    return f"{name} [{option.apart}]" if option.apart else name


def _called(option: pd.Series) -> str:
    """A machine as a call names it, and its framework."""
    machine = option.hardware_label if option.hardware_id == LOCAL else option.hardware_id
    software = names.framework(option.framework, option.variant)
    name = f"{machine}, {software}"
    return f"{name} [{option.apart}]" if option.apart else name


def _table(
    known: pd.DataFrame, estimated: pd.DataFrame, first: Collection[int], most: int
) -> list[str]:
    """The best machines, those that were measured first; of each one row, `most` in all.

    Args:
        first: the rows that sentences name, which are shown before others.
    """
    count = min(most, _ROWS)
    rows = [_best(known, first), _best(estimated, first)]
    # Both kinds have their place; where there is one row, what a sentence recommends.
    is_named = [len(one) > 0 and one.index[0] in first for one in rows]
    least = max(count // 2, is_named[1] and not is_named[0])
    some = rows[0].head(count - min(len(rows[1]), least))
    shown = [some, rows[1].head(count - len(some))]
    shown = pd.concat([part.sort_values("billed_usd", kind="stable") for part in shown])
    told = [("hardware, framework", "evidence", "time", "range", "bill", "an hour", "price of")]
    told += [
        (
            _called(row),
            row.evidence,
            amounts.seconds(row.elapsed_s),
            amounts.around(row.elapsed_s, row.elapsed_low, row.elapsed_high),
            amounts.dollars(row.billed_usd),
            f"{amounts.price(row.price_per_hour_usd)}{_kind(row.price_kind)}",
            str(row.price_date)[:7] if pd.notna(row.price_date) else "",
        )
        for _, row in shown.iterrows()
    ]
    widths = [max(len(row[place]) for row in told) for place in range(len(told[0]))]
    widths[0] = min(widths[0], WIDTH - sum(widths[1:]) - 2 * len(widths))
    return ["  " + "  ".join(_cells(row, widths)).rstrip() for row in told]


def _cells(row: tuple[str, ...], widths: list[int]) -> list[str]:
    name = row[0] if len(row[0]) <= widths[0] else f"{row[0][: widths[0] - 3].rstrip()}..."
    left = [name.ljust(widths[0]), row[1].ljust(widths[1])]
    right = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
    return [*left, *right]


def _kind(kind: str) -> str:
    return "" if kind == "on_demand" else f" {names.price_kind(kind)}"


def _best(options: pd.DataFrame, first: Collection[int]) -> pd.DataFrame:
    """A row of each machine: `first`, then those that no other beats, then the cheap."""
    named = options.index.isin(list(first))
    ordered = options.assign(named=named, machine_id=options.machine_id.fillna(""))
    by = ["named", "efficient", "billed_usd"]
    ordered = ordered.sort_values(by, ascending=[False, False, True], kind="stable")
    return ordered.drop_duplicates(_MACHINE).drop(columns="named")


def _terms(options: pd.DataFrame) -> str:
    if options.terms.eq(choices.EPOCHS_ALONE).any():
        return ", by epochs alone (no start of a published one is known)"
    around = options.elapsed_s - options.time_s - options.overhead_s
    return " with its start" + (
        "" if around.max() >= 1 else "; boot is not counted (billing.boot_s)"
    )


def _unpriced(rows: pd.DataFrame | None, length: str) -> list[str]:
    """The best of one's own machines that cannot be compared, and how many more there are."""
    if rows is None or rows.empty:
        return []
    machines = rows.sort_values("time_s", kind="stable").drop_duplicates(_MACHINE)
    best = machines.iloc[0]
    predicted = "predicted " if best.predicted else ""
    more = f" and {len(machines) - 1} more" if len(machines) > 1 else ""
    lasting = f" for {length}" if length else "".join(f" {one}" for one in remarks.of_length(best))
    return [
        f"Timed without a price: {best.hardware_label}{more}; {predicted}"
        f"{amounts.seconds(best.time_s)}{lasting} without its start "
        f"with {names.framework(best.framework, best.variant)}. "
        "For this machine: price=USD_AN_HOUR."
    ]


def _basis(option: pd.Series) -> str:
    """What an estimate rests on."""
    count = len(option.run_ids.split())
    runs = f"{count} run{'s' * (count > 1)}"
    room = "" if option.fits == FITS else "; memory need unknown"
    return f"Basis: {runs}, {option.basis}{room}."


def _left(options: pd.DataFrame, context: pd.DataFrame) -> str:
    """How much more there is, and where."""
    machines = len(options[_MACHINE].fillna("").drop_duplicates())
    said = f"{machines} machine{'s' * (machines > 1)}: results/advice/advice.csv"
    if context.empty:
        return f"{said}."
    best, why = _best_of(context)
    return f"{said} (context: {best.hardware_label}, {why})."


def _context(context: pd.DataFrame, length: str) -> list[str]:
    """What others measured with what cannot be had today: no recommendation."""
    if context.empty:
        return []
    best, why = _best_of(context)
    lasting = f" for {length}" if length else ""
    return [
        f"Context, no option: {best.hardware_label}, {amounts.seconds(best.time_s)}{lasting}, "
        f"{amounts.dollars(best.marginal_usd)} ({why})."
    ]


def _best_of(context: pd.DataFrame) -> tuple[pd.Series, str]:
    """The cheapest of what is context, and why it is that."""
    best = context.loc[context.marginal_usd.idxmin()]
    return best, best.context.split("; ")[0]


def _next(workload: str, is_listed: bool) -> list[str]:
    """What to do where nothing can be recommended, and no note says it."""
    if is_listed:
        here = f"snakemake --config workloads={workload} price=USD_AN_HOUR"
    else:
        here = f"epochcost measure --workload {workload} --price USD_AN_HOUR -- COMMAND"
    return [_ONE_ON_A_GPU, f"Measure here: {here}"]


def _surer(known: pd.DataFrame, named: pd.Series | None) -> tuple[str, list[str]]:
    """What to measure next and what that costs, and the command; both empty for nothing.

    Args:
        named: the estimate that would be better, if it is right.
    """
    if named is not None:
        if named.elapsed_s < _LOOK_S:
            return f"Surer, for about {amounts.dollars(named.billed_usd)}:", _there(named)
        usd = named.price_per_hour_usd * _LOOK_S / 3600
        now = math.sqrt(named.elapsed_high / named.elapsed_low)
        then = math.exp(spread.REACH * spread.shipped()[spread.PREDICTED].later)
        if then < _MUCH * now:
            said = f"Surer, from x{now:.2g} to x{then:.2g}: ten minutes there, about ${usd:.2f}:"
            return said, _there(named)
    elif known.predicted.astype(bool).any():
        own = known.framework.eq(OWN_TRAINING).all()
        how = "--stop-after never" if own else "scale=full"
        return f"Surer: full runs ({how}) take the place of predictions.", []
    return "", []


def _there(option: pd.Series) -> list[str]:
    """The command that measures an option on its machine, as far as it is known: its lines."""
    if option.framework == OWN_TRAINING:
        return [f"  epochcost measure --hardware {option.hardware_id} --host HOST -- COMMAND"]
    what = f"workloads={option.workload} frameworks={option.framework}"
    what += f" variants={option.variant}" * (option.variant != "default")
    return [f"  python scripts/remote.py HOST {option.hardware_id} \\", f"    --config {what}"]


def nothing_left(workload: str, count: int) -> str:
    """What to say where wishes leave none of the options."""
    return f"{workload}: no option, of {count}, is what was asked for.\n"
