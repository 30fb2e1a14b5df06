"""Bars of one workload relative to the baseline: time, or cost.

The axis is logarithmic and bars start at 1x, so that 0.3x and 9.8x are equally easy to read and
twice as slow looks like the mirror image of twice as fast. Values are placed beyond the end of
their bar, away from the line.
"""

import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from epochcost.results.rows import OWN
from epochcost.results.tables import is_shipped, made_here
from epochcost.show.figures import style
from epochcost.show.wording import amounts, names, remarks

_TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]
_MANY_DECADES = 3  # from here on there is room for powers of ten only
_WIDTH, _ROW_HEIGHT, _LINE_HEIGHT = 10, 0.44, 0.19  # inches
_NAME_LENGTH = 40  # characters of a line left of the bars
_LABEL_SHARE = 0.25  # of the axis, for the values beyond the bars
_PREDICTED_HATCH = "////"


@dataclass(frozen=True)
class Quantity:
    """What a picture shows.

    ratio, absolute: the columns of relative.csv.
    say: turns an absolute value into words.
    verb, versus: the headline around the ratio.
    less, more: what left and right of 1x mean.
    """

    name: str
    ratio: str
    absolute: str
    say: Callable[[float], str]
    verb: str
    versus: str
    less: str
    more: str


@dataclass(frozen=True)
class Base:
    """What 1x is; `date` is YYYY-MM."""

    hardware: str
    framework: str
    date: str
    price_per_hour_usd: float

    @property
    def short(self) -> str:
        """The base in three words."""
        return f"{self.hardware} of {self.date[:4]}"


QUANTITIES = (
    Quantity(
        "time", "time_relative", "time_s", amounts.seconds,
        "trains in", "the time of the {}", "faster", "slower",
    ),
    Quantity(
        "cost", "cost_relative", "cost_usd", amounts.dollars,
        "costs", "what the {} cost", "cheaper", "more expensive",
    ),
)  # fmt: skip


def draw(rows: pd.DataFrame, quantity: Quantity, title: str, base: Base) -> plt.Figure:
    """Draw the bars.

    Args:
        rows: rows of relative.csv for one workload (`selection.rows_of`).
        title: the workload's title.
        base: what 1x is.
    """
    style.apply()
    # What came with the clone has no price, as it is nobody's to rent.
    rows = rows[~is_shipped(rows) | rows[quantity.ratio].notna()].reset_index(drop=True)
    rows = rows.assign(apart=names.tell_apart(rows), here=made_here(rows))
    labels = [row_name(row, quantity) for row in rows.itertuples()]
    height = max([_ROW_HEIGHT, *(_LINE_HEIGHT * len(label.splitlines()) for label in labels)])
    figure, axes = plt.subplots(figsize=(_WIDTH, 1.9 + height * len(rows)), layout="constrained")
    low, high = _limits(rows, quantity.ratio)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    for place, row in enumerate(rows.itertuples()):
        if pd.isna(getattr(row, quantity.ratio)):
            axes.annotate(
                "no price known", (1, place), xytext=(9, 0), textcoords="offset points",
                va="center", color=style.FAINT, style="italic", fontsize=10,
            )  # fmt: skip
            continue
        if getattr(row, quantity.ratio) == 0:
            axes.annotate(
                "free", (1, place), xytext=(-9, 0), textcoords="offset points",
                va="center", ha="right", fontsize=10, fontweight="bold",
            )  # fmt: skip
            continue
        _bar(axes, place, row, quantity)
        _label(axes, place, row, quantity)
    axes.axvline(1, color=style.INK, linestyle=(0, (4, 3)), linewidth=1.2, zorder=1)
    _rows_axis(axes, rows, labels)
    _ratio_axis(axes, quantity, base, low, high)
    style.headline(figure, headline(rows, quantity, title, base))
    _legend(figure, rows[rows[quantity.ratio] > 0])
    if rows.synthetic[rows[quantity.ratio].notna()].any():
        axes.text(
            0.5, 0.5, "SYNTHETIC DATA", ha="center", va="center", rotation=18, zorder=0,
            transform=axes.transAxes,
            fontsize=38, color=style.FAINT, alpha=0.22, fontweight="bold",
        )  # fmt: skip
    return figure


def _bar(axes, place: int, row, quantity: Quantity) -> None:
    own = row.here
    value, low, high = _interval(row, quantity)
    axes.barh(
        place,
        value - 1,
        left=1,
        height=0.66,
        color=style.colour(row.hardware_id) if own or row.source_id != OWN else style.SHIPPED,
        edgecolor="white" if row.predicted else style.INK if own else "none",
        linewidth=1.2 if own else 0,
        hatch=_PREDICTED_HATCH if row.predicted else None,
        zorder=2,
    )
    if pd.notna(low) and pd.notna(high):
        axes.errorbar(
            value, place, xerr=[[value - low], [high - value]],
            color=style.INK, capsize=4, linewidth=1.4, zorder=3,
        )  # fmt: skip
    if value == 1:
        axes.plot(1, place, marker="o", color=style.INK, zorder=3)


def _interval(row, quantity: Quantity) -> tuple[float, float, float]:
    return (
        getattr(row, quantity.ratio),
        getattr(row, f"{quantity.ratio}_low"),
        getattr(row, f"{quantity.ratio}_high"),
    )


