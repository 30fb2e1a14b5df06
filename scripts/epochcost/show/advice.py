"""The advice: where to train one workload, in words and one table."""

import math
from collections.abc import Sequence

import pandas as pd

from epochcost.money import billing, prices
from epochcost.money import options as choices
from epochcost.money.billing import Rental
from epochcost.results.rows import OWN
from epochcost.show.wording import amounts, names, remarks
from epochcost.statistics import intervals, spread

_OPTION = (
    "An option is a training by the recipe itself on all of its real data that did not miss its "
    "quality target, with a price that the price book has (--config price=0.10 gives this machine "
    "one)."
)
# How many rows of context are shown.
_FEW = 3
# No chance is said to be higher.
_CERTAIN = 0.99
# What tells machines apart.
_MACHINE = ["hardware_id", "machine_id"]
# More interruptions an hour than any provider has.
_RARE_LIMIT = 60


def text(
    workload: str,
    options: pd.DataFrame,
    deadline_s: float | None,
    budget_usd: float | None,
    rental: Rental,
    unpriced: pd.DataFrame | None = None,
    again: Sequence[str] = (),
) -> str:
    """What a buyer should know about a workload.

    Args:
        options: its rows of options.csv, with a plain index.
        deadline_s, budget_usd: None for none.
        rental: what the options' bills include besides their processes.
        unpriced: its rows of relative.csv that were measured here, by its recipe on complete real
            data, and have no price.
        again: sentences about its runs whose time says nothing (`answer.unusable`).
    """
    without = [*_unpriced(unpriced), *again]
    if options.empty:
        return "\n".join([f"{workload}: no option is known. {_OPTION}", *without]) + "\n"
    options = options.assign(apart=names.tell_apart(options))
    is_context = options.context.fillna("").ne("")
    context, options = options[is_context], options[~is_context]
    if options.empty:
        return "\n".join(_without_options(workload, context, without)) + "\n"
    lines = [
        f"{workload}: one training, started and billed by itself{_terms(options)}{_dates(options)}"
    ]
    lines += [
        *_cheapest(options, deadline_s),
        _fastest(options, budget_usd),
        *_alone(options, bool(_unpriced(unpriced))),
    ]
    lines += ["", *_table(options), *without, ""]
    lines += _break_evens(options, rental) + _units(options) + _caveats(options)
    if len(context):
        lines += ["", *_context(context), *_beside(options, context)]
    return "\n".join(lines) + "\n"


def _without_options(workload: str, context: pd.DataFrame, without: list[str]) -> list[str]:
    """What is known where nothing can be recommended."""
    then = [f"Next, measure one: snakemake --config workloads={workload} price=USD_AN_HOUR"]
    return [
        f"{workload}: no machine of today is known. {_OPTION}",
        *(without or then),
        "",
        *_context(context),
    ]


def _unpriced(rows: pd.DataFrame | None) -> list[str]:
    """The machines of one's own that cannot be compared, each with its best time."""
    if rows is None or rows.empty:
        return []
    ordered = rows.sort_values("time_s", kind="stable")
    said = [
        f"{row.hardware_label} ({row.machine_id or row.hardware_id}, "
        f"{'predicted ' if row.predicted else ''}{amounts.seconds(row.time_s)} with "
        f"{names.framework(row.framework, row.variant)})"
        for row in ordered.drop_duplicates(_MACHINE).fillna({"machine_id": ""}).itertuples()
    ]
    return [f"  Measured too, but without a price: {'; '.join(said)}."]


def _terms(options: pd.DataFrame) -> str:
    if options.terms.eq(choices.EPOCHS_ALONE).any():
        return ", compared by epochs alone (the start of published ones is not known)"
    return ""


def _alone(options: pd.DataFrame, without: bool) -> list[str]:
    """That only one machine is known, and what to do about it."""
    machines = options[_MACHINE].fillna("").drop_duplicates()
    if len(machines) > 1:
        return []
    known, then = "known", "measure one that you could rent (a quick run takes minutes)"
    if without:
        known, then = "known with its price", "price those below, or measure others"
    return [f"Only one machine is {known}: {options.hardware_label.iloc[0]}. Next, {then}."]


def _context(context: pd.DataFrame) -> list[str]:
    """What others measured with what cannot be had today: no recommendation."""
    shown = context.sort_values("marginal_usd").drop_duplicates("hardware_id").head(_FEW)
    lines = ["For context, no recommendation (training alone, as published):"]
    for _, option in shown.iterrows():
        lines.append(
            f"  {_name(option)}: {amounts.seconds(option.time_s)} for "
            f"{amounts.dollars(option.marginal_usd)} ("
            f"{names.price_kind(option.price_kind)}, {amounts.price(option.price_per_hour_usd)} an "
            f"hour{_since(option)}; {option.source_id}: {option.context})"
        )
    if (left := context.hardware_id.nunique() - len(shown)) > 0:
        lines.append(f"  {left} more in options.csv")
    return lines


