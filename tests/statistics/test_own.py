"""What a part of a training says of the whole."""

import math

import pytest

from epochcost.record.types import Gap, Own, Stretch
from epochcost.statistics.own import total
from epochcost.statistics.spread import REACH

DEVIATION = 0.1


def own(stretches, gaps=(), **about) -> Own:
    """A training of which some stretches were seen, after a start of 5 s."""
    seen = tuple(stretches)
    steps = 1 + sum(stretch.steps for stretch in seen)
    settings = {
        **{"command": ("python", "train.py"), "counted_by": "torch.optim", "ended": "stable"},
        **{"start_s": 5.0, "resumed_at": 0, "planned": 1001, "planned_by": "given"},
        **{"period": None, "samples": None, "tokens": None, "world": 1, "ranks": (0,)},
        **{"hook_s": 0.0, "end_s": None, "status": 75, "python": "3.11", "packages": {}},
        **{"device": "cpu", "uuids": (), "host_mib": None, "device_mib": None, "files": ()},
        **{"problems": ()},
    }
    return Own(stretches=seen, gaps=tuple(gaps), steps=steps, **{**settings, **about})


def even(count: int, step_s: float = 0.1) -> list[Stretch]:
    return [Stretch(10, 10 * step_s, 0.0, 0.0)] * count


def test_steps_alike():
    found = total(own(even(10)), DEVIATION)
    assert found.steps == 1001
    assert found.loop_s == pytest.approx(100)
    assert found.low_s == pytest.approx(105 / math.exp(REACH * DEVIATION))
    assert found.high_s == pytest.approx(105 * math.exp(REACH * DEVIATION))
    assert (found.start_s, found.end_s, found.predicted) == (5, 0, True)


def test_a_warm_up_counts_once():
    found = total(own([*even(2, 0.5), *even(10)]), DEVIATION)
    assert found.step_s == pytest.approx(0.1)
    assert found.loop_s == pytest.approx(10 + 98)


def test_the_gaps_to_come_are_added():
    seen = [Stretch(100, 10.0 + gap, 0.0, gap) for gap in (0.0, 3.0, 2.0, 2.0)]
    gaps = [Gap(101, 3.0, "evaluation"), Gap(201, 2.0, "evaluation"), Gap(301, 2.0, "checkpoint")]
    found = total(own(seen, gaps), DEVIATION)
    # At 401, 501, ..., 901, and after the last step.
    assert found.loop_s == pytest.approx(47 + 60 + 6 * 2)
    assert found.end_s == pytest.approx(2)
    assert found.step_s == pytest.approx(0.1 + 2 / 100)


def test_a_single_gap_comes_again_as_late():
    found = total(own(even(30), [Gap(250, 0.0, "checkpoint")]), DEVIATION)
    assert found.loop_s == pytest.approx(100)
    seen = [*even(24), Stretch(10, 4.0, 0.0, 3.0), *even(5)]
    found = total(own(seen, [Gap(250, 3.0, "checkpoint")]), DEVIATION)
    assert found.loop_s == pytest.approx(33 + 70 + 3 * 3)


def test_what_nothing_explains_is_in_any_step():
    seen = [*even(14), Stretch(10, 2.0, 0.0, 1.0), *even(5)]
    found = total(own(seen, [Gap(143, 1.0, "unknown")]), DEVIATION)
    assert found.step_s == pytest.approx(21 / 200)


def test_what_nothing_explains_but_comes_regularly_comes_again():
    seen = [Stretch(50, 6.0, 0.0, 1.0)] * 4
    found = total(own(seen, [Gap(50 * n, 1.0, "unknown") for n in (1, 2, 3, 4)]), DEVIATION)
    assert found.loop_s == pytest.approx(24 + 80 + 16)


def test_an_evaluation_that_is_to_come_makes_it_a_lower_limit():
    assert total(own(even(10), period=500), DEVIATION).lower_limit
    assert not total(own(even(60), period=500), DEVIATION).lower_limit


def test_without_a_number_of_steps_the_time_is_that_of_a_thousand():
    found = total(own(even(10), planned=None), DEVIATION)
    assert (found.steps, found.predicted) == (None, True)
    assert (found.step_s, found.loop_s) == (pytest.approx(0.1), pytest.approx(100))
    planned = total(own(even(10), planned=1000), DEVIATION)
    assert (found.low_s, found.high_s) == pytest.approx((planned.low_s, planned.high_s), rel=0.01)


def test_a_finished_training_is_measured():
    found = total(own(even(10), ended="finished", end_s=3.0, planned=None), DEVIATION)
    assert (found.steps, found.predicted, found.low_s) == (101, False, None)
    assert (found.loop_s, found.end_s) == (pytest.approx(10), 3)


def test_of_a_resumed_training_the_rest_is_this_commands():
    found = total(own(even(10), resumed_at=500), DEVIATION)
    assert found.steps == 501
    assert found.loop_s == pytest.approx(50)


def test_a_training_longer_than_planned_takes_what_it_took():
    found = total(own(even(10), planned=50), DEVIATION)
    assert found.steps == 101
    assert found.loop_s == pytest.approx(10)


def test_stretches_that_follow_each_other_slowly_tell_less():
    fast, slow = even(1, 0.096)[0], even(1, 0.104)[0]
    mixed = total(own([fast, slow] * 10), DEVIATION)
    drifting = total(own([fast] * 10 + [slow] * 10), DEVIATION)
    assert mixed.loop_s == pytest.approx(drifting.loop_s, rel=0.05)
    assert drifting.high_s / drifting.loop_s > mixed.high_s / mixed.loop_s


def test_few_stretches_make_it_less_sure():
    few, many = (total(own(even(number)), DEVIATION) for number in (2, 3))
    assert math.log(few.high_s / 105) == pytest.approx(2 * math.log(many.high_s / 105), rel=0.01)


def test_nothing_but_a_first_step():
    found = total(own([]), DEVIATION)
    assert (found.steps, found.loop_s, found.step_s) == (None, None, 0)
