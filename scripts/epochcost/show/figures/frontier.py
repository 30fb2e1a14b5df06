"""Bill against time: the available options, and which of them no other beats.

Both axes are logarithmic, so machines with the same hourly price lie on a straight line.
"""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from epochcost.money.billing import HOUR_S
from epochcost.money.elsewhere import ESTIMATED
from epochcost.money.options import efficient
from epochcost.money.prices import INTERRUPTIBLE
from epochcost.results.rows import OWN
from epochcost.show import advice
from epochcost.show.figures import style
from epochcost.show.wording import amounts, names, remarks

# Fewer machines than these are a table.
FEWEST = 4
_PRICES = [0.01, 0.1, 1.0, 10.0, 100.0]
_WIDTH, _HEIGHT, _LEFT, _BELOW, _LEGEND = 10.0, 5.6, 0.85, 0.55, 0.3  # inches
_BEST, _PALE = "#c44f00", "#cccccc"
_SMALL = 4.5
# Options that a table lists.
_LINES = 12
# A deadline or budget so many times above all options is beyond the picture.
_NEAR = 4
# Where a name may stand, from its point: to the left and below, where no option can be; and else.
_PLACES = ((-7, -7), (7, 7), (-7, 7), (7, -7), (-7, -20), (7, 20), (-7, 20), (7, -20))
# How much farther than its own point another one must be from a name.
_CLEARLY = 1.5


def draw(
    options: pd.DataFrame,
    workload: str,
    machine_id: str = "",
    deadline_s: float | None = None,
    budget_usd: float | None = None,
) -> plt.Figure:
    """Draw the options of one workload.

    Args:
        options: its rows of options.csv.
        machine_id: the machine at hand.
        deadline_s, budget_usd: what is asked for, drawn as lines.
    """
    style.apply()
    shown = _sorted(options[options.billed_usd.gt(0)], machine_id)
    frame = style.Frame(122, title(shown, workload), _grey(shown, options))
    if shown.drop_duplicates(["hardware_id", "machine_id"]).shape[0] < FEWEST:
        return _table(shown, frame)
    height = frame.above + 0.1 + _HEIGHT
    figure = plt.figure(figsize=(_WIDTH, height))
    bottom = _BELOW + _LEGEND
    axes = figure.add_axes(
        (
            _LEFT / _WIDTH,
            bottom / height,
            1 - (_LEFT + 0.2) / _WIDTH,
            (_HEIGHT - bottom) / height,
        )
    )
    frame.write(figure, 0)
    _axes(axes, shown, deadline_s, budget_usd)
    _equal_prices(axes)
    compared = shown[shown.compared]
    _band(axes, compared)
    _steps(axes, compared[compared.efficient])
    _pairs(axes, shown)
    _points(axes, shown)
    _asked(axes, deadline_s, budget_usd)
    k80 = shown.index.isin(shown[shown.hardware_id.eq("gce-k80")].index[:1])
    _name(axes, shown[shown.efficient | shown.here | k80])
    _legend(figure, shown)
    return figure


def _sorted(options: pd.DataFrame, machine_id: str) -> pd.DataFrame:
    """The options from cheap to dear, each with whether it is on the frontier and is here.

    What was measured is compared; where nothing was, estimates are. Of these each machine has its
    cheapest one.
    """
    shown = options.sort_values(["billed_usd", "elapsed_s"], kind="stable", ignore_index=True)
    estimated = shown.evidence.eq(ESTIMATED)
    again = shown.duplicated(["hardware_id", "price_kind", "evidence"])
    shown = shown[~(estimated & again)].reset_index(drop=True)
    shown["context"] = shown.context.fillna("")
    can, estimated = shown.context.eq(""), shown.evidence.eq(ESTIMATED)
    shown["compared"] = can & ~estimated if (can & ~estimated).any() else can
    compared = shown[shown.compared]
    worth_it = pd.Series(efficient(compared), index=compared.index, dtype=bool)
    here = shown.source_id.eq(OWN) & shown.machine_id.fillna("").eq(machine_id or "-")
    return shown.assign(
        efficient=worth_it.reindex(shown.index).eq(True), here=here, apart=names.tell_apart(shown)
    )


def title(shown: pd.DataFrame, workload: str) -> str:
    """What was found, in at most 60 characters."""
    compared = shown[shown.compared]
    if shown.empty:
        return f"{workload}: no option with a price is known"
    if compared.empty:
        return f"{workload}: no machine of today has a price"
    untried = (shown.evidence.eq(ESTIMATED) & ~shown.compared).any()
    if len(compared) == 1:
        return f"{workload}: one option {'was tried' if untried else 'is known'}"
    count = int(compared.efficient.sum())
    worth = "1 is" if count == 1 else f"{count} are"
    if compared.evidence.eq(ESTIMATED).all():
        return f"{workload}: of {len(compared)} estimates {worth} worth it"
    return f"{workload}: of {len(compared)} options{' tried' * bool(untried)} {worth} worth it"


