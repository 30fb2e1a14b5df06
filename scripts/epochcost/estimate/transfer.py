"""The time of a workload on a GPU, from what was measured of it on others."""

import math
from collections import defaultdict
from dataclasses import dataclass
from statistics import NormalDist, fmean, median

from epochcost.errors import nearest
from epochcost.estimate import guesses
from epochcost.estimate.guesses import Guess
from epochcost.estimate.knowledge import Knowledge
from epochcost.estimate.reference import PRECISIONS
from epochcost.statistics import spread

SAME = "same GPU"
# The kind of `Knowledge.widths` that says how far hosts differ.
HOST = "host"
# Below this share of the time the GPU is the smaller part of it: the steps wait for the host.
HOST_BOUND = 0.5
# Standard deviations to the ends of an interval that holds 90 of 100.
REACH = NormalDist().inv_cdf(0.95)
# What frameworks are made of, as the references name it.
_ENGINES = {"keras-torch": "pytorch", "fastai": "pytorch", "keras-tensorflow": "tensorflow"}
_ENGINES |= {"keras-jax": "jax"}
_NEEDED = "one short run on the GPU that is asked about"


@dataclass(frozen=True)
class Measured:
    """A training that was measured: from a record, a published row, or an own training.

    gpu: by any of its names; empty for a machine without one. count: of GPUs that trained it.
    precision: one of `reference.PRECISIONS`. framework: as in DESIGN.md, or an engine. seconds: of
    the whole training. gpu_share: how much of it the GPUs were busy, 0 to 1 (`utilisation` of a
    record); None where that is not known.
    """

    gpu: str
    count: int
    precision: str
    framework: str
    seconds: float
    gpu_share: float | None = None


@dataclass(frozen=True)
class Estimate:
    """A time that nobody has measured.

    seconds: of the training. low, high: 90 of 100 lie between them. kind: of evidence, one of
    `guesses.KINDS` or `SAME`. networks: how many references are behind it. through: the GPUs that
    it goes over, from the measured one to the one asked about. missing: what would make it surer.
    host_bound: most of the time is the host's, and was not scaled; the host of the other machine is
    not known.
    """

    seconds: float
    low: float
    high: float
    kind: str
    networks: int
    through: tuple[str, ...]
    missing: tuple[str, ...]
    sources: tuple[str, ...] = ()
    host_bound: bool = False


@dataclass(frozen=True)
class Refusal:
    """Why there is no estimate, and what would allow one."""

    reason: str
    needed: str = _NEEDED


@dataclass(frozen=True)
class _Seen:
    """What was measured on one kind of GPU. seconds: their median; share: their mean."""

    gpu: str
    seconds: float
    share: float | None


def time_on(
    measured: list[Measured], gpu: str, count: int, precision: str, knowledge: Knowledge
) -> Estimate | Refusal:
    """The time of a workload on so many GPUs, from what was measured of it elsewhere.

    Args:
        measured: of one workload, framework and recipe. What was measured at another precision or
            number of GPUs does not count.
        gpu: by any of its names (`Knowledge.named`).
        precision: of the training that is asked about, one of `reference.PRECISIONS`.
    """
    target = knowledge.named(gpu)
    if target is None:
        return Refusal(f"unknown GPU '{gpu}'; {knowledge.nearest(gpu)}")
    if precision not in PRECISIONS:
        return Refusal(f"unknown precision '{precision}'; {nearest(precision, PRECISIONS)}")
    seen = _seen(measured, count, precision, knowledge)
    if isinstance(seen, Refusal):
        return seen
    if target in seen:
        return _same(seen[target], knowledge)
    base, guess = _guess(seen, target, count, precision, knowledge)
    if guess is None:
        return Refusal(guesses.why_none(base.gpu, target, count, precision, knowledge))
    width = knowledge.widths.get(guess.width) or knowledge.widths.get(guess.kind)
    if width is None:
        return Refusal(f"nobody has judged how far estimates of the kind '{guess.kind}' are off")
    engine = _ENGINES.get(measured[0].framework, measured[0].framework)
    return _scaled(base, guess, width.half * guess.scale, target, engine, knowledge)


