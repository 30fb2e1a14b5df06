"""GPUs and reference speeds that were made up, for the tests of estimates."""

import math

from epochcost.estimate import guesses, transfer
from epochcost.estimate.reference import Cell, Gpu, Width

KINDS = (*guesses.KINDS, transfer.HOST)
WIDTHS = {kind: Width(math.log(1.5), 100, 10) for kind in KINDS}


def gpu(name: str, bandwidth: float | None, peak: float, **about) -> Gpu:
    given = {"vendor": "NVIDIA", "capability": 7.0, "catalogue": None, "form": None} | about
    return Gpu(
        name=name, released=None, memory=16, bandwidth=bandwidth, fp32=peak, tf32=peak * 8,
        fp16=peak * 16, bf16=peak * 16, names=(), source="made", **given,
    )  # fmt: skip


# Of each generation; of Z nothing but the data sheet is known.
GPUS = {
    one.name: one
    for one in (
        gpu("A", 100, 5), gpu("B", 200, 10), gpu("C", 400, 15), gpu("D", 300, 30),
        gpu("E", 800, 40), gpu("N", 900, 60, capability=8.0), gpu("M", 800, 50, capability=8.0),
        gpu("Z", 250, 12), gpu("Q", None, 12), gpu("R", 250, 12, vendor="AMD"),
    )
}  # fmt: skip
NETWORKS = ("alpha", "beta", "gamma", "delta")


def cell(name: str, network: str, speed: float, **about) -> Cell:
    given = {
        "suite": "s", "framework": "pytorch", "version": "1", "quantity": "throughput",
        "precision": "fp32", "count": 1, "workload": network, "batch": math.log(32), "source": "x",
    } | about  # fmt: skip
    return Cell(network=network, gpu=name, rate=math.log(speed), **given)
