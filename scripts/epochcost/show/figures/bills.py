"""What the bills of the options worth it are made of, in seconds and in dollars."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from epochcost.money import billing
from epochcost.money.billing import PARTS, Rental
from epochcost.money.elsewhere import ESTIMATED
from epochcost.show.figures import style
from epochcost.show.wording import amounts, names, remarks

# A bill of which training is more than this share has nothing else to show.
PLAIN = 0.95
# Bills that are drawn; the others are counted.
MOST = 8
_WIDTH, _LEFT, _GAP, _RIGHT, _ROW = 10.0, 2.55, 0.3, 0.75, 0.5  # inches
# Letters of a label.
_LONGEST = 36
_OVER, _UNDER, _LEGEND = 0.35, 0.3, 0.3
# Of parts other than training, from dark to light, with a pattern where a neighbour is like it.
_TONES = ("#4d4d4d", "#7f7f7f", "#a6a6a6", "#c9c9c9", "#e3e3e3")


def draw(options: pd.DataFrame, rental: Rental, workload: str) -> plt.Figure:
    """Draw the bills of the options that no other beats, where not all of it is training.

    Args:
        options: the workload's rows of options.csv.
        rental: what the tables were made with.
    """
    style.apply()
    bills = worth_it(options, rental)
    shown = bills[bills.share.lt(PLAIN)].head(MOST)
    frame = style.Frame(122, title(bills, workload), _grey(bills, shown), _notes(bills, shown))
    low = frame.below + (_LEGEND if len(shown) else 0)
    inner = _ROW * len(shown)
    over, under = (_OVER, _UNDER) if len(shown) else (0, 0)
    height = low + under + inner + over + frame.above
    figure = plt.figure(figsize=(_WIDTH, height))
    frame.write(figure, low - frame.below)
    if shown.empty:
        return figure
    wide = (_WIDTH - _LEFT - _GAP) / 2
    for number, (unit, say, tick, ticks) in enumerate(
        (
            ("seconds", amounts.seconds, style.tick_of_seconds, style.SECONDS),
            ("dollars", amounts.dollars, style.tick_of_dollars, style.DOLLARS),
        )
    ):
        left = _LEFT + number * (wide + _GAP)
        box = (left, low + under, wide - _RIGHT, inner)
        axes = figure.add_axes((box[0] / _WIDTH, box[1] / height, box[2] / _WIDTH, box[3] / height))
        _panel(axes, shown, number, say)
        axes.set_title(f"{unit} charged", fontsize=10, fontweight="bold", loc="left")
        _scale(axes, tick, ticks)
        if number:
            axes.tick_params(axis="y", labelleft=False)
    _legend(figure, shown)
    return figure


def worth_it(options: pd.DataFrame, rental: Rental) -> pd.DataFrame:
    """The options with a bill that no other beats, cheapest first, with their `parts` and `share`.

    `share` is how much of the bill is training. Of one training at several prices each is a row.
    """
    priced = options[options.billed_usd.gt(0) & options.efficient.astype(bool)]
    estimated = priced.evidence.eq(ESTIMATED)
    priced = priced if estimated.all() else priced[~estimated]
    ordered = priced.sort_values(["billed_usd", "elapsed_s"], kind="stable", ignore_index=True)
    parts = [
        billing.bill_in_parts(
            row.time_s,
            row.overhead_s,
            billing.terms_of(row),
            billing.besides(row.price_kind, rental),
        )
        for row in ordered.itertuples()
    ]
    shares = [
        one["training"][1] / total for one, total in zip(parts, ordered.billed_usd, strict=True)
    ]
    return ordered.assign(
        parts=parts, share=pd.Series(shares, dtype=float), apart=names.tell_apart(ordered)
    )


def title(bills: pd.DataFrame, workload: str) -> str:
    """What was found, in at most 60 characters."""
    if bills.empty:
        return f"{workload}: no bill is known"
    least = bills.share.min()
    if least >= PLAIN:
        return f"{workload}: the bills are for training"
    return f"{workload}: as little as {least:.0%} of a bill is training"


def _grey(bills: pd.DataFrame, shown: pd.DataFrame) -> str:
    if bills.empty:
        return "No machine of today has a price and a time here."
    if shown.empty:
        which = "the only option" if len(bills) == 1 else f"each of the {len(bills)} best options"
        return f"At least {bills.share.min():.0%} of the bill of {which} is training."
    said = "The options that no other beats, cheapest first."
    return said if shown.terms.eq("with start").any() else f"{said} Starts are not known."


def _notes(bills: pd.DataFrame, shown: pd.DataFrame) -> list[str]:
    plain, left = int(bills.share.ge(PLAIN).sum()), int(bills.share.lt(PLAIN).sum()) - len(shown)
    notes = []
    if plain and len(shown):
        notes.append(f"Not drawn, as at least {PLAIN:.0%} is training: {plain}.")
    if left:
        notes.append(f"{left} more are in the tables.")
    return notes


def _panel(axes, shown: pd.DataFrame, unit: int, say) -> None:
    """A stacked bar per option; `unit` is the place of seconds or dollars in its parts."""
    labels = []
    for place, row in enumerate(shown.itertuples()):
        begin = 0.0
        for name, tone in zip(PARTS, _colours(row.framework), strict=True):
            value = row.parts[name][unit]
            axes.barh(place, value, left=begin, color=tone, height=0.56,
                      edgecolor=style.PAPER, linewidth=0.6)  # fmt: skip
            begin += value
        axes.annotate(
            say(begin), (begin, place), xytext=(4, 0), textcoords="offset points", va="center",
            fontsize=8.5,
        )  # fmt: skip
        notes = [style.mark(row.framework).short, *remarks.of_offer(row)]
        labels.append(f"{_short(row.hardware_label)}\n{_first_of(notes)}")
    axes.set_yticks(range(len(shown)), labels, fontsize=8.5)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlim(0, max(sum(part[unit] for part in row.parts.values())
                         for row in shown.itertuples()))  # fmt: skip


def _first_of(notes: list[str]) -> str:
    """As many notes as fit, whole; the first in any case."""
    while len(notes) > 1 and len(", ".join(notes)) > _LONGEST:
        notes = notes[:-1]
    return _short(", ".join(notes))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _colours(framework: str) -> tuple[str, ...]:
    return (style.mark(framework).colour, *_TONES)


def _scale(axes, tick, ticks) -> None:
    high = axes.get_xlim()[1]
    fit = [one for one in ticks if high / 4 < one <= high][-3:]
    axes.xaxis.set_major_locator(FixedLocator([0, *fit[-1:]] if len(fit) < 2 else [0, fit[-1]]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value) if value else "0"))
    axes.tick_params(axis="x", labelsize=8.5)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _legend(figure: plt.Figure, shown: pd.DataFrame) -> None:
    used = [name for name in PARTS if any(row.parts[name][1] > 0 for row in shown.itertuples())]
    tones = dict(zip(PARTS, _colours(shown.framework.iloc[0]), strict=True))
    handles = [
        Patch(
            facecolor=tones[name], edgecolor=style.FAINT, linewidth=0.5,
            label=name,
        )
        for name in used
    ]  # fmt: skip
    figure.legend(
        handles=handles, loc="lower left", ncols=6, frameon=False, fontsize=8.5,
        handlelength=1.2, handletextpad=0.4, columnspacing=1.2, borderaxespad=0.2,
    )  # fmt: skip
