"""Times on GPUs that nobody measured, their intervals, and refusals."""

import math
import random
import time
from dataclasses import replace
from itertools import combinations

import pytest
import transfer as benchmark
from speeds import cell

from epochcost.estimate import (
    Estimate,
    Measured,
    Refusal,
    guesses,
    reference,
    time_on,
    transfer,
)

ON_A = Measured("A", 1, "fp32", "keras-torch", 120.0)


def measured(gpu: str, seconds: float = 100.0, precision: str = "tf32") -> Measured:
    return Measured(gpu, 1, precision, "pytorch", seconds)


def test_a_time_is_scaled_and_says_by_what(small):
    found = time_on([ON_A], "B", 1, "fp32", small)
    assert found.seconds == pytest.approx(60)
    assert (found.kind, found.networks, found.through) == (guesses.EQUAL, 4, ("A", "B"))
    assert found.low * found.high == pytest.approx(found.seconds**2)
    assert found.low < found.seconds < found.high
    assert found.missing == ()
    chained = time_on([ON_A], "E", 1, "fp32", small)
    assert chained.through == ("A", "B", "E")
    assert chained.missing


def test_references_in_another_framework_are_said(small):
    found = time_on([replace(ON_A, framework="keras-jax")], "B", 1, "fp32", small)
    assert "references in jax" in found.missing


@pytest.mark.parametrize(
    ("changes", "gpu", "count", "precision", "why"),
    [
        ({"gpu": "", "count": 0}, "B", 1, "fp32", "a CPU says little about a GPU"),
        ({}, "BB", 1, "fp32", "unknown GPU 'BB'"),
        ({"gpu": "AA"}, "B", 1, "fp32", "unknown GPU 'AA'"),
        ({}, "B", 1, "float", "unknown precision 'float'"),
        ({"count": 2}, "B", 1, "fp32", "another number of GPUs"),
        ({"precision": "fp16"}, "B", 1, "fp32", "another precision"),
        ({}, "Q", 1, "fp32", "memory bandwidth is not known"),
        ({}, "R", 1, "fp32", "software for AMD differs"),
        ({"count": 2}, "B", 2, "fp32", "data sheets say nothing of several GPUs"),
    ],
)
def test_what_nothing_supports_is_refused(small, changes, gpu, count, precision, why):
    found = time_on([replace(ON_A, **changes)], gpu, count, precision, small)
    assert isinstance(found, Refusal)
    assert why in found.reason
    assert "run" in found.needed


def test_no_measurement_and_no_judgement_are_no_estimate(small, known):
    assert time_on([], "B", 1, "fp32", small).reason == "nothing was measured"
    unjudged = known(*small.cells, widths={})
    assert "nobody has judged" in time_on([ON_A], "B", 1, "fp32", unjudged).reason


def test_the_same_gpu_is_as_far_off_as_another_hour(small):
    found = time_on([ON_A, replace(ON_A, seconds=140.0)], "A", 1, "fp32", small)
    assert (found.kind, found.seconds) == (transfer.SAME, 130)
    assert found.low < 120 < 140 < found.high


def test_steps_that_wait_for_the_host_are_not_scaled(small):
    bound = replace(ON_A, gpu_share=0.1)
    found = time_on([bound], "B", 1, "fp32", small)
    assert found.host_bound
    assert found.seconds == pytest.approx(120 * (0.9 + 0.1 / 2))
    free = time_on([replace(ON_A, gpu_share=0.9)], "B", 1, "fp32", small)
    assert (free.host_bound, free.seconds) == (False, pytest.approx(60))
    # Nobody knows the host of the other machine.
    assert found.high / found.low > 2
    assert any("the host" in one for one in found.missing)


def test_a_second_machine_chooses_what_resembles_the_workload(known):
    """Half of the networks gain by bandwidth, half do not; a run on C tells which this is."""
    gains = {"alpha": 1, "beta": 1, "gamma": 1, "delta": 4, "epsilon": 4, "zeta": 4}
    cells = [
        cell(name, network, 10 * gain**power)
        for network, gain in gains.items()
        for name, power in (("A", 0), ("B", 1), ("C", 1.5))
    ]
    knowledge = known(*cells)
    alone = time_on([ON_A], "B", 1, "fp32", knowledge)
    assert alone.seconds == pytest.approx(60)
    on_c = Measured("C", 1, "fp32", "pytorch", 120 / 8)
    both = time_on([ON_A, on_c], "B", 1, "fp32", knowledge)
    # From C, the nearer one by spread: 4 ** 0.5 times as long.
    assert both.seconds == pytest.approx(30)
    assert both.networks == 3
    slow = time_on([ON_A, replace(on_c, seconds=120)], "B", 1, "fp32", knowledge)
    assert slow.seconds == pytest.approx(120)


def test_intervals_hold_where_networks_are_drawn_alike(known):
    """Split conformal on networks that are drawn by chance; then on new ones."""
    shares = [share_inside(known, random.Random(seed)) for seed in range(5)]
    assert 0.88 < sum(shares) / len(shares) < 0.96