def _beside(options: pd.DataFrame, context: pd.DataFrame) -> list[str]:
    """The cheapest option beside the cheapest of the context, both by their epochs alone."""
    ours, theirs = (rows.loc[rows.marginal_usd.idxmin()] for rows in (options, context))
    first, second = sorted((ours, theirs), key=lambda one: one.marginal_usd)
    # As far as two such times may differ by chance.
    reach = spread.REACH * math.hypot(ours.deviation, theirs.deviation)
    alike = second.marginal_usd <= first.marginal_usd * math.exp(reach)
    chance = "; runs of one training differ as much" if alike else ""
    return [
        f"By epochs alone, as a published start is not known, {_name(first)} costs "
        f"{amounts.dollars(first.marginal_usd)}, {_name(second)} "
        f"{amounts.dollars(second.marginal_usd)}{chance}."
    ]


def _dates(options: pd.DataFrame) -> str:
    """When the prices were those of the providers; that of the machine at hand has no date."""
    dates = sorted(set(options.price_date.fillna("")) - {""})
    if not dates:
        return ""
    return f", at prices of {dates[0]}" + (f" to {dates[-1]}" if len(dates) > 1 else "")


def _cheapest(options: pd.DataFrame, deadline_s: float | None) -> list[str]:
    """The cheapest that meets the deadline, and what differs from it by no more than chance."""
    in_time = options if deadline_s is None else choices.ends_by(options, deadline_s)
    limit = "" if deadline_s is None else f" that ends within {amounts.seconds(deadline_s)}"
    if in_time.empty:
        fastest = options.loc[options.elapsed_s.idxmin()]
        return [f"Cheapest{limit}: none; the fastest is {_said(fastest)}."]
    best = in_time.loc[in_time.billed_usd.idxmin()]
    lines = [f"Cheapest{limit}: {_said(best)}."]
    tied = choices.tied_with(in_time, best)
    if len(tied):
        ties = "; ".join(
            f"{_name(option)}{_kind(option)}" for _, option in tied.head(_FEW).iterrows()
        )
        ties += f"; and {len(tied) - _FEW} more" if len(tied) > _FEW else ""
        lines.append(f"A tie: no difference in cost is shown between it and {ties}.")
    return lines


def _fastest(options: pd.DataFrame, budget_usd: float | None) -> str:
    cheap = options if budget_usd is None else choices.within_budget(options, budget_usd)
    limit = "" if budget_usd is None else f" for at most {amounts.dollars(budget_usd)}"
    if cheap.empty:
        cheapest = options.loc[options.billed_usd.idxmin()]
        return f"Fastest{limit}: none; the cheapest is {_said(cheapest)}."
    return f"Fastest{limit}: {_said(cheap.loc[cheap.elapsed_s.idxmin()])}."


def _said(option: pd.Series) -> str:
    return (
        f"{_name(option)}, {_span(option, 'elapsed', amounts.seconds)} for "
        f"{_span(option, 'billed', amounts.dollars)} ("
        f"{names.price_kind(option.price_kind)}, {amounts.price(option.price_per_hour_usd)} an hour"
        f"{_since(option)}{_notes(option)}{_break_even_rate(option)})"
    )


def _since(option: pd.Series) -> str:
    dated = pd.notna(option.price_date) and option.price_date
    return f" on {option.price_date}" if dated else ""


def _break_even_rate(option: pd.Series) -> str:
    """How often a machine may be interrupted before it costs as much as on demand."""
    rate = option.break_even_per_hour
    if pd.isna(rate):
        return ""
    said = f"{rate:.2g} times an hour" if rate < _RARE_LIMIT else "more than once a minute"
    return f"; costs as much as on demand if interrupted {said}"


def _kind(option: pd.Series) -> str:
    return f" ({names.price_kind(option.price_kind)})"


def _name(option: pd.Series) -> str:
    name = f"{option.hardware_label} with {names.framework(option.framework, option.variant)}"
    return f"{name} [{option.apart}]" if option.apart else name


def _notes(option: pd.Series) -> str:
    notes = []
    if option.source_id != OWN:
        notes.append(f"as published, {option.source_id}")
    if not option.predicted:
        notes.append("a single run" if option.runs == 1 else f"median of {option.runs} runs")
    notes += remarks.of_option(option)
    return "".join(f"; {note}" for note in notes)


def _span(option: pd.Series, what: str, say) -> str:
    value = say(option[f"{what}_usd" if what == "billed" else f"{what}_s"])
    low, high = option[f"{what}_low"], option[f"{what}_high"]
    return value if pd.isna(low) or low == high else f"{value} [{say(low)} to {say(high)}]"


