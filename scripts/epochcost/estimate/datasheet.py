"""How much faster one GPU is than another, from their data sheets: where no ratio was measured.

The logarithm of the ratio of speeds is a sum: over the figures of the data sheets, the logarithm of
the ratio of each times its weight; and what a larger batch gains, as the references give a GPU of
more memory larger batches, while a training keeps its own. All weights are fitted together, to the
ratios that were measured on one GPU of NVIDIA, each pair of GPUs counting alike. There is no
constant, so that A over B times B over A is 1.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from epochcost.estimate.ratios import Ratio
from epochcost.estimate.reference import Gpu

# What the reference speeds that can be compared come from: elsewhere the software differs as well.
VENDOR = "NVIDIA"
FIGURES = ("bandwidth", "peak")
# What it is fitted at: FP32 of older GPUs is in `tf32`.
PRECISIONS = ("tf32", "fp16", "bf16")


@dataclass(frozen=True)
class Sheet:
    """The weights of `FIGURES`; None where too few ratios were there to fit them to.

    slope: what a workload gains from a larger batch, logarithm of speed over that of batch. pairs:
    of GPUs that both were fitted to.
    """

    weights: tuple[float, ...] | None
    slope: float
    pairs: int

    def value(self, first: Gpu, second: Gpu, precision: str) -> float | None:
        """Logarithm of the speed of the second over that of the first; None where unknown."""
        figures = _figures(first, second, precision)
        if self.weights is None or figures is None:
            return None
        return float(np.dot(self.weights, figures))


def fitted(
    measured: Mapping[str, Mapping[tuple[str, str], list[Ratio]]], gpus: Mapping[str, Gpu]
) -> Sheet:
    """The weights that fit the ratios, by precision and pair of GPUs; least squares."""
    rows, values, seen = [], [], set()
    for precision, pairs in measured.items():
        for pair, ratios in pairs.items():
            figures = _figures(*(gpus[name] for name in pair), precision)
            stated = [one for one in ratios if one.batch is not None]
            if figures is None or not stated:
                continue
            weight = 1 / math.sqrt(len(stated))
            rows += [np.multiply(weight, (*figures, one.batch)) for one in stated]
            values += [weight * one.value for one in stated]
            seen.add(pair)
    if len(seen) <= len(FIGURES) + 1:
        return Sheet(None, 0.0, len(seen))
    *weights, slope = np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0]
    return Sheet(tuple(map(float, weights)), float(slope), len(seen))


def missing(gpu: Gpu, precision: str) -> list[str]:
    """Why a data sheet cannot be compared at a precision, in words; nothing where it can."""
    if gpu.vendor != VENDOR:
        return [f"software for {gpu.vendor} differs from that for {VENDOR}"]
    lacking = {"memory bandwidth": gpu.bandwidth, f"peak at {precision}": gpu.peak(precision)}
    return [f"its {name} is not known" for name, value in lacking.items() if not value]


def _figures(first: Gpu, second: Gpu, precision: str) -> tuple[float, ...] | None:
    if missing(first, precision) or missing(second, precision):
        return None
    return (
        math.log(second.bandwidth / first.bandwidth),
        math.log(second.peak(precision) / first.peak(precision)),
    )
