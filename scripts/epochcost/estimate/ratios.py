"""How much faster one GPU is than another: what reference workloads say.

A ratio of a workload is formed inside one suite, framework, quantity, precision and number of
GPUs, nowhere else.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import fmean, median

from epochcost.estimate.reference import Cell, Gpu

# Fewer networks than this support no ratio.
FEWEST = 3
# What a network gains from a larger batch, logarithm of speed over that of the batch.
Gain = Callable[[str], float]


@dataclass(frozen=True)
class Ratio:
    """One workload on two GPUs.

    value: logarithm of the speed of the second over that of the first. batch: the same of the batch
    sizes, None where one is not stated. equal: whether by the same version of the framework.
    """

    network: str
    value: float
    batch: float | None
    equal: bool
    suite: str
    source: str

    def turned(self) -> "Ratio":
        batch = None if self.batch is None else -self.batch
        return Ratio(self.network, -self.value, batch, self.equal, self.suite, self.source)


@dataclass(frozen=True)
class Support:
    """What the networks behind a ratio say, at an equal batch.

    value: logarithm of the speed of the second GPU over the first. spread: mean distance of a
    network from it. by_network: what each says. equal: whether all by equal software.
    """

    value: float
    spread: float
    by_network: Mapping[str, float]
    equal: bool
    suites: tuple[str, ...]
    sources: tuple[str, ...]

    def turned(self) -> "Support":
        """The same for the other direction: the product of both ratios is 1."""
        other = {network: -value for network, value in self.by_network.items()}
        return Support(-self.value, self.spread, other, self.equal, self.suites, self.sources)


class Ratios:
    """All ratios at a precision and a number of GPUs."""

    def __init__(self, pairs: dict[tuple[str, str], list[Ratio]], gain: Gain) -> None:
        self.pairs, self._gain = pairs, gain
        self._found: dict[tuple[str, str], Support | None] = {}

    def ratios(self, first: str, second: str) -> list[Ratio]:
        """What each workload says of two GPUs, at the batches that it had."""
        if first > second:
            return [one.turned() for one in self.pairs.get((second, first), ())]
        return self.pairs.get((first, second), [])

    def support(self, first: str, second: str) -> Support | None:
        """What is known of the second GPU over the first; None with fewer than `FEWEST` networks.

        From equal software alone where that is enough.
        """
        if first > second:
            found = self.support(second, first)
            return found and found.turned()
        if (first, second) not in self._found:
            ratios = self.pairs.get((first, second), [])
            self._found[first, second] = supported(ratios, self._gain)
        return self._found[first, second]

    @cached_property
    def partners(self) -> dict[str, list[str]]:
        """Of each GPU, those with a ratio that has support."""
        found = defaultdict(list)
        for first, second in self.pairs:
            if self.support(first, second):
                found[first].append(second)
                found[second].append(first)
        return found


def supported(ratios: list[Ratio], gain: Gain) -> Support | None:
    """What ratios of a pair of GPUs say together, if enough networks are behind them."""
    for chosen in ([one for one in ratios if one.equal], ratios):
        values = at_equal_batch(chosen, gain)
        by_network = {network: fmean(some) for network, some in sorted(values.items())}
        if len(by_network) >= FEWEST:
            middle = center(list(by_network.values()))
            spread = fmean(abs(value - middle) for value in by_network.values())
            suites = sorted({one.suite for one in chosen})
            sources = sorted({one.source for one in chosen})
            equal = all(one.equal for one in chosen)
            return Support(middle, spread, by_network, equal, tuple(suites), tuple(sources))
    return None


def at_equal_batch(ratios: list[Ratio], gain: Gain) -> dict[str, list[float]]:
    """The ratios by network, less what larger batches gain.

    A batch that is not stated is as the others'.
    """
    usual = usual_batch(ratios)
    values = defaultdict(list)
    for one in ratios:
        batch = usual if one.batch is None else one.batch
        values[one.network].append(one.value - gain(one.network) * batch)
    return values


def usual_batch(ratios: list[Ratio]) -> float:
    """The middle of what is known of the batches of some ratios; 0 where nothing is."""
    known = [one.batch for one in ratios if one.batch is not None]
    return median(known) if known else 0.0


def center(values: list[float]) -> float:
    """The middle of a few values: the median of the means of two (Hodges and Lehmann, 1963)."""
    means = [(one + other) / 2 for one, other in combinations(values, 2)]
    return median([*values, *means])


def pairs(
    cells: Iterable[Cell], gpus: Mapping[str, Gpu], precision: str, count: int
) -> dict[tuple[str, str], list[Ratio]]:
    """The ratios of each workload, by pairs of GPUs in alphabetical order."""
    groups: dict[tuple, dict[str, list[Cell]]] = defaultdict(lambda: defaultdict(list))
    for cell in cells:
        if cell.count == count and gpus[cell.gpu].runs(cell.precision, precision):
            key = (cell.suite, cell.framework, cell.quantity, cell.workload)
            groups[key][cell.gpu].append(cell)
    found = defaultdict(list)
    for by_gpu in groups.values():
        for first, second in combinations(sorted(by_gpu), 2):
            found[first, second] += _of_workload(by_gpu[first], by_gpu[second])
    return dict(found)


def _of_workload(ones: list[Cell], others: list[Cell]) -> list[Ratio]:
    """A ratio per version of the software that ran on both; if none did, one of their medians."""
    versions = {cell.version: cell for cell in ones if cell.version}
    both = [(versions[cell.version], cell) for cell in others if cell.version in versions]
    if both:
        return [_ratio(one, other, one.rate, other.rate, True) for one, other in both]
    rates = (median(cell.rate for cell in cells) for cells in (ones, others))
    return [_ratio(ones[0], others[0], *rates, False)]


def _ratio(one: Cell, other: Cell, first: float, second: float, equal: bool) -> Ratio:
    stated = one.batch is not None and other.batch is not None
    batch = other.batch - one.batch if stated else None
    return Ratio(one.network, second - first, batch, equal, one.suite, one.source)