def _table(options: pd.DataFrame) -> list[str]:
    """The Pareto-optimal options, and of each other machine of one's own the cheapest."""
    worth_it = options[options.efficient.astype(bool)]
    own = options[options.source_id.eq(OWN)].sort_values("billed_usd", kind="stable")
    own = own.drop_duplicates(_MACHINE)
    keys = [tuple(key) for key in worth_it[_MACHINE].fillna("").itertuples(index=False)]
    missing = [tuple(key) not in keys for key in own[_MACHINE].fillna("").itertuples(index=False)]
    shown = pd.concat([worth_it, own[missing]])
    ordered = shown.sort_values("elapsed_s")
    rows = [("Pareto-optimal: nothing is both faster and cheaper", "time", "bill", "cheapest with")]
    rows += [
        (
            f"{_name(option)} ({names.price_kind(option.price_kind)}{_notes(option)}"
            f"{'' if option.efficient else '; another is faster and cheaper'})",
            amounts.seconds(option.elapsed_s),
            amounts.dollars(option.billed_usd),
            _chance(option.cheapest_probability) if len(options) > 1 else "",
        )
        for _, option in ordered.iterrows()
    ]
    rest = 1 - ordered.cheapest_probability.sum()
    if rest >= 0.005:
        rows.append(("others", "", "", f"{rest:.0%}"))
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    return [
        "  " + "  ".join(
            [row[0].ljust(widths[0]), *(row[n].rjust(widths[n]) for n in (1, 2, 3))]
        )
        for row in rows
    ]  # fmt: skip


def _chance(probability: float) -> str:
    """A probability in words; what rests on few runs is never certain."""
    if probability > _CERTAIN:
        return f"over {_CERTAIN:.0%}"
    return f"{probability:.0%}" if probability >= 1 - _CERTAIN else f"under {1 - _CERTAIN:.0%}"


def _break_evens(options: pd.DataFrame, rental: Rental) -> list[str]:
    """The epochs from which a GPU beats a CPU, and monthly billing hourly, where both exist."""
    lines = []
    for is_one in (options.gpu.astype(bool), options.price_kind.eq(prices.MONTHLY)):
        if is_one.any() and not is_one.all():
            ones, others = options[is_one], options[~is_one]
            both = options.loc[[ones.billed_usd.idxmin(), others.billed_usd.idxmin()]]
            if choices.tied_with(both, both.loc[both.billed_usd.idxmin()]).empty:
                lines.append(_break_even(both.iloc[0], both.iloc[1], rental))
            else:
                named = " and ".join(_offered(option) for _, option in both.iterrows())
                lines.append(f"No break-even of {named}: no difference in cost is shown.")
    return lines


def _break_even(first: pd.Series, second: pd.Series, rental: Rental) -> str:
    """The number of epochs from which one option is cheaper than the other.

    What a published training takes around its epochs is unknown; it is assumed to be the same as
    for the other one.
    """
    owns = [option for option in (first, second) if option.source_id == OWN]
    assumed = ""
    if len(owns) == 1:
        start = {"overhead_s": owns[0].start_s}
        first, second = (pd.Series(dict(option) | start) for option in (first, second))
        assumed = ", if both take as long to start"
    for option, other in ((first, second), (second, first)):
        number = choices.break_even_epochs(option, other, rental)
        if number == 1:
            ends = "for any number of epochs"
        elif number is not None:
            ends = f"from {number:,} epochs on"
        else:
            continue
        return f"{_offered(option)} costs less than {_offered(other)} {ends}{assumed}."
    return f"Neither {_offered(first)} nor {_offered(second)} stays the cheaper one."


def _offered(option: pd.Series) -> str:
    notes = remarks.of_offer(option)
    return f"{_name(option)} ({', '.join(notes)})" if notes else _name(option)


def _units(options: pd.DataFrame) -> list[str]:
    best = options.loc[options.billed_usd.idxmin()]
    parts = [
        f"{amounts.dollars(value)} {what}"
        for value, what in (
            (best.per_epoch_usd, "per epoch"),
            (best.per_million_samples_usd, "per million samples"),
            (best.per_accuracy_point_usd, "per point of accuracy"),
            (best.to_target_usd, "to the quality target"),
        )
        if pd.notna(value)
    ]
    return [f"Unit costs of {_name(best)}, training alone: {', '.join(parts)}."]


def _caveats(options: pd.DataFrame) -> list[str]:
    lines = []
    if options.source_id.ne(OWN).all():
        lines.append(f"None that was measured here is among them. {_OPTION}")
    if options.source_id.ne(OWN).any():
        lines.append(
            "Published trainings ran on the software of then: GPUs older than the T4 do not run "
            "the frameworks pinned here."
        )
    if options.predicted.any():
        lines.append("Full runs (scale=full) take the place of predictions.")
    few = options.predicted.astype(bool) | options.runs.lt(intervals.FEWEST_RUNS)
    if few.any():
        lines.append(
            "Single runs, few runs and predictions have the spread that repeats of their kind have "
            "shown. Ranges hold 95 of 100, in another hour too unless all were measured in one."
        )
    if (options.billing_increment_s.isna() & options.price_kind.ne(billing.OWNED)).any():
        lines.append(
            "Where a provider's increments or fees are not known, the bill is by the second, "
            "without fees."
        )
    return lines
