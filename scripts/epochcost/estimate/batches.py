"""What a larger batch gains, which GPUs with more memory had and a training has not.

Convolutions fill a GPU at small batches already; many small steps, as in recurrent networks, gain
on and on. So each network has a gain of its own, and one that is not known the common one.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from epochcost.estimate.ratios import FEWEST, Ratio

# A network's own gain is drawn to the common one as if so much had been seen of that; in squared
# logarithms of batches.
_DRAWN = 5.0
_NOTHING = (0.0, 0.0)
Pair = tuple[str, str]


@dataclass(frozen=True)
class Gains:
    """Gains of speed, logarithm over that of the batch.

    common: of all networks together. beside: of each network and pair of GPUs, how its gain differs
    from it, as the products of a regression (batch x what is left, batch x batch).
    """

    common: float
    beside: Mapping[str, Mapping[Pair, tuple[float, float]]]

    @cached_property
    def _sums(self) -> dict[str, tuple[float, float]]:
        return {
            network: tuple(sum(part) for part in zip(*seen.values(), strict=True))
            for network, seen in self.beside.items()
        }

    def of(self, network: str, unseen: Pair | None = None) -> float:
        """What a network gains; as all but one pair of GPUs tell, to predict that one."""
        left, batches = self._sums.get(network, _NOTHING)
        less = self.beside[network].get(unseen, _NOTHING) if network in self.beside else _NOTHING
        return self.common + (left - less[0]) / (batches - less[1] + _DRAWN)


def fitted(measured: Mapping[str, Mapping[Pair, list[Ratio]]], common: float) -> Gains:
    """The gains of each network, by how it differs from the others on the same pairs of GPUs.

    Args:
        measured: the ratios by precision and pair, as `datasheet.fitted` takes them.
        common: what that found of all networks.
    """
    beside: dict[str, dict[Pair, tuple[float, float]]] = defaultdict(dict)
    for pairs in measured.values():
        for pair, ratios in pairs.items():
            stated = [one for one in ratios if one.batch is not None]
            if len({one.network for one in stated}) < FEWEST:
                continue
            middle = median(one.value - common * one.batch for one in stated)
            weight = 1 / math.sqrt(len(stated))
            for one in stated:
                left = one.value - common * one.batch - middle
                was = beside[one.network].get(pair, _NOTHING)
                beside[one.network][pair] = (
                    was[0] + weight * one.batch * left,
                    was[1] + weight * one.batch**2,
                )
    return Gains(common, dict(beside))