def share_inside(known, chance: random.Random) -> float:
    old, new = drawn(60, chance), drawn(200, chance)
    cells = [one for network in old for one in network]
    misses = benchmark.left_out(known(*cells))
    widths = benchmark.widths([miss for miss in misses if miss.width == guesses.EQUAL], [], [])
    judged = known(*cells, widths=widths)
    inside = []
    for network in new:
        for one, other in combinations(network, 2):
            seconds, true = math.exp(-one.rate), math.exp(-other.rate)
            found = time_on([measured(one.gpu, seconds)], other.gpu, 1, "tf32", judged)
            inside.append(found.low <= true <= found.high)
    return sum(inside) / len(inside)


def drawn(number: int, chance: random.Random) -> list[list]:
    """Networks, each with its speeds on A, B and C."""
    found = []
    for one in range(number):
        own = {"A": 0.0, "B": chance.gauss(0.7, 0.2), "C": chance.gauss(1.2, 0.3)}
        speeds = {name: math.exp(value) for name, value in own.items()}
        found.append([cell(gpu, f"n{one}", v, precision="tf32") for gpu, v in speeds.items()])
    return found


# On what comes with epochcost.


@pytest.mark.parametrize(
    ("gpu", "kinds"),
    [
        ("H100", [guesses.EQUAL]), ("A100", [guesses.CHAINED]), ("B200", [guesses.RATIOS]),
        ("L40S", [guesses.SHEET]), ("T4", [guesses.SHEET]), ("L4", [guesses.SHEET]),
        ("A10G", [guesses.SHEET]),
    ],
)  # fmt: skip
def test_what_an_h200_tells_of_others(real, gpu, kinds):
    found = time_on([measured("NVIDIA H200")], gpu, 1, "tf32", real)
    assert found.kind in kinds
    assert found.low < found.seconds < found.high
    faster = gpu == "B200"
    assert (found.seconds < 100) == faster


def test_true_fp32_is_not_read_from_tf32(real):
    found = time_on([measured("NVIDIA H200", precision="fp32")], "A100", 1, "fp32", real)
    assert found.kind == guesses.SHEET


def test_at_least_three_networks_are_behind_each_ratio(real):
    for precision in reference.PRECISIONS:
        for count in (1, 2, 4, 8):
            ratios = real.at(precision, count)
            for first, others in ratios.partners.items():
                for second in others:
                    assert len(ratios.support(first, second).by_network) >= 3


@pytest.mark.parametrize("name", ["H20", "GTX 9999", ""])
def test_an_unknown_gpu_is_refused(real, name):
    assert isinstance(time_on([measured("NVIDIA H200")], name, 1, "tf32", real), Refusal)


def test_names_of_nvml_and_of_the_catalogue(real):
    assert real.named("NVIDIA A100-SXM4-80GB") == "A100-SXM-80GB"
    assert real.named("Tesla T4") == "T4"
    assert real.named("nvidia h100 80gb hbm3") == real.named("H100") == "H100-SXM"
    assert real.named("V100-16GB") == "V100-SXM2-16GB"
    pcie = {"gpu": "A100", "gpu_memory_gib": 80, "gpu_form": "pcie"}
    assert real.of_hardware(pcie) == "A100-PCIe-80GB"
    assert real.of_hardware({"gpu": "A100", "gpu_memory_gib": 80}) == "A100-SXM-80GB"
    assert real.of_hardware({"label": "8 vCPU"}) is None


def test_ten_thousand_estimates_take_less_than_two_seconds(real):
    names = [*real.gpus]
    begin = time.perf_counter()
    found = [
        time_on([measured("H200", 1.0 + number)], names[number % len(names)], 1, "tf32", real)
        for number in range(10_000)
    ]
    assert time.perf_counter() - begin < 2
    assert any(isinstance(one, Estimate) for one in found)


# What the benchmark printed, and keeps.


@pytest.fixture(scope="module")
def kept() -> dict[str, dict[str, str]]:
    return {row["kind"]: row for row in benchmark._read(benchmark.TABLES)}


def test_the_kept_intervals_hold(kept):
    for kind in (benchmark.ALL, guesses.EQUAL, guesses.RATIOS, guesses.CHAINED):
        assert 0.87 <= float(kept[kind]["networks"]) <= 0.93
        assert 0.87 <= float(kept[kind]["of_pairs"]) <= 0.93
    assert float(kept[benchmark.ALL]["least"]) >= 0.8
    assert float(kept[guesses.SHEET]["gpus"]) >= 0.8


@pytest.mark.slow
def test_the_benchmark_finds_what_is_kept(real, kept):
    misses = benchmark.left_out(real)
    found = benchmark.widths(misses, benchmark.left_out_gpus(real), benchmark.host_misses())
    assert {kind: round(width.half, 4) for kind, width in found.items()} == {
        kind: width.half for kind, width in real.widths.items()
    }
