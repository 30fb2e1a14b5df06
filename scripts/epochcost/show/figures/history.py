"""What training cost in 2017 and costs now, over all workloads, and what changed it.

On the left a line per workload, from its cost then to its cheapest known one now. On the right the
factors of that change, each beginning where the one before ends.
"""

import math
import textwrap
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from epochcost.money.elsewhere import ESTIMATED
from epochcost.results.rows import OWN
from epochcost.show.figures import style
from epochcost.show.wording import amounts, names

_ROW, _OVER, _UNDER, _LEGEND, _WIDTH = 0.62, 0.35, 0.35, 0.3, 10.0  # inches
# The two panels: left edge and width in inches, the wide picture and the narrow one.
_WIDE, _NARROW = ((1.95, 1.5), (6.5, 2.1)), ((1.7, 0.65), (1.2, 1.6))
# What is hardware and software in one is drawn in the tones of the two.
_TONES = {"price": "#cfcfcf", "hardware": "#808080", "software": "#1f1f1f", "both": "#808080"}
_HATCHED = {"both": {"hatch": "////", "edgecolor": "#1f1f1f", "linewidth": 0}}
_SAID = {"price": "hourly price", "both": "hardware and software"}
# Lines of names that do not stand on each other, as a share of the panel for each of so many.
_LINE = 0.19


def draw(table: pd.DataFrame, narrow: bool = False) -> plt.Figure:
    """Draw the history.

    Args:
        table: history.csv.
        narrow: for a phone: one panel below the other.
    """
    style.apply()
    table = table.sort_values("then_usd", ascending=False, kind="stable", ignore_index=True)
    frame = style.Frame(56 if narrow else 122, title(table), _grey(table))
    inner = _ROW * max(len(table), 2)
    low = _LEGEND * (2 if narrow else 1) + frame.below + _UNDER
    height = low + inner + _OVER + frame.above + (inner + _OVER + _UNDER if narrow else 0)
    width = 4.2 if narrow else _WIDTH
    figure = plt.figure(figsize=(width, height))
    frame.write(figure, low - frame.below)
    places = _NARROW if narrow else _WIDE
    bottoms = (low + inner + _OVER + _UNDER, low) if narrow else (low, low)
    slopes, factors = (
        figure.add_axes((left / width, bottom / height, wide / width, inner / height))
        for (left, wide), bottom in zip(places, bottoms, strict=True)
    )
    _slopes(slopes, table, inner, narrow)
    _factors(factors, table)
    _legend(figure, table, narrow)
    return figure


def title(table: pd.DataFrame) -> str:
    """What was found, in at most 60 characters."""
    now = table[table.now_usd.notna()]
    if now.empty:
        return "What training cost in 2017"
    own, guessed = now[now.source_id.eq(OWN)], now.evidence.eq(ESTIMATED)
    if own.empty and not guessed.any():
        return f"{amounts.ratio(now.whole.median())} the cost of 2017: old times, today's prices"
    known, how = (own, "trained here") if len(own) else (now[guessed], ESTIMATED)
    middle = amounts.ratio(known.whole.median())
    median = " (median)" if len(known) > 1 else ""
    return f"{len(known)} of {len(table)} {how}: {middle} the cost of 2017{median}"


def _grey(table: pd.DataFrame) -> str:
    books = sorted(set(table.then_book))
    said = [f"Then: the K80 with TensorFlow, prices of {' and '.join(books)}."]
    said.append("Now: the cheapest option at the newest price, on demand or owned.")
    if table.evidence.eq(ESTIMATED).any():
        said.append("Grey cross: estimated from other machines.")
    if (table.source_id.notna() & ~table.source_id.isin([OWN, ESTIMATED])).any():
        said.append("Grey: a published time, at today's price.")
    return " ".join(said)


