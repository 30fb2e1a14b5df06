"""Time and cost of one workload side by side: a line per machine, a dot per framework.

Both axes are logarithmic, in seconds and dollars; above them stands the ratio to the baseline. A
filled dot was measured in full, a hollow one is predicted from a quick run.
"""

import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from epochcost.results.rows import OWN
from epochcost.results.tables import made_here
from epochcost.show.figures import style
from epochcost.show.wording import amounts, names, remarks

# Machines that are drawn, besides those at hand and the baseline's; the others are counted.
MOST = 15
_LONGEST_TITLE = 60
# Inches: between panels, above one (its title and ratios), below it (units).
_GAP, _OVER, _UNDER = 0.3, 0.55, 0.32


@dataclass(frozen=True)
class Base:
    """What 1x is; `month` is YYYY-MM."""

    hardware: str
    framework: str
    month: str
    price_per_hour_usd: float
    time_s: float
    cost_usd: float

    @property
    def said(self) -> str:
        """What it was, in words."""
        price = amounts.price(self.price_per_hour_usd)
        return f"{self.hardware} with {self.framework}, {self.month}, at {price} an hour"


@dataclass(frozen=True)
class Panel:
    """One of the two sides: the columns it shows, and how its numbers are said."""

    column: str
    title: str
    say: Callable[[float], str]
    tick: Callable[[float], str]
    ticks: tuple[float, ...]


PANELS = (
    Panel("time", "time of one training", amounts.seconds, style.tick_of_seconds, style.SECONDS),
    Panel(
        "cost", "cost of one training", amounts.dollars, style.tick_of_dollars,
        style.DOLLARS,
    ),
)  # fmt: skip
# All lies within the axes: to cut it there, and round ends, would be a third of its bytes.
_LIGHT = {"clip_on": False, "solid_capstyle": "butt"}
_VALUE = {"time": "time_s", "cost": "cost_usd"}


def draw(
    rows: pd.DataFrame,
    workload: str,
    base: Base,
    machine_id: str = "",
    narrow: bool = False,
    gone: Collection[str] = (),
) -> plt.Figure:
    """Draw the machines of one workload.

    Args:
        rows: rows of relative.csv for one workload (`selection.rows_of`).
        base: what 1x is.
        machine_id: the machine at hand.
        narrow: for a phone: one panel below the other.
        gone: hardware that nobody can rent any more.
    """
    style.apply()
    rows = rows[rows.time_relative.notna()].reset_index(drop=True)
    here = made_here(rows) & rows.machine_id.eq(machine_id)
    rows = _ranged(rows.assign(here=here, line=lines_of(rows, machine_id)))
    shown, left = choose(rows)
    order = list(dict.fromkeys(shown.line))
    frame = style.Frame(
        56 if narrow else 122, finding(rows, workload, gone), qualification(rows, base),
        list(_footer(shown, left)),
    )  # fmt: skip
    # On a phone, machines without a price have no line in the panel of costs.
    priced = set(shown[shown.cost_usd.notna()].line)
    orders = (order, [line for line in order if line in priced] if narrow else order)
    figure, both = _panels([len(lines) for lines in orders], frame, _handles(shown), narrow)
    for axes, panel, lines in zip(both, PANELS, orders, strict=True):
        _panel(axes, shown, lines, panel, base)
        _machines(axes, shown, lines, 20 if narrow else 33)
    if not narrow:
        both[1].tick_params(axis="y", labelleft=False)
    return figure