def _grey(shown: pd.DataFrame, options: pd.DataFrame) -> str:
    """Who is cheapest and fastest, and what is free; where nothing of today is known, that."""
    compared = shown[shown.compared]
    said = []
    if compared.empty:
        said.append(
            "One that was measured needs a price. What others published is context, no option."
        )
    else:
        cheapest = compared.loc[compared.billed_usd.idxmin()]
        fastest = compared.loc[compared.elapsed_s.idxmin()]
        usd, seconds = amounts.dollars(cheapest.billed_usd), amounts.seconds(fastest.elapsed_s)
        if cheapest.name == fastest.name:
            said.append(f"Cheapest and fastest: {_said(cheapest, f'{usd}, {seconds}')}.")
        else:
            said += [f"Cheapest: {_said(cheapest, usd)}.", f"Fastest: {_said(fastest, seconds)}."]
        if not compared.source_id.eq(OWN).any():
            said.append("Nothing with a price was measured here.")
    if (shown.evidence.eq(ESTIMATED) & ~shown.compared).any() and len(compared):
        how, untried = advice.untried(shown)
        said.append(
            f"{how} (diamond): {_said(untried, amounts.dollars(untried.billed_usd))}."
            if how
            else "No estimate (diamonds) beats it."
        )
    free = options[options.billed_usd.eq(0)].hardware_label.unique()
    return " ".join([*said, *(f"{label} is free." for label in free)])


def _said(option: pd.Series, amount: str) -> str:
    notes = ", ".join([amount, *remarks.of_offer(option)])
    framework = names.framework(option.framework, option.variant)
    return f"{option.hardware_label} with {framework} ({notes})"


def _table(shown: pd.DataFrame, frame: style.Frame) -> plt.Figure:
    """The options as lines of text, where a picture would show next to nothing.

    What is context would seem to be an option among them: it stands there alone, or is counted.
    """
    compared = shown[shown.compared]
    listed = shown if compared.empty else compared
    rows = list(listed.head(_LINES).itertuples())
    left = len(listed) - len(rows)
    frame.notes = [f"{left} more are in the tables."] * bool(left)
    if context := len(shown) - len(listed):
        frame.notes += [f"Not listed, as they are context and no options today: {context}."]
    height = frame.above + 0.3 + 0.24 * (len(rows) + 1) + frame.below
    figure = plt.figure(figsize=(_WIDTH, height))
    frame.write(figure, 0)
    columns = (("machine", 0.01), ("framework", 0.38), ("time", 0.57), ("bill", 0.67),
               ("price", 0.77), ("", 0.88))  # fmt: skip
    lines = [
        (
            f"{row.hardware_label}{' (this machine)' if row.here else ''}",
            names.framework(row.framework, row.variant),
            amounts.seconds(row.elapsed_s),
            amounts.dollars(row.billed_usd),
            names.price_kind(row.price_kind),
            row.context.partition(";")[0] if row.context.startswith("a time") else "",
        )
        for row in rows
    ]
    for number, line in enumerate([tuple(name for name, _ in columns), *lines] if rows else []):
        at = height - frame.above - 0.25 - 0.24 * number
        for text, (_, x) in zip(line, columns, strict=True):
            weight = "normal" if number else "bold"
            figure.text(x, at / height, text, fontsize=9, fontweight=weight)
    return figure