def _label(axes, place: int, row, quantity: Quantity) -> None:
    """The value, beyond the bar and its interval, on the side away from 1x."""
    value, low, high = _interval(row, quantity)
    right = value >= 1
    edge = value
    if pd.notna(low) and pd.notna(high):
        edge = high if right else low
        # An interval that crosses 1x would put the line through the label.
        edge = max(edge, 1) if right else min(edge, 1)
    axes.annotate(
        f"{amounts.ratio(value)}  {quantity.say(getattr(row, quantity.absolute))}",
        (edge, place),
        xytext=(9 if right else -9, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="center",
        fontsize=10,
        fontweight="bold" if row.here else "normal",
        zorder=4,
    )


def _limits(rows: pd.DataFrame, ratio: str) -> tuple[float, float]:
    """Limits that fit every bar and interval, with room for values where bars end."""
    values = pd.concat([rows[ratio], rows[f"{ratio}_low"], rows[f"{ratio}_high"]])
    values = values[values > 0]
    lowest, highest = min(values.min(), 1.0), max(values.max(), 1.0)
    left = _LABEL_SHARE if lowest < 1 else 0.04
    span = max(math.log(highest / lowest), math.log(3)) / (1 - left - _LABEL_SHARE)
    return lowest * math.exp(-left * span), highest * math.exp(_LABEL_SHARE * span)


def _rows_axis(axes, rows: pd.DataFrame, labels: list[str]) -> None:
    axes.set_yticks(range(len(rows)), labels)
    for tick, row in zip(axes.get_yticklabels(), rows.itertuples(), strict=True):
        tick.set_fontweight("bold" if row.here else "normal")
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _ratio_axis(axes, quantity: Quantity, base: Base, low: float, high: float) -> None:
    few = math.log10(high / low) > _MANY_DECADES
    ticks = [t for t in _TICKS if low <= t <= high and not (few and math.log10(t) % 1)]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
    axes.xaxis.grid(True, color="#e4e4e4", zorder=0)
    axes.set_axisbelow(True)
    what = f"{base.hardware} with {base.framework}, {base.date}"
    if quantity.name == "cost":
        what += f" at ${base.price_per_hour_usd} an hour"
    label = f"{quantity.less}  ←  {quantity.name} vs {what}  →  {quantity.more}"
    axes.set_xlabel(label, fontsize=10)


def row_name(row, quantity: Quantity) -> str:
    """Machine and framework, then remarks, in lines that leave room for the bars."""
    framework = names.framework(row.framework, row.variant)
    notes = [note for note in (row.apart, *remarks.of_row(row)) if note not in ("", "predicted")]
    notes += _price_remark(row, quantity)
    said = f"({', '.join(notes)})" if notes else ""
    name = f"{row.hardware_label} · {framework}"
    if len(name) > _NAME_LENGTH:
        name, said = row.hardware_label, f"{framework} {said}"
    return "\n".join(textwrap.fill(part, _NAME_LENGTH) for part in (name, said) if part)


def _price_remark(row, quantity: Quantity) -> list[str]:
    mixed = quantity.name == "cost" and row.mixed_price_kinds
    return [f"{names.price_kind(row.price_kind)} price"] if mixed else []


def headline(rows: pd.DataFrame, quantity: Quantity, title: str, base: Base) -> str:
    """The message: how the best own row compares with the base; without one, what is shown."""
    own = rows[made_here(rows) & rows[quantity.ratio].notna()]
    if own.empty:
        return f"{title}: {quantity.name} of the published runs vs the {base.short}"
    good = own[own.quality_reached.isna() | own.quality_reached.eq(True)]
    if good.empty:
        return f"{title}: no run here reached the quality target"
    best = good.loc[good[quantity.ratio].idxmin()]
    who = f"{best.hardware_label} with {names.framework(best.framework, best.variant)}"
    ratio = f"{amounts.ratio(best[quantity.ratio])} {quantity.versus.format(base.short)}"
    said = remarks.of_row(best) + _price_remark(best, quantity)
    notes = f" ({', '.join(said)})" if said else ""
    return f"{title}: {who} {quantity.verb} {ratio}{notes}"


def _legend(figure: plt.Figure, rows: pd.DataFrame) -> None:
    """What kinds of bars there are; `rows` are those that have one."""
    own = rows[made_here(rows)]
    colour = style.colour(own.hardware_id.iloc[0]) if len(own) else None
    handles = []
    if len(own) and not own.predicted.all():
        handles.append(Patch(facecolor=colour, label="measured here"))
    if own.predicted.any():
        said = "predicted from a quick run here"
        if own[own.predicted].time_relative_low.notna().any():  # on a GPU it has none
            said += ", with its interval"
        handles.append(
            Patch(facecolor=colour, edgecolor="white", hatch=_PREDICTED_HATCH, label=said)
        )
    if is_shipped(rows).any():
        handles.append(Patch(facecolor=style.SHIPPED, label="measured by the project"))
    if rows.source_id.ne(OWN).any():
        handles.append(
            Patch(
                facecolor="white",
                edgecolor=style.INK,
                label="published single runs, coloured by hardware",
            )
        )
    figure.legend(handles=handles, loc="outside lower right", ncols=3, frameon=False, fontsize=9)