def _ranged(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the ends of their thin lines; a cost is as uncertain as its time."""
    ends = pd.DataFrame(map(remarks.interval_of, rows.itertuples()), rows.index, ["from", "to"])
    ends = ends.astype(float)
    named = {f"time_{end}": ends[end] for end in ends}
    named |= {f"cost_{end}": rows.cost_usd * ends[end] / rows.time_s for end in ends}
    return rows.assign(**named)


def _panels(
    machines: list[int], frame: style.Frame, handles: list[Line2D], narrow: bool
) -> tuple[plt.Figure, list[plt.Axes]]:
    """An empty figure with its texts and legend, and the two panels; all sizes are inches."""
    width, columns = (4.2, 2) if narrow else (10.0, 8)
    line, left = (0.52, 1.55) if narrow else (0.46, 2.55)
    legend = 0.23 * -(-len(handles) // columns)
    low = legend + frame.below + _UNDER
    first, second = (line * max(count, 1) + 0.2 for count in machines)
    if narrow:
        wide, above = width - left - 0.2, low + second + _OVER + _UNDER
        places = [(left, above, first), (left, low, second)]
    else:
        wide, above = (width - left - _GAP - 0.2) / 2, low
        places = [(left, low, first), (left + wide + _GAP, low, first)]
    height = above + first + _OVER + frame.above
    figure = plt.figure(figsize=(width, height))
    both = [
        figure.add_axes((x / width, y / height, wide / width, inner / height))
        for x, y, inner in places
    ]
    frame.write(figure, legend)
    figure.legend(
        handles=handles, loc="lower left", ncols=columns, frameon=False, fontsize=8.5,
        handletextpad=0.2, columnspacing=1.2, borderaxespad=0.2,
    )  # fmt: skip
    return figure, both


def lines_of(rows: pd.DataFrame, machine_id: str = "") -> list[str]:
    """The name of each row's machine, with what tells it from others of that name.

    Args:
        machine_id: the machine at hand.
    """
    return [f"{row.hardware_label}\n{_kind(row, machine_id)}" for row in rows.itertuples()]


def _kind(row, machine_id: str) -> str:
    if row.source_id != OWN:
        return f"published {row.price_book[:4]}"
    if pd.notna(row.shipped) and row.shipped:
        return f"by the project, {str(row.shipped)[:7]}"
    return "this machine" if row.machine_id == machine_id else f"machine {row.machine_id[:8]}"


def choose(rows: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The rows of the machines to draw, the fastest first, and how many machines are left out."""
    best = rows.groupby("line").time_s.min().sort_values(kind="stable")
    fixed = set(rows[rows.here | rows.time_relative.eq(1)].line)
    others = [line for line in best.index if line not in fixed][:MOST]
    drawn = [line for line in best.index if line in fixed or line in others]
    shown = rows[rows.line.isin(drawn)]
    place = shown.line.map({line: number for number, line in enumerate(drawn)})
    ordered = shown.assign(place=place).sort_values(["place", "time_s"], kind="stable")
    return ordered.reset_index(drop=True), len(best) - len(drawn)


def _panel(axes, shown: pd.DataFrame, order: list[str], panel: Panel, base: Base) -> None:
    one = base.time_s if panel.column == "time" else base.cost_usd
    value = _VALUE[panel.column]
    drawn = shown[shown[value] > 0]
    ends = [drawn[value], drawn[f"{panel.column}_from"], drawn[f"{panel.column}_to"]]
    seen = pd.concat([*ends, pd.Series([one])]).dropna()
    axes.set_xscale("log")
    axes.set_xlim(seen.min() / 1.6, seen.max() * 1.6)
    axes.set_ylim(len(order) - 0.35, -0.75)
    axes.set_title(panel.title, fontsize=10, fontweight="bold", loc="left")
    for line, rows in drawn.groupby("line"):
        place = order.index(line)
        axes.plot(
            [rows[value].min(), rows[value].max()], [place, place],
            color=style.BAND, linewidth=5, zorder=1, **_LIGHT,
        )  # fmt: skip
        for row in rows.sort_values(value, ascending=False, kind="stable").itertuples():
            _dot(axes, place, row, panel)
        _best(axes, place, rows, panel)
    for row in shown[shown[value].eq(0)].itertuples():
        axes.annotate(
            "free", (0.02, order.index(row.line)), xycoords=("axes fraction", "data"),
            va="center", fontsize=8.5, fontweight="bold",
        )  # fmt: skip
    axes.axvline(one, color=style.INK, linestyle=(0, (4, 3)), linewidth=1, zorder=1)
    _scales(axes, panel, one)
    if drawn.synthetic.any():
        axes.text(
            0.5, 0.5, "SYNTHETIC DATA", ha="center", va="center", rotation=18, zorder=0,
            transform=axes.transAxes, fontsize=22, color=style.FAINT, alpha=0.3,
            fontweight="bold",
        )  # fmt: skip


def _dot(axes, place: int, row, panel: Panel) -> None:
    mark = style.mark(row.framework)
    value = getattr(row, _VALUE[panel.column])
    low, high = getattr(row, f"{panel.column}_from"), getattr(row, f"{panel.column}_to")
    if pd.notna(low) and pd.notna(high):
        axes.plot(
            [low, high], [place, place], color=mark.colour, linewidth=1.3, zorder=2, **_LIGHT
        )  # fmt: skip
    axes.plot(
        value, place, mark.shape, markersize=8 if _is_plain(row) else 5, zorder=3,
        markeredgecolor=mark.colour, markeredgewidth=1.5,
        markerfacecolor=style.PAPER if row.predicted else mark.colour, **_LIGHT,
    )  # fmt: skip


def _is_plain(row) -> bool:
    """Whether a row is one by the recipe, with default settings, on all of the data, in peace."""
    return row.variant == "default" and not remarks.of_training(row, row.quality_reached)


def _best(axes, place: int, rows: pd.DataFrame, panel: Panel) -> None:
    """Name the best dot of a line, above it."""
    value = _VALUE[panel.column]
    good = rows[~rows.quality_reached.eq(False)]
    if good.empty:
        return
    best = good.loc[good[value].idxmin()]
    low, high = (axes.transData.inverted().transform(axes.transAxes.transform((at, 0)))[0]
                 for at in (0.3, 0.7))  # fmt: skip
    side = "left" if best[value] < low else "right" if best[value] > high else "center"
    kind = f", {names.price_kind(best.price_kind)}" if _is_odd(best, panel) else ""
    axes.annotate(
        f"{style.mark(best.framework).short} {panel.say(best[value])}{kind}",
        (best[value], place), xytext=(0, 6), textcoords="offset points",
        ha=side, va="bottom", fontsize=8.5, zorder=4,
        fontweight="bold" if best.here else "normal",
        bbox={"facecolor": style.PAPER, "edgecolor": "none", "pad": 0.5},
    )  # fmt: skip


def _is_odd(row, panel: Panel) -> bool:
    """Whether a price is of another kind than the baseline's."""
    return panel.column == "cost" and bool(row.mixed_price_kinds)


def _machines(axes, shown: pd.DataFrame, order: list[str], length: int) -> None:
    """Name the machines left of their lines; `length` is how many characters fit."""
    here = set(shown[shown.here].line)
    texts = []
    for line in order:
        name, kind = line.split("\n")
        texts.append("\n".join([*_in_two(name, length), kind]))
    axes.set_yticks(range(len(order)), texts, fontsize=8.5)
    for tick, line in zip(axes.get_yticklabels(), order, strict=True):
        tick.set_fontweight("bold" if line in here else "normal")
    axes.tick_params(axis="y", length=0)
    axes.spines[["right", "left"]].set_visible(False)


def _in_two(name: str, length: int) -> list[str]:
    """A name in at most two lines of much the same length, so that no word stands alone."""
    widths = range(len(name) // 2, length)
    both = (textwrap.wrap(name, width) for width in widths)
    cut = textwrap.wrap(name, length, max_lines=2, placeholder="…")
    return next((lines for lines in both if len(lines) == 2), cut) if len(cut) == 2 else cut


def _scales(axes, panel: Panel, one: float) -> None:
    """Real units below, ratios to the baseline above; a number each half inch or more."""
    low, high = axes.get_xlim()
    most = int(axes.get_position().width * axes.figure.get_figwidth() / 0.58)
    axes.xaxis.set_major_locator(FixedLocator(style.few(panel.ticks, low, high, most)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: panel.tick(value)))
    axes.tick_params(axis="x", labelsize=8.5)
    axes.grid(True, axis="x", color=style.GRID, zorder=0)
    axes.set_axisbelow(True)
    above = axes.secondary_xaxis(
        "top", functions=(lambda value: value / one, lambda ratio: ratio * one)
    )
    above.xaxis.set_major_locator(
        FixedLocator(style.few(style.RATIOS, low / one, high / one, most, 1.0))
    )
    above.xaxis.set_minor_locator(NullLocator())
    above.xaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}x"))
    above.tick_params(axis="x", labelsize=8.5, colors=style.FAINT, length=2)


def finding(rows: pd.DataFrame, workload: str, gone: Collection[str] = ()) -> str:
    """The title: how the best row here compares with the K80; else who is best of the others.

    These are machines that were measured with today's software and can be had.
    """
    good = rows[~rows.quality_reached.eq(False)]
    here = good[good.here]
    if not here.empty:
        best = here.loc[here.time_relative.idxmin()]
        said = f"{workload} here: {amounts.ratio(best.time_relative)} the K80's time"
        if pd.notna(best.cost_relative):
            said += f", {amounts.ratio(best.cost_relative)} cost"
        return said
    if rows.here.any():
        return f"{workload}: no run here reached the quality target"
    if good.empty:
        return f"{workload}: no run reached the quality target"
    today = good[good.source_id.eq(OWN) & ~good.hardware_id.isin(list(gone))]
    if today.empty:
        return f"{workload}: what others published"
    fastest = today.loc[today.time_s.idxmin()].hardware_label
    said = f"{workload}: {fastest} is the fastest"
    priced = today[today.cost_usd > 0]
    if not priced.empty:
        cheapest = priced.loc[priced.cost_usd.idxmin()]
        kind = f" ({names.price_kind(cheapest.price_kind)})" if cheapest.mixed_price_kinds else ""
        both = f"{workload}: {fastest} fastest, {cheapest.hardware_label} cheapest{kind}"
        said = both if len(both) <= _LONGEST_TITLE else said
    return said if len(said) <= _LONGEST_TITLE else f"{workload}: what others measured"


def qualification(rows: pd.DataFrame, base: Base) -> str:
    """The line below the title: what it rests on, and what 1x is."""
    good = rows[rows.here & ~rows.quality_reached.eq(False)]
    said = []
    if not good.empty:
        best = good.loc[good.time_relative.idxmin()]
        notes = [names.framework(best.framework, best.variant), *remarks.of_row(best)]
        if best.mixed_price_kinds:
            notes.append(f"{names.price_kind(best.price_kind)} price")
        said.append(f"Here: {', '.join(notes)}.")
    return " ".join([*said, f"1x: {base.said}."])


def _footer(shown: pd.DataFrame, left: int) -> Iterable[str]:
    lines = dict.fromkeys(shown.line)
    priced = set(shown[shown.cost_usd.notna()].line)
    named = Counter(line.split("\n")[0] for line in lines)
    without = [
        name if named[name] == 1 else f"{name} ({kind})"
        for name, kind in (line.split("\n") for line in lines if line not in priced)
    ]
    if without:
        yield f"No price known: {'; '.join(without)}."
    if shown.time_from.notna().any():
        yield "Thin lines: where the time may be; with under six full runs, also in another hour."
    if left:
        yield f"{left} more machines are in the tables."
    if not all(_is_plain(row) for row in shown.itertuples()):
        yield "Small marks: tuned, disturbed or of another recipe; the table says which."


def _handles(shown: pd.DataFrame) -> list[Line2D]:
    """What the legend explains."""
    present = [name for name in names.FRAMEWORKS if name in set(shown.framework)]
    handles = [
        Line2D(
            [], [], marker=style.mark(name).shape, linestyle="none", markersize=7,
            color=style.mark(name).colour, label=names.framework(name),
        )
        for name in present
    ]  # fmt: skip
    if shown.predicted.any():
        handles.append(
            Line2D([], [], marker="o", linestyle="none", markersize=7, markeredgewidth=1.5,
                   markeredgecolor=style.INK, markerfacecolor=style.PAPER, label="predicted")
        )  # fmt: skip
    return handles
