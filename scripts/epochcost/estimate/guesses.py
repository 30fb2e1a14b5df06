"""How much faster a GPU is than another, by the best evidence there is.

From strong to weak: ratios by equal software, other ratios, two ratios chained through a third GPU,
data sheets.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean

from epochcost.estimate import datasheet
from epochcost.estimate.knowledge import Knowledge
from epochcost.estimate.ratios import FEWEST, Support
from epochcost.estimate.reference import Gpu

EQUAL, RATIOS, CHAINED, SHEET = "equal software", "ratios", "chained", "data sheet"
# From strong to weak.
KINDS = (EQUAL, RATIOS, CHAINED, SHEET)
# What a second measured machine adds to a kind.
TWO = ", two measured"
# Networks that agree by chance say no more than this, as a mean distance of their logarithms.
_LEAST_SPREAD = 0.1
_HALVES = ("fp16", "bf16")


@dataclass(frozen=True)
class Guess:
    """A ratio of speeds, not yet of a workload.

    value: logarithm of the speed of the second GPU over that of the first. scale: what its error is
    measured in: 1 for data sheets, else `_LEAST_SPREAD` and the spread of the networks. width: the
    kind of `Knowledge.widths` that it is judged by. networks: behind it, the weaker half of a
    chain. through: the third GPU. sources: of sources.csv. missing: what would make it surer.
    """

    value: float
    scale: float
    kind: str
    width: str
    networks: int
    through: str | None
    sources: tuple[str, ...]
    missing: tuple[str, ...]


@lru_cache(maxsize=65536)
def best(first: str, second: str, count: int, precision: str, known: Knowledge) -> Guess | None:
    """The guess by the strongest kind of evidence; None where there is none."""
    one, other = known.gpus[first], known.gpus[second]
    for look in (direct, chained):
        for stated, note in _precisions(one, other, precision):
            if found := look(first, second, count, stated, known):
                return replace(found, missing=(*found.missing, *note))
    return by_sheet(one, other, precision, known) if count == 1 else None


def resembling(
    base: str, second: str, others: dict[str, float], count: int, precision: str, known: Knowledge
) -> Guess | None:
    """The guess from the networks that resemble a workload; None where ratios do not tell.

    Args:
        others: other GPUs that it was measured on, with the logarithm of its speed there over that
            on `base`. The `FEWEST` networks count that come nearest to it there.
    """
    ratios = known.at(precision, count)
    support = ratios.support(base, second)
    if support is None:
        return None
    far: dict[str, list[float]] = {network: [] for network in support.by_network}
    for gpu, value in others.items():
        there = ratios.support(base, gpu)
        for network in far.keys() & (there.by_network if there else {}).keys():
            far[network].append(abs(there.by_network[network] - value))
    known_there = {network: fmean(some) for network, some in far.items() if some}
    if len(known_there) <= FEWEST:
        return None
    nearest = sorted(known_there, key=known_there.__getitem__)[:FEWEST]
    plain = _of(support, count)
    value = fmean(support.by_network[network] for network in nearest)
    return replace(plain, value=value, width=plain.width + TWO, networks=FEWEST)


def _precisions(one: Gpu, other: Gpu, precision: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What references may state where a precision is asked for, nearest first, and what to note."""
    yield precision, ()
    if precision in _HALVES:
        if one.is_ampere and other.is_ampere:
            half = next(name for name in _HALVES if name != precision)
            yield half, (f"references at {precision}: those at {half} stand for them",)
        yield "unknown", ("the references state no precision (mostly 16 or 8 bit)",)


def direct(first: str, second: str, count: int, precision: str, known: Knowledge) -> Guess | None:
    """By networks that ran on both GPUs."""
    support = known.at(precision, count).support(first, second)
    return support and _of(support, count)


def _of(support: Support, count: int) -> Guess:
    is_equal = support.equal and count == 1
    missing = () if support.equal else ("references by the same version of their software",)
    kind = EQUAL if is_equal else RATIOS
    return Guess(
        support.value, _LEAST_SPREAD + support.spread, kind, kind, len(support.by_network), None,
        support.sources, missing,
    )  # fmt: skip


def chained(first: str, second: str, count: int, precision: str, known: Knowledge) -> Guess | None:
    """By networks that ran on each and a third GPU: the one by which it is surest."""
    ratios = known.at(precision, count)
    between = set(ratios.partners.get(first, ())) & set(ratios.partners.get(second, ()))
    ways = [(ratios.support(first, gpu), ratios.support(gpu, second), gpu) for gpu in between]
    if not ways:
        return None

    def unsure(way: tuple[Support, Support, str]) -> tuple:
        return not (way[0].equal and way[1].equal), way[0].spread + way[1].spread, way[2]

    one, other, through = min(ways, key=unsure)
    return Guess(
        one.value + other.value, _LEAST_SPREAD + one.spread + other.spread, CHAINED, CHAINED,
        min(len(one.by_network), len(other.by_network)), through,
        tuple(sorted({*one.sources, *other.sources})),
        (f"{FEWEST} networks that ran on both GPUs",),
    )  # fmt: skip


def by_sheet(one: Gpu, other: Gpu, precision: str, known: Knowledge) -> Guess | None:
    """By data sheets, for one GPU."""
    value = known.sheet.value(one, other, precision)
    missing = (f"{FEWEST} networks that ran on both GPUs, or on each and a third one",)
    return None if value is None else Guess(value, 1.0, SHEET, SHEET, 0, None, (), missing)


def why_none(first: str, second: str, count: int, precision: str, known: Knowledge) -> str:
    """What nobody has measured, and what data sheets lack, where there is no guess."""
    lacks = f"fewer than {FEWEST} reference networks ran at {precision} on {count} x {first} and "
    lacks += f"on {count} x {second}, or on each and a third GPU"
    if count > 1:
        return f"{lacks}; data sheets say nothing of several GPUs"
    for name in (first, second):
        if missing := datasheet.missing(known.gpus[name], precision):
            return f"{lacks}; the data sheet of {name} does not help: {', '.join(missing)}"
    return lacks
