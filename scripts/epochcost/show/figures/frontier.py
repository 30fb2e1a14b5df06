"""Cost against time: the available options, and which of them are Pareto-optimal.

Both axes are logarithmic, so machines with the same hourly price lie on a straight line.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from epochcost.money.billing import HOUR_S
from epochcost.money.options import efficient
from epochcost.results.rows import OWN
from epochcost.show.figures import style
from epochcost.show.wording import amounts, names, remarks

_PRICES = [0.01, 0.1, 1.0, 10.0, 100.0]
_MARGIN = 1.9
# Of what is context.
_FAINT = 0.35
_TICKS_S = [
    number * unit for unit, numbers in ((1, (1, 2, 5, 10, 20, 30)), (60, (1, 2, 5, 10, 20, 30)),
                                        (3600, (1, 2, 5, 10, 20, 50, 100)))
    for number in numbers
]  # fmt: skip


def draw(options: pd.DataFrame, title: str) -> plt.Figure:
    """Draw the options of one workload.

    Args:
        options: its rows of options.csv.
        title: the workload's title.
    """
    style.apply()
    figure, axes = plt.subplots(figsize=(10, 6.4), layout="constrained")
    # Free options do not fit on the axis; the headline names them.
    free = options[options.billed_usd.eq(0)]
    shown = options[options.billed_usd.gt(0)]
    shown = shown.sort_values(["billed_usd", "elapsed_s"], kind="stable", ignore_index=True)
    shown["context"] = shown.context.fillna("")
    compared = shown[shown.context.eq("")]
    worth_it = pd.Series(efficient(compared), index=compared.index, dtype=bool)
    shown = shown.assign(
        efficient=worth_it.reindex(shown.index).eq(True), apart=names.tell_apart(shown)
    )
    if shown.empty:
        axes.text(0.5, 0.5, "no option with a price is known", ha="center", color=style.FAINT)
        axes.set_axis_off()
        style.headline(figure, f"{title}: where to train it")
        return figure
    axes.set_xscale("log")
    axes.set_yscale("log")
    seconds = pd.concat([shown.elapsed_s, shown.elapsed_low, shown.elapsed_high]).dropna()
    usd = pd.concat([shown.billed_usd, shown.billed_low, shown.billed_high]).dropna()
    # Names go to the left of and below the frontier, where no option can be.
    left = max(3 * _MARGIN, (seconds.max() / seconds.min()) ** 0.4)
    axes.set_xlim(seconds.min() / left, seconds.max() * _MARGIN)
    axes.set_ylim(usd.min() / _MARGIN, usd.max() * _MARGIN)
    _equal_prices(axes)
    _frontier(axes, shown)
    for row in shown.itertuples():
        _point(axes, row)
    axes.xaxis.set_major_locator(FixedLocator(_TICKS_S))
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: amounts.seconds(value)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"${value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("time from start of billing to end of training")
    axes.set_ylabel("bill for one training")
    axes.spines[["top", "right"]].set_visible(False)
    _legend(figure, shown)
    style.headline(figure, headline(shown, free, title))
    return figure


def _equal_prices(axes) -> None:
    """Lines of equal hourly price."""
    low, high = axes.get_xlim()
    bottom, top = axes.get_ylim()
    for price in _PRICES:
        axes.plot(
            [low, high], [low * price / HOUR_S, high * price / HOUR_S],
            color="#e1e1e1", linewidth=1, zorder=0,
        )  # fmt: skip
        right = min(high, top * HOUR_S / price)
        if 2 * low < right and right * price / HOUR_S > 1.3 * bottom:
            axes.annotate(
                f"{amounts.price(price)} an hour", (right, right * price / HOUR_S),
                xytext=(-4, -3), textcoords="offset points", ha="right", va="top",
                fontsize=8, color=style.FAINT,
            )  # fmt: skip


def _frontier(axes, options: pd.DataFrame) -> None:
    """A step line: for each time, the lowest cost of a training that takes no longer."""
    worth_it = options[options.efficient].sort_values("elapsed_s")
    if worth_it.empty:
        return
    _, right = axes.get_xlim()
    _, top = axes.get_ylim()
    x = np.concatenate([[worth_it.elapsed_s.iloc[0]], worth_it.elapsed_s, [right]])
    y = np.concatenate([[top], worth_it.billed_usd, [worth_it.billed_usd.iloc[-1]]])
    axes.step(x, y, where="post", color=style.INK, linewidth=1.4, zorder=2)


def _point(axes, row) -> None:
    own = row.source_id == OWN
    faint = _FAINT if row.context else 1.0
    for low, high, where in (
        (row.elapsed_low, row.elapsed_high, {"y": row.billed_usd, "axis": "x"}),
        (row.billed_low, row.billed_high, {"x": row.elapsed_s, "axis": "y"}),
    ):
        if pd.notna(low) and pd.notna(high):
            line = axes.hlines if where["axis"] == "x" else axes.vlines
            at = where["y"] if where["axis"] == "x" else where["x"]
            colour = style.colour(row.hardware_id)
            line(at, low, high, color=colour, linewidth=1.4, zorder=3, alpha=faint)
    axes.plot(
        row.elapsed_s, row.billed_usd, "o", markersize=9 if own else 7,
        color=style.colour(row.hardware_id), markeredgecolor=style.INK if own else "white",
        alpha=1.0 if row.efficient else 0.75 * faint, zorder=4,
    )  # fmt: skip
    if row.efficient:
        notes = [note for note in (row.apart, names.price_kind(row.price_kind)) if note]
        notes += remarks.of_option(row)
        notes += [] if own else ["as published"]
        name = f"{row.hardware_label}, {names.framework(row.framework, row.variant)}"
        axes.annotate(
            f"{name}\n{', '.join(notes)}", (row.elapsed_s, row.billed_usd),
            xytext=(-8, -4), textcoords="offset points", fontsize=8, zorder=5, ha="right", va="top",
            fontweight="bold",
        )  # fmt: skip


def _legend(figure: plt.Figure, options: pd.DataFrame) -> None:
    """The hardware by colour; what was measured here has a dark edge."""
    known = options.hardware_id.map(style.has_colour)
    named = options.assign(hardware_label=options.hardware_label.where(known, "other hardware"))
    named = named.assign(hardware_id=named.hardware_id.where(known, ""))
    keys = ["hardware_id", "hardware_label"]
    handles = [
        Line2D(
            [], [], marker="o", linestyle="none", color=style.colour(hardware),
            label=f"{label} (context, epochs alone)" if all(rows.context) else label,
            markeredgecolor=style.INK if (rows.source_id == OWN).any() else "white",
        )
        for (hardware, label), rows in named.groupby(keys, sort=False)
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False, fontsize=9)


def _marks(best: pd.Series) -> str:
    """What a reader must know about the option that the headline names."""
    marks = remarks.of_offer(best)
    return f" ({', '.join(marks)})" if marks else ""


def headline(options: pd.DataFrame, free: pd.DataFrame, title: str) -> str:
    gifts = ", ".join(free.hardware_label.unique())
    offered = f" ({gifts}: free)" if gifts else ""
    compared = options[options.context.eq("")]
    if compared.empty:
        return f"{title}: no machine of today is known; what others published is context{offered}"
    best = compared.loc[compared.billed_usd.idxmin()]
    count = int(compared.efficient.sum())
    worth = "one is Pareto-optimal" if count == 1 else f"{count} are Pareto-optimal"
    measured_here = pd.concat([compared.source_id, free.source_id]).eq(OWN).any()
    return (
        f"{title}: of {len(compared)} options {worth}; "
        f"the cheapest is {best.hardware_label} for {amounts.dollars(best.billed_usd)}"
        f"{_marks(best)}"
        f"{'' if measured_here else '; none measured here is among them'}{offered}"
    )