def _seen(
    measured: list[Measured], count: int, precision: str, knowledge: Knowledge
) -> dict[str, _Seen] | Refusal:
    """What can be scaled, by GPU."""
    on_gpus = [one for one in measured if one.gpu and one.count]
    if not on_gpus:
        why = "a CPU says little about a GPU" if measured else "nothing was measured"
        return Refusal(why, "one GPU run is needed")
    alike = [one for one in on_gpus if one.count == count and one.precision == precision]
    if not alike:
        there = sorted({f"{one.count} x {one.gpu} at {one.precision}" for one in on_gpus})
        return Refusal(
            f"measured on {', '.join(there)}; no ratio carries to another number of GPUs or "
            f"another precision than {count} and {precision}"
        )
    by_gpu: dict[str, list[Measured]] = defaultdict(list)
    for one in alike:
        if name := knowledge.named(one.gpu):
            by_gpu[name].append(one)
    if not by_gpu:
        first = alike[0].gpu
        return Refusal(f"unknown GPU '{first}'; {knowledge.nearest(first)}")
    return {name: _of_gpu(name, some) for name, some in by_gpu.items()}


def _of_gpu(name: str, measured: list[Measured]) -> _Seen:
    shares = [one.gpu_share for one in measured if one.gpu_share is not None]
    return _Seen(name, median(one.seconds for one in measured), fmean(shares) if shares else None)


def _same(seen: _Seen, knowledge: Knowledge) -> Estimate:
    """As far off as runs of one training in another hour; and as hosts are, if it waits for one."""
    factor = math.exp(REACH * spread.shipped()[spread.FULL].later)
    factors, missing = _with_host(seen, [1 / factor, 1.0, factor], knowledge)
    low, seconds, high = (seen.seconds * one for one in factors)
    bound = _is_host_bound(seen)
    return Estimate(seconds, low, high, SAME, 0, (seen.gpu,), missing, host_bound=bound)


def _guess(
    seen: dict[str, _Seen], target: str, count: int, precision: str, knowledge: Knowledge
) -> tuple[_Seen, Guess | None]:
    """The surest guess, and what it begins from."""

    def unsure(way: tuple[_Seen, Guess | None]) -> tuple:
        one, guess = way
        return (1, 0, 0.0, one.gpu) if guess is None else (0, rank(guess), guess.scale, one.gpu)

    def rank(guess: Guess) -> int:
        return guesses.KINDS.index(guess.kind)

    ways = [
        (one, guesses.best(one.gpu, target, count, precision, knowledge)) for one in seen.values()
    ]
    base, guess = min(ways, key=unsure)
    others = {
        one.gpu: math.log(base.seconds / one.seconds) for one in seen.values() if one is not base
    }
    # Where the host is waited for, the ratio of two times is not that of two GPUs.
    if others and guess and not any(map(_is_host_bound, seen.values())):
        near = guesses.resembling(base.gpu, target, others, count, precision, knowledge)
        return base, near or guess
    return base, guess


def _is_host_bound(seen: _Seen) -> bool:
    return seen.share is not None and seen.share < HOST_BOUND


def _scaled(
    base: _Seen, guess: Guess, half: float, target: str, engine: str, knowledge: Knowledge
) -> Estimate:
    through = tuple(filter(None, (base.gpu, guess.through, target)))
    factors = [math.exp(-guess.value + side * half) for side in (-1, 0, 1)]
    missing = guess.missing
    if engine not in _engines(guess, knowledge):
        missing += (f"references in {engine}",)
    factors, waits = _with_host(base, factors, knowledge)
    low, seconds, high = (base.seconds * factor for factor in factors)
    return Estimate(
        seconds, low, high, guess.kind, guess.networks, through, (*missing, *waits), guess.sources,
        _is_host_bound(base),
    )  # fmt: skip


def _with_host(
    base: _Seen, factors: list[float], knowledge: Knowledge
) -> tuple[list[float], tuple[str, ...]]:
    """The factors of a time, where steps wait for the host; and what is missing then.

    What the GPU works is scaled. What it waits is as long as another host lets it.
    """
    if not _is_host_bound(base):
        return factors, ()
    width = knowledge.widths[HOST].half if HOST in knowledge.widths else 0.0
    waits = [math.exp(side * width) for side in (-1, 0, 1)]
    mixed = [
        (1 - base.share) * wait + base.share * work
        for wait, work in zip(waits, factors, strict=True)
    ]
    return mixed, ("the host: the steps wait for it",)


def _engines(guess: Guess, knowledge: Knowledge) -> set[str]:
    """What the references behind a guess were trained by; data sheets are fitted to all."""
    return {
        framework
        for source, framework in knowledge.frameworks
        if not guess.sources or source in guess.sources
    }
