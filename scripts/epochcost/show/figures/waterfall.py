"""What makes up a bill: from the seconds of training to the amount paid."""

import matplotlib.pyplot as plt
import pandas as pd

from epochcost.money import billing
from epochcost.money.billing import Rental
from epochcost.results.rows import OWN
from epochcost.show.figures import style
from epochcost.show.wording import amounts, names, remarks


def shown_of(options: pd.DataFrame) -> pd.Series | None:
    """The option whose bill is shown: the cheapest measured here, else of all; None if unpriced."""
    priced = options[options.billed_usd.gt(0)]
    own = priced[priced.source_id.eq(OWN)]
    shown = own if len(own) else priced
    return shown.loc[shown.billed_usd.idxmin()] if len(shown) else None


def draw(row: pd.Series | None, rental: Rental, workload: str) -> plt.Figure:
    """Draw the bill of one row of options.csv; None if none has a price.

    Args:
        rental: what the tables were made with.
    """
    style.apply()
    if row is None:
        figure, axes = plt.subplots(figsize=(10, 2), layout="constrained")
        axes.text(0.5, 0.5, "no option with a price is known", ha="center", color=style.FAINT)
        axes.set_axis_off()
        style.headline(axes, f"{workload}: a bill in its parts", "")
        return figure
    besides = billing.besides(row.price_kind, rental)
    parts = billing.bill_in_parts(row.time_s, row.overhead_s, billing.terms_of(row), besides)
    labels = [*parts, "billed"]
    figure, axes = plt.subplots(figsize=(10, 1.6 + 0.46 * len(labels)), layout="constrained")
    begin = 0.0
    for place, usd in enumerate(parts.values()):
        axes.barh(place, usd, left=begin, color=style.colour(row.hardware_id), height=0.62)
        _label(axes, place, begin + usd, f"{amounts.dollars(usd)}  {usd / row.billed_usd:.0%}")
        if place:
            axes.plot([begin, begin], [place - 0.69, place - 0.31], color=style.FAINT, linewidth=1)
        begin += usd
    axes.barh(len(parts), row.billed_usd, color=style.INK, height=0.62)
    _label(axes, len(parts), row.billed_usd, amounts.dollars(row.billed_usd))
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(0, row.billed_usd * 1.28)
    axes.xaxis.set_visible(False)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    training = parts.get("training", 0.0) / row.billed_usd
    who = f"{row.hardware_label} with {names.framework(row.framework, row.variant)}"
    grey = ", ".join([who, *remarks.of_offer(row)])
    style.headline(axes, f"{workload}: {training:.0%} of the bill is training", grey)
    return figure


def _label(axes, place: int, edge: float, text: str) -> None:
    axes.annotate(
        text, (edge, place), xytext=(6, 0), textcoords="offset points", va="center", fontsize=10
    )