def _axes(axes, shown: pd.DataFrame, deadline_s: float | None, budget_usd: float | None) -> None:
    seconds = pd.concat([shown.elapsed_s, shown.elapsed_low, shown.elapsed_high]).dropna()
    usd = pd.concat([shown.billed_usd, shown.billed_low, shown.billed_high]).dropna()
    # Names go to the left of and below the frontier.
    left = max(3.0, (seconds.max() / seconds.min()) ** 0.3)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(seconds.min() / left, _end(seconds.max(), deadline_s))
    axes.set_ylim(usd.min() / 2.2, _end(usd.max(), budget_usd))
    for axis, ticks, say in (
        (axes.xaxis, style.SECONDS, style.tick_of_seconds),
        (axes.yaxis, style.DOLLARS, style.tick_of_dollars),
    ):
        low, high = axis.get_view_interval()
        axis.set_major_locator(FixedLocator(style.few(ticks, low, high, 9)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _, say=say: say(value)))
    axes.tick_params(labelsize=8.5)
    axes.set_xlabel("time from start of billing to end of training", fontsize=9)
    axes.set_ylabel("bill for one training", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _end(most: float, asked: float | None) -> float:
    """The end of an axis: beyond what is asked for, unless that is far from all options."""
    return 1.6 * (max(most, asked) if asked and asked < _NEAR * most else most)


def _equal_prices(axes) -> None:
    """Lines of equal hourly price."""
    low, high = axes.get_xlim()
    bottom, top = axes.get_ylim()
    for price in _PRICES:
        axes.plot(
            [low, high], [low * price / HOUR_S, high * price / HOUR_S],
            color=style.GRID, linewidth=1, zorder=0,
        )  # fmt: skip
        right = min(high, top * HOUR_S / price)
        if 2 * low < right and right * price / HOUR_S > 1.3 * bottom:
            axes.annotate(
                f"${price:g}/h", (right, right * price / HOUR_S),
                xytext=(-4, -3), textcoords="offset points", ha="right", va="top",
                fontsize=8.5, color=style.FAINT,
            )  # fmt: skip


def _cheapest_until(times: np.ndarray, elapsed: pd.Series, billed: pd.Series) -> np.ndarray:
    """The lowest bill of a training that takes no longer than each time; NaN for none."""
    fits = elapsed.to_numpy()[None, :] <= times[:, None]
    costs = np.where(fits, billed.to_numpy()[None, :], np.inf).min(axis=1)
    return np.where(np.isfinite(costs), costs, np.nan)


def _band(axes, compared: pd.DataFrame) -> None:
    """Where the frontier may be, as far as the intervals of time and bill say."""
    if compared.empty:
        return
    low_s, low_usd = (
        compared[name].fillna(compared[point])
        for name, point in (("elapsed_low", "elapsed_s"), ("billed_low", "billed_usd"))
    )
    high_s, high_usd = (
        compared[name].fillna(compared[point])
        for name, point in (("elapsed_high", "elapsed_s"), ("billed_high", "billed_usd"))
    )
    times = np.unique(np.concatenate([low_s, high_s, [axes.get_xlim()[1]]]))
    lower = _cheapest_until(times, low_s, low_usd)
    upper = _cheapest_until(times, high_s, high_usd)
    axes.fill_between(
        times, lower, np.where(np.isnan(upper), axes.get_ylim()[1], upper),
        step="post", color=_BEST, alpha=0.12, linewidth=0, zorder=1,
    )  # fmt: skip


def _steps(axes, worth_it: pd.DataFrame) -> None:
    """A step line: for each time, the lowest bill of a training that takes no longer."""
    if worth_it.empty:
        return
    ordered = worth_it.sort_values("elapsed_s")
    x = [ordered.elapsed_s.iloc[0], *ordered.elapsed_s, axes.get_xlim()[1]]
    y = [axes.get_ylim()[1], *ordered.billed_usd, ordered.billed_usd.iloc[-1]]
    axes.step(x, y, where="post", color=_BEST, linewidth=1.4, zorder=2)


def _pairs(axes, shown: pd.DataFrame) -> None:
    """Join the prices of one training: on demand, and spot."""
    keys = ["hardware_id", "machine_id", "framework", "framework_version", "variant", "elapsed_s"]
    joined = [rows for _, rows in shown.groupby(keys, dropna=False) if len(rows) > 1]
    if joined:
        # One line with gaps: a line each would take half of the file.
        x, y = (
            np.concatenate([[*rows[name], np.nan] for rows in joined])
            for name in ("elapsed_s", "billed_usd")
        )
        axes.plot(x, y, color=style.BAND, linewidth=1, zorder=2)


def _points(axes, shown: pd.DataFrame) -> None:
    """The marks, those that look alike together."""
    looks = pd.DataFrame([_look(row) for row in shown.itertuples()], index=shown.index)
    for look, rows in shown.groupby([looks[name] for name in looks], sort=False):
        colour, is_hollow, marker, size, alpha = look
        axes.plot(
            rows.elapsed_s, rows.billed_usd, marker, markersize=size,
            markerfacecolor=style.PAPER if is_hollow else colour, markeredgecolor=colour,
            markeredgewidth=1.4, alpha=alpha, zorder=4 if size > _SMALL else 3,
        )  # fmt: skip


def _look(row) -> tuple[str, bool, str, float, float]:
    """Colour, whether it is hollow, shape, size and opacity of a mark."""
    is_best = row.efficient or row.here
    colour = _BEST if row.efficient else style.INK if row.here else "#8a8a8a"
    colour = _PALE if row.context else colour
    return (
        colour,
        row.price_kind in INTERRUPTIBLE,
        "D" if row.evidence == ESTIMATED else "o",
        8.0 if is_best else _SMALL,
        1.0 if is_best or row.context else 0.8,
    )


def _asked(axes, deadline_s: float | None, budget_usd: float | None) -> None:
    dashed = {"color": style.INK, "linestyle": (0, (4, 3)), "linewidth": 1}
    near = {"textcoords": "offset points", "fontsize": 8.5}
    if deadline_s and deadline_s < axes.get_xlim()[1]:
        axes.axvline(deadline_s, **dashed)
        at = {"xy": (deadline_s, 0.99), "xycoords": ("data", "axes fraction")}
        axes.annotate("deadline", **at, xytext=(3, 0), va="top", **near)
    if budget_usd and budget_usd < axes.get_ylim()[1]:
        axes.axhline(budget_usd, **dashed)
        at = {"xy": (0.005, budget_usd), "xycoords": ("axes fraction", "data")}
        axes.annotate("budget", **at, xytext=(0, 3), **near)


def _name(axes, named: pd.DataFrame) -> None:
    """Name points where there is room; a name that has none is left out, as the table has it.

    A name stands where its own point is clearly the nearest; where there is no such room it has a
    line to it.
    """
    figure = axes.figure
    marks_at = axes.transData.transform(named[["elapsed_s", "billed_usd"]].to_numpy(float))
    taken = [text.get_window_extent() for text in axes.texts]
    first = named.sort_values(["efficient", "here"], ascending=False, kind="stable")
    for row in first.drop_duplicates(["hardware_label", "elapsed_s", "billed_usd"]).itertuples():
        label = f"{row.hardware_label}, {style.mark(row.framework).short}"
        marks = [names.price_kind(row.price_kind)] * (row.price_kind in INTERRUPTIBLE)
        marks += ["predicted"] * bool(row.predicted)
        marks += [ESTIMATED] * (row.evidence == ESTIMATED)
        label += f" ({', '.join(marks)})" if marks else ""
        text = axes.annotate(
            label, (row.elapsed_s, row.billed_usd), xytext=(0, 0), textcoords="offset points",
            fontsize=8.5, fontweight="bold" if row.here else "normal", zorder=5,
            color=style.INK if row.efficient or row.here else style.FAINT,
            arrowprops={"arrowstyle": "-", "color": style.INK, "linewidth": 0.8, "shrinkA": 0,
                        "shrinkB": 0, "relpos": (0, 0.5)},
        )  # fmt: skip
        own = axes.transData.transform((row.elapsed_s, row.billed_usd))
        free = []
        for x, y in _PLACES:
            _put(text, x, y)
            box = text.get_window_extent(figure.canvas.get_renderer())
            inside = axes.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
            inside &= axes.bbox.y0 <= box.y0 and box.y1 <= axes.bbox.y1
            if inside and not any(box.overlaps(other) for other in taken):
                near = [at for at in marks_at if _apart(box, at) < _CLEARLY * _apart(box, own)]
                free.append((len(near), x, y, box))
        if not free:
            text.remove()
            continue
        others, x, y, box = min(free, key=lambda place: place[0])
        _put(text, x, y)
        taken.append(box)
        text.arrow_patch.set_visible(others > 1)


def _put(text, x: float, y: float) -> None:
    """Set a text beside its point, by points from there."""
    text.set_position((x, y))
    text.set_ha("right" if x < 0 else "left")
    text.set_va("top" if y < 0 else "bottom")


def _apart(box, point) -> float:
    """How far a point is from a box, in pixels."""
    x, y = point
    return math.hypot(max(box.x0 - x, 0, x - box.x1), max(box.y0 - y, 0, y - box.y1))


def _legend(figure: plt.Figure, shown: pd.DataFrame) -> None:
    def dot(colour: str, size: float, label: str, ring: bool = False, marker: str = "o") -> Line2D:
        return Line2D([], [], marker=marker, linestyle="none", markersize=size, label=label,
                      markeredgecolor=colour, markeredgewidth=1.4,
                      markerfacecolor=style.PAPER if ring else colour)  # fmt: skip

    handles = [dot("#8a8a8a", 4.5, "beaten")]
    if shown.evidence.eq(ESTIMATED).any():
        handles.append(dot("#8a8a8a", 4.5, "estimated", marker="D"))
    if shown.context.ne("").any():
        handles.append(dot(_PALE, 4.5, "context, no option"))
    if shown.efficient.any():
        handles.insert(0, dot(_BEST, 8, "worth it: none is cheaper and faster"))
        handles.append(Patch(color=_BEST, alpha=0.12, label="where that line may be"))
    if shown.here.any():
        handles.append(dot(style.INK, 8, "this machine"))
    if shown.price_kind.isin(list(INTERRUPTIBLE)).any():
        handles.append(dot(style.INK, 6, "hollow: spot", ring=True))
    figure.legend(
        handles=handles, loc="lower left", ncols=7, frameon=False, fontsize=8.5,
        handletextpad=0.3, columnspacing=1.2, borderaxespad=0.2,
    )  # fmt: skip
