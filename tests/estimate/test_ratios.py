"""Ratios of GPUs: what is behind them, and what is never mixed."""

import math

import pytest
from speeds import GPUS, NETWORKS, cell

from epochcost.estimate import batches, datasheet, guesses
from epochcost.estimate.ratios import Ratio


def pair(known, precision="fp32", count=1):
    return known.at(precision, count).support("A", "B")


def both(first: float, second: float, networks=NETWORKS, other=None, **about):
    """Cells of A and B; `other` is what differs on B."""
    for network in networks:
        yield cell("A", network, first, **about)
        yield cell("B", network, second, **about | (other or {}))


def test_a_ratio_is_the_middle_of_its_networks(known):
    speeds = {"alpha": 2, "beta": 2, "gamma": 2, "delta": 8}
    cells = [one for name, value in speeds.items() for one in both(1, value, [name])]
    support = pair(known(*cells))
    assert math.exp(support.value) == pytest.approx(2)
    assert len(support.by_network) == 4
    assert support.equal


def test_two_networks_are_too_few_and_sizes_of_one_are_one(known):
    assert pair(known(*both(1, 2, NETWORKS[:2]))) is None
    sizes = [one for size in "xyz" for one in both(1, 2, ["alpha"], workload=size)]
    assert pair(known(*sizes)) is None
    assert pair(known(*both(1, 2, NETWORKS[:3])))


@pytest.mark.parametrize(
    "other",
    [
        {"suite": "t"}, {"framework": "tensorflow"}, {"quantity": "seconds_per_step"},
        {"precision": "fp16"}, {"count": 2}, {"workload": "other"},
    ],
)  # fmt: skip
def test_what_differs_makes_no_ratio(known, other):
    knowledge = known(*both(1, 2, other=other))
    for precision in ("fp32", "tf32", "fp16"):
        assert pair(knowledge, precision) is None


def test_tf32_is_fp32_before_ampere_and_not_after(known):
    old = known(*both(1, 2, precision="tf32"))
    assert pair(old, "fp32").value == pair(old, "tf32").value
    new = known(*(cell(name, one, 1, precision="tf32") for name in "AN" for one in NETWORKS))
    assert new.at("tf32", 1).support("A", "N")
    assert new.at("fp32", 1).support("A", "N") is None


def test_equal_software_is_preferred(known):
    other = {"version": "2"}
    mixed = known(*both(1, 8, other=other))
    assert not pair(mixed).equal
    assert math.exp(pair(mixed).value) == pytest.approx(8)
    cells = [*both(1, 8, other=other), *both(1, 2, version="3", suite="t")]
    assert math.exp(pair(known(*cells)).value) == pytest.approx(2)
    assert pair(known(*cells)).equal
    assert not pair(known(*both(1, 2, version=""))).equal


def test_there_and_back_is_one(small, real):
    for knowledge, precision in ((small, "fp32"), (real, "tf32"), (real, "fp16")):
        names = [*knowledge.at(precision, 1).partners][:12] + ["Z"][: "Z" in knowledge.gpus]
        kinds = set()
        for first in names:
            for second in names:
                if first != second:
                    there = guesses.best(first, second, 1, precision, knowledge)
                    back = guesses.best(second, first, 1, precision, knowledge)
                    assert there.value == pytest.approx(-back.value)
                    assert (there.kind, there.through) == (back.kind, back.through)
                    kinds.add(there.kind)
        assert len(kinds) > 1


def test_a_chain_goes_through_the_gpu_that_both_ran_beside(small):
    guess = guesses.best("A", "E", 1, "fp32", small)
    assert (guess.kind, guess.through, guess.networks) == (guesses.CHAINED, "B", 4)
    assert math.exp(guess.value) == pytest.approx(6)
    assert guesses.best("A", "C", 1, "fp32", small).kind == guesses.EQUAL


def test_data_sheets_are_last_and_find_the_weights_that_were_put_in(known):
    def speed(name: str, batch: int) -> float:
        return GPUS[name].bandwidth ** 0.6 * GPUS[name].fp32 ** 0.3 * batch**0.2

    batches = dict(zip("ABCDE", (32, 64, 32, 48, 96), strict=True))
    knowledge = known(
        *(
            cell(name, network, speed(name, batch), batch=math.log(batch), precision="tf32")
            for name, batch in batches.items()
            for network in NETWORKS
        )
    )
    assert knowledge.sheet.weights == pytest.approx((0.6, 0.3))
    assert knowledge.sheet.slope == pytest.approx(0.2)
    guess = guesses.best("A", "Z", 1, "fp32", knowledge)
    assert guess.kind == guesses.SHEET
    assert math.exp(guess.value) == pytest.approx(speed("Z", 1) / speed("A", 1))
    # A training keeps its batch, whatever that of the references did.
    ratio = guesses.best("A", "B", 1, "fp32", knowledge)
    assert math.exp(ratio.value) == pytest.approx(speed("B", 1) / speed("A", 1))


def test_each_network_gains_from_its_batch_what_it_does(known):
    """All GPUs are alike, so that whatever is faster had a larger batch."""
    gains = {"alpha": 0.0, "beta": 0.4, "gamma": 0.2, "delta": 0.2}
    batches = dict(zip("ABCDE", (1, 64, 2, 1024, 32), strict=True))
    cells = [
        cell(name, network, batch**gain, batch=math.log(batch), precision="tf32")
        for name, batch in batches.items()
        for network, gain in gains.items()
    ]
    knowledge = known(*cells)
    found = {network: knowledge.gains.of(network) for network in gains}
    assert found["alpha"] < 0.1 < 0.3 < found["beta"]
    assert found["gamma"] == pytest.approx(0.2, abs=0.05)
    assert knowledge.gains.of("unheard of") == knowledge.gains.common
    # What is left of a network's gain, because little was seen, spreads the networks; none is lost.
    support = knowledge.at("tf32", 1).support("A", "B")
    assert support.value == pytest.approx(0, abs=0.1)
    assert support.spread < 0.3 < math.log(64) * 0.1


def test_a_pair_of_gpus_says_nothing_of_the_gains_it_is_judged_by():
    def gains(value: float):
        ratios = {
            ("A", other): [
                Ratio(network, 0.5 if network != "alpha" else said, 2.0, True, "s", "source")
                for network in NETWORKS
            ]
            for other, said in (("B", value), ("C", 0.9))
        }
        return batches.fitted({"tf32": ratios}, 0.2)

    one, other = gains(0.1), gains(5.0)
    assert one.of("alpha") < other.of("alpha")
    unseen = other.of("alpha", unseen=("A", "B"))
    assert one.of("alpha", unseen=("A", "B")) == pytest.approx(unseen)
    assert unseen > 0.2 == one.of("beta")


def test_data_sheets_say_nothing_of_other_makers_or_without_a_figure(small):
    for name in "QR":
        assert datasheet.missing(GPUS[name], "fp32")
        assert guesses.best("A", name, 1, "fp32", small) is None
    assert guesses.best("A", "Z", 2, "fp32", small) is None


def test_half_precisions_stand_for_each_other_where_a_gpu_has_both(known):
    knowledge = known(*(cell(name, one, 1, precision="fp16") for name in "AMN" for one in NETWORKS))
    guess = guesses.best("M", "N", 1, "bf16", knowledge)
    assert guess.kind == guesses.EQUAL
    assert any("those at fp16" in one for one in guess.missing)
    assert guesses.best("A", "N", 1, "bf16", knowledge) is None
