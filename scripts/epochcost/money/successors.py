"""What can be rented today in place of hardware that its provider has retired."""

import math
from collections.abc import Mapping
from typing import Any

from epochcost.hardware import is_unsupported
from epochcost.money import prices
from epochcost.money.market import Market

# An hour of hardware without a price is assumed to cost as much as the study's K80.
_USUAL_USD = 0.5


def successor(
    hardware: str, catalogue: Mapping[str, Mapping[str, Any]], market: Market
) -> str | None:
    """The closest match for retired hardware: as many GPUs, at the nearest hourly price.

    The same provider's comes first; only what has an on-demand price today is available, with a
    GPU that the pinned frameworks run on.

    Args:
        catalogue: config/hardware.yaml.
    """
    was = catalogue[hardware]
    before = _on_demand(prices.in_book(market.known, prices.LATEST)).get(hardware, _USUAL_USD)
    offered = {
        name: usd
        for name, usd in _on_demand(market.available()).items()
        if name in catalogue
        and "retired" not in catalogue[name]
        and catalogue[name].get("gpu_count") == was.get("gpu_count")
        and not is_unsupported(catalogue[name].get("gpu"))
    }

    def distance(name: str) -> tuple[bool, float, str]:
        elsewhere = catalogue[name].get("provider") != was.get("provider")
        return elsewhere, abs(math.log(offered[name] / before)), name

    return min(offered, key=distance, default=None)


def refusal(hardware: str, catalogue: Mapping[str, Mapping[str, Any]], market: Market) -> str:
    """Why retired hardware cannot be rented, and what can."""
    entry = catalogue[hardware]
    provider = entry.get("provider", "its provider")
    text = f"{hardware} cannot be rented: {provider} retired it on {entry['retired']}"
    if (nearest := successor(hardware, catalogue, market)) is not None:
        text += f"; the nearest available is {nearest}"
        text += f" ({catalogue[nearest].get('instance', catalogue[nearest]['label'])})"
    return text


def _on_demand(offers: list[prices.Price]) -> dict[str, float]:
    return {
        price.hardware_id: price.price_per_hour_usd
        for price in offers
        if price.price_kind == prices.ON_DEMAND
    }