def _slopes(axes, table: pd.DataFrame, inner: float, narrow: bool) -> None:
    """A line per workload, in dollars; names and amounts beside its ends."""
    axes.set_yscale("log")
    axes.set_xlim(-0.08, 1.08)
    usd = pd.concat([table.then_usd, table.now_usd]).dropna()
    axes.set_ylim(usd.min() / 1.5, usd.max() * 1.5)
    for row in table.itertuples():
        if pd.isna(row.now_usd):
            axes.plot(0, row.then_usd, "o", color=style.FAINT, markersize=6)
            continue
        mark = style.mark(row.framework)
        is_guess = row.evidence == ESTIMATED
        colour = mark.colour if row.source_id == OWN and not is_guess else style.FAINT
        axes.plot(
            [0, 1],
            [row.then_usd, row.now_usd],
            color=colour,
            linewidth=1.4,
            zorder=2,
            linestyle="--" if is_guess else "-",
        )
        axes.plot(0, row.then_usd, "o", color=style.FAINT, markersize=6, zorder=3)
        axes.plot(
            1, row.now_usd, "x" if is_guess else mark.shape, markersize=7, markeredgecolor=colour,
            markeredgewidth=1.5, zorder=3,
            markerfacecolor=style.PAPER if row.predicted or is_guess else colour,
        )  # fmt: skip
    then = [f"{row.workload} {amounts.dollars(row.then_usd)}" for row in table.itertuples()]
    _beside(axes, 0, table.then_usd, inner, then, lines=1)
    now = table[table.now_usd.notna()]
    texts = [_now(row, narrow) for row in now.itertuples()]
    lines = max((text.count("\n") + 1 for text in texts), default=1)
    _beside(axes, 1, now.now_usd, inner, texts, lines)
    axes.set_xticks([0, 1], ["2017", "now"], fontsize=9)
    axes.yaxis.set_major_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_title("cost of one training", fontsize=10, fontweight="bold", loc="left")
    axes.spines[["top"]].set_visible(False)


def _now(row, narrow: bool) -> str:
    """What is cheapest now; that it is predicted or estimated, its mark says."""
    who = f"{row.hardware_label}, {style.mark(row.framework).short}"
    named = f"{row.workload} {amounts.dollars(row.now_usd)}"
    return "\n".join([named, *textwrap.wrap(who, 22 if narrow else 30)])


def _beside(axes, at: int, usd: pd.Series, inner: float, texts: list[str], lines: int) -> None:
    """Write texts beside the ends of lines, apart from each other, from the dearest down."""
    low, high = axes.get_ylim()
    apart = _LINE * lines / inner * 0.92
    placed = spread([_share(value, low, high) for value in usd], apart)
    for number, place in enumerate(placed):
        axes.annotate(
            texts[number], (at, usd.iloc[number]), xytext=((-0.06, 1.06)[at], place),
            textcoords="axes fraction", ha=("right", "left")[at], va="center", fontsize=8.5,
            linespacing=1.0, arrowprops={"arrowstyle": "-", "color": style.BAND, "linewidth": 0.8,
                                         "shrinkA": 0, "shrinkB": 4,
                                         "relpos": ((1, 0.5), (0, 0.5))[at]},
        )  # fmt: skip


def _share(value: float, low: float, high: float) -> float:
    """Where a value stands on a logarithmic axis, from 0 to 1."""
    return math.log(value / low) / math.log(high / low)


