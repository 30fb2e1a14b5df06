"""What training one model has cost since 2016, and what contributed how much to the change."""

import math
from operator import itemgetter

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.dates import date2num
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from epochcost.money.history import Change
from epochcost.show.figures import style
from epochcost.show.wording import amounts, remarks

# Names of lines: their approximate width, and the space that one above another needs.
_NAME_POINTS = 120
_LINE_POINTS = 10
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)


def draw(
    table: pd.DataFrame, best: pd.Series | None, change: Change | None, workload: str, base: str
) -> plt.Figure:
    """Draw the history of one workload.

    Args:
        table: its rows of history.csv, without free offers.
        best: its cheapest option that was measured here, with `date`; None for none.
        change: from the baseline to that; None where one of the two is missing.
        base: what the baseline is, such as `the K80 of 2017`.
    """
    style.apply()
    figure, (axes, split) = plt.subplots(
        1, 2, figsize=(12, 5.2), width_ratios=[3, 1.35], layout="constrained"
    )
    axes.set_yscale("log")
    ends = []
    for (hardware, kind), line in table.groupby(["hardware_id", "price_kind"], sort=True):
        dates = pd.to_datetime(line.date)
        dashed = (0, (4, 2)) if kind != "on_demand" else "solid"
        axes.plot(
            dates, line.cost_usd, marker="o", markersize=5, drawstyle="steps-post",
            linestyle=dashed, color=style.colour(hardware), linewidth=1.5,
        )  # fmt: skip
        name = f"{line.hardware_label.iloc[-1]}, {kind.replace('_', '-')}"
        ends.append((dates.iloc[-1], line.cost_usd.iloc[-1], name))
    if best is not None:
        date = pd.to_datetime(best.date)
        axes.plot(date, best.marginal_usd, "D", color=style.colour("local"), markersize=9)
        above = room_above(best.marginal_usd, [usd for _, usd, _ in ends])
        axes.annotate(
            f"{best.hardware_label}\nmeasured here{_notes(best)}", (date, best.marginal_usd),
            xytext=(-8, 4 if above else -4), textcoords="offset points", ha="right",
            va="bottom" if above else "top", fontsize=8, fontweight="bold",
        )  # fmt: skip
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"${value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.08, y=0.12)
    left, right = axes.get_xlim()
    axes.set_xlim(left, right + 0.15 * (right - left))  # room for names
    axes.set_ylabel("training alone, at that day's price")
    axes.spines[["top", "right"]].set_visible(False)
    _split(split, change, base)
    style.headline(axes, title(change, workload, base), "" if best is None else _grey(best))
    _name_lines(axes, ends)
    return figure


def _name_lines(axes, ends: list[tuple[pd.Timestamp, float, str]]) -> None:
    """Write each line's name at its end, above the one below where the two would overlap."""
    figure = axes.figure
    figure.draw_without_rendering()  # the layout is known from here on
    points = 72 / figure.dpi
    written: list[tuple[float, float]] = []
    for date, usd, name in sorted(ends, key=itemgetter(1)):
        right, height = points * axes.transData.transform((date2num(date), usd))
        free = height
        for other_right, other in written:
            if abs(other_right - right) < _NAME_POINTS:
                free = max(free, other + _LINE_POINTS)
        written.append((right, free))
        axes.annotate(
            name, (date, usd), xytext=(6, free - height), textcoords="offset points",
            va="center", fontsize=8,
        )  # fmt: skip


def room_above(usd: float, lines: list[float]) -> bool:
    """Whether the nearest of the lines above a cost is farther from it than that below."""
    above = min((line / usd for line in lines if line >= usd), default=math.inf)
    below = min((usd / line for line in lines if line < usd), default=math.inf)
    return above > below


def _split(axes, change: Change | None, base: str) -> None:
    """The factors between then and now, each beginning where the one before ends."""
    if change is None:
        axes.set_axis_off()
        axes.text(
            0.5, 0.5, "nothing with a price\nwas measured here", ha="center", color=style.FAINT
        )
        return
    if change.hardware is None:
        parts = {"hourly price": change.price, "hardware and software": change.both}
    else:
        parts = {
            "hourly price": change.price, "hardware": change.hardware,
            "software": change.software,
        }  # fmt: skip
    axes.set_xscale("log")
    begin = 1.0
    for place, (name, factor) in enumerate([*parts.items(), ("overall", change.whole)]):
        start = 1.0 if name == "overall" else begin
        end = start * factor
        colour = style.INK if name == "overall" else style.colour("local")
        axes.barh(place, end - start, left=start, color=colour, height=0.6)
        axes.annotate(
            amounts.ratio(factor), (max(start, end), place), xytext=(5, 0),
            textcoords="offset points", va="center", fontsize=10,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )  # fmt: skip
        begin = end
    axes.axvline(1, color=style.INK, linestyle=(0, (4, 3)), linewidth=1)
    axes.set_yticks(range(len(parts) + 1), [*parts, "overall"])
    axes.invert_yaxis()
    low, high = axes.get_xlim()
    axes.set_xlim(low / 1.3, high * 2.5)
    axes.set_xticks([tick for tick in _TICKS if low / 1.3 <= tick <= high * 2.5])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(f"cost relative to {base}")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def title(change: Change | None, workload: str, base: str) -> str:
    """What was found, in at most 60 characters."""
    if change is None:
        return f"{workload}: what its training has cost since 2017"
    return f"{workload}: {amounts.ratio(change.whole)} what {base} cost"


def _grey(best: pd.Series) -> str:
    return ", ".join([f"Now: {best.hardware_label}", *remarks.of_offer(best)])


def _notes(best: pd.Series) -> str:
    notes = remarks.of_offer(best)
    return f" ({', '.join(notes)})" if notes else ""
