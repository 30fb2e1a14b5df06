import pytest

from epochcost.record.passes import passes
from epochcost.record.types import EVALUATE, TRAIN, Block


def block(steps: int, seconds: float, epoch: int = 1, part: str = TRAIN) -> Block:
    return Block(epoch, part, steps, 128 * steps, seconds)


def test_a_step_is_timed_in_the_middle_and_the_rest_is_beside_it():
    (one,) = passes([block(1, 0.5), block(29, 2.9), block(2, 0.4)], TRAIN)
    assert one.step_s == pytest.approx(0.1)
    assert one.beside_s == pytest.approx(0.4 + 0.2)
    assert one.seconds_of(1000) == pytest.approx(100.6)


@pytest.mark.parametrize(
    ("blocks", "step_s"),
    [([(1, 0.5), (29, 2.9)], 0.1), ([(10, 3.0), (20, 2.0), (2, 0.4)], 0.1), ([(4, 2.0)], 0.5)],
)
def test_what_was_not_read_does_no_harm(blocks, step_s):
    (one,) = passes([block(*each) for each in blocks], TRAIN)
    assert one.step_s == pytest.approx(step_s)
    assert one.seconds_of(one.steps) == pytest.approx(one.seconds)


def test_epochs_and_parts_are_kept_apart():
    blocks = [
        *(block(1, 1.0), block(9, 0.9), block(5, 1.0, part=EVALUATE)),
        *(block(1, 0.1, 2), block(9, 1.8, 2), block(5, 2.0, 2, EVALUATE)),
    ]
    assert [one.step_s for one in passes(blocks, TRAIN)] == pytest.approx([0.1, 0.2])
    assert [(one.epoch, one.seconds) for one in passes(blocks, EVALUATE)] == [(1, 1.0), (2, 2.0)]
    assert passes(blocks[:2], EVALUATE) == []