def spread(wanted: list[float], apart: float) -> list[float]:
    """Places at least so far apart, between 0 and 1, as near to the wanted ones as can be."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    blocks: list[list[float]] = []  # of neighbours that touch: the sum of their wishes, their count
    for rank, number in enumerate(order):
        blocks.append([wanted[number] - rank * apart, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [blocks[-1][0] + last[0], blocks[-1][1] + last[1]]
    starts = [total / count for total, count in blocks for _ in range(int(count))]
    room = max(1 - apart * len(wanted), 0.0)
    places = [0.0] * len(wanted)
    for rank, number in enumerate(order):
        places[number] = min(max(starts[rank], apart / 2), apart / 2 + room) + rank * apart
    return places


def steps_of(row) -> list[tuple[str, float]]:
    """The factors of a row of history.csv, by name, in order."""
    if pd.isna(row.hardware):
        return [("price", row.price), ("both", row.both)]
    return [("price", row.price), ("hardware", row.hardware), ("software", row.software)]


def _factors(axes, table: pd.DataFrame) -> None:
    """For each workload its factors from 1x to the whole, one below the other."""
    axes.set_xscale("log")
    axes.set_ylim(len(table) - 0.5, -0.5)
    ends = [1.0]
    for place, row in enumerate(table.itertuples()):
        if pd.isna(row.now_usd):
            axes.annotate("no price known", (1, place), xytext=(4, 0), va="center", fontsize=8.5,
                          textcoords="offset points", color=style.FAINT)  # fmt: skip
            continue
        begin, steps = 1.0, steps_of(row)
        for number, (name, factor) in enumerate(steps):
            y = place - 0.27 + 0.54 * number / (len(steps) - 1)
            axes.barh(y, begin * factor - begin, left=begin, height=0.2, **_look(name))
            begin *= factor
            ends.append(begin)
        axes.plot([begin, begin], [place - 0.36, place + 0.36], color=style.INK, linewidth=1.6)
        beside = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": 8.5,
                  "annotation_clip": False}  # fmt: skip
        axes.annotate(amounts.ratio(row.whole), (1.03, place - 0.15), fontweight="bold", **beside)
        product = " × ".join(f"{factor:.2g}" for _, factor in steps)
        axes.annotate(f"= {product}", (1.03, place + 0.19), color=style.FAINT, **beside)
    axes.set_xlim(min(ends) / 1.4, max(ends) * 1.4)
    axes.axvline(1, color=style.INK, linestyle=(0, (4, 3)), linewidth=1, zorder=0)
    low, high = axes.get_xlim()
    most = int(axes.get_position().width * axes.figure.get_figwidth() / 0.5)
    axes.xaxis.set_major_locator(FixedLocator(style.few(style.RATIOS, low, high, most, 1.0)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
    axes.set_yticks(range(len(table)), table.workload, fontsize=8.5)
    axes.tick_params(axis="x", labelsize=8.5)
    axes.tick_params(axis="y", length=0)
    axes.set_title("what changed it", fontsize=10, fontweight="bold", loc="left")
    axes.spines[["top", "right", "left"]].set_visible(False)


def _look(name: str) -> dict[str, Any]:
    """How the bar of a factor is drawn."""
    return {"facecolor": _TONES[name], **_HATCHED.get(name, {})}


def _legend(figure: plt.Figure, table: pd.DataFrame, narrow: bool) -> None:
    known = table[table.now_usd.notna()]
    used = dict.fromkeys(name for row in known.itertuples() for name, _ in steps_of(row))
    handles = [Patch(label=_SAID.get(name, name), **_look(name)) for name in _TONES if name in used]
    if used:
        handles.append(
            Line2D([], [], marker="|", linestyle="none", markersize=11, markeredgewidth=1.6,
                   color=style.INK, label="in all")
        )  # fmt: skip
    shown = set(known[known.evidence.ne(ESTIMATED)].framework)
    for name in (one for one in names.FRAMEWORKS if one in shown):
        handles.append(
            Line2D([], [], marker=style.mark(name).shape, linestyle="none", markersize=7,
                   color=style.mark(name).colour, label=names.framework(name))
        )  # fmt: skip
    if known.evidence.eq("predicted").any():
        handles.append(
            Line2D([], [], marker="o", linestyle="none", markersize=7, markeredgewidth=1.5,
                   markeredgecolor=style.INK, markerfacecolor=style.PAPER, label="predicted")
        )  # fmt: skip
    if handles:
        figure.legend(
            handles=handles, loc="lower left", ncols=3 if narrow else 8, frameon=False,
            fontsize=8.5, handlelength=1.2, handletextpad=0.4, columnspacing=1.2,
            borderaxespad=0.2,
        )  # fmt: skip
