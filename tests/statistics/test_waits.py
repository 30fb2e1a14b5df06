from itertools import pairwise

import pytest
from observed import typed

from epochcost.record.types import Record
from epochcost.statistics import waits
from epochcost.statistics.prediction import predict

TRAIN, EVALUATE = 0.5, 0.2  # seconds of the short passes


def record(begins, ends, settings=None, framework="keras-tensorflow") -> Record:
    """A quick run of 10 steps a pass, of 1,000 samples in batches of 10, four epochs wanted.

    begins, ends: what each epoch waited before its training and after its validation.
    """
    blocks, epochs = [], []
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True), start=1):
        parts = [("train", 1, TRAIN / 10 + begin), ("train", 9, 0.9 * TRAIN)]
        parts += [("evaluate", 1, EVALUATE / 10), ("evaluate", 7, 0.7 * EVALUATE)]
        parts += [("evaluate", 2, EVALUATE / 5 + end)]
        blocks += [
            {"epoch": number, "part": part, "steps": steps, "seconds": seconds}
            for part, steps, seconds in parts
        ]
        epochs.append({"epoch": number, "train_s": TRAIN + begin, "eval_s": EVALUATE + end})
    document = {
        "run": {"framework": framework},
        "software": {"settings": settings or {}},
        "settings": {"epochs": 4, "batch_size": 10},
        "data": {"train_samples": 1000, "validation_samples": 500},
        "blocks": blocks,
        "epochs": epochs,
    }
    return typed(document)


def test_threads_sleep_twice_as_long_each_time_and_a_minute_at_most():
    wakes = [waits.next_wake(0.0)]
    while wakes[-1] < 300:
        wakes.append(waits.next_wake(wakes[-1]))
    assert wakes[:4] == pytest.approx([0.02, 0.06, 0.14, 0.30])
    sleeps = [later - earlier for earlier, later in pairwise(wakes)]
    assert all(later == pytest.approx(min(2 * earlier, 60)) for earlier, later in pairwise(sleeps))
    assert sleeps[-1] == pytest.approx(60)


def test_what_waited_is_seen_and_how_much_of_the_sleeps_that_was():
    seen = waits.seen(record([0, 0.56, 0, 0], [0, 0, 0, 0]))
    assert {where for where, seconds in seen.seconds.items() if seconds} == {("train", 2)}
    assert seen.of("train", 2) == pytest.approx(0.56)
    assert seen.of("train", 1) == seen.of("evaluate", 2) == 0
    # The threads of the validations are 0.2 s old, and wake up at 0.3 s; those of the epochs are
    # 0.7 s old after their wait, and wake up at 1.26 s.
    assert seen.share == pytest.approx(0.56 / (3 * 0.1 + 3 * 0.56))
    assert 3 < seen.effective_passes < 6


@pytest.mark.parametrize(
    ("settings", "framework"),
    [({"input_autotuning": False}, "keras-tensorflow"), ({}, "keras-jax"), ({}, "pytorch")],
)
def test_other_pipelines_do_not_wait(settings, framework):
    assert waits.seen(record([0, 0.5, 0, 0], [0] * 4, settings, framework)) is None


def test_whole_epochs_wait_longer_than_short_ones():
    never = predict(record([0] * 4, [0] * 4))
    assert never.waits_s == 0
    assert never.seconds == pytest.approx(4 * (10 * TRAIN + 5 * EVALUATE))
    # Each pass waits until the thread wakes up.
    always = predict(record([0, 0.56, 0.56, 0.56], [0, 0.1, 0.1, 0.1]))
    # What all of them waited in common cannot be told from the time of a pass.
    assert always.waits_s == 0
    some = predict(record([0, 0, 0.56, 0], [0, 0, 0.1, 0]))
    assert some.seconds == pytest.approx(never.seconds + some.waits_s)
    # Starting up takes as much longer as the first epoch is longer without the waits of the others.
    built = predict(record([5, 0, 0.56, 0], [0, 0, 0.1, 0]))
    assert built.seconds - built.waits_s == pytest.approx(never.seconds + 5)
    assert some.waits_s > 0.56 + 0.1
    assert some.high - some.seconds > never.high - never.seconds


def test_how_long_whole_epochs_wait_is_the_share_of_what_their_threads_sleep_on():
    always, half, never = (waits.Waits({}, share, effective_passes=10) for share in (1.0, 0.5, 0.0))
    # Without validation three of four epochs wait for the one before, whose thread wakes up after
    # 40.94 s. Epochs of 24 to 36 s are reckoned with.
    seconds, _ = always.expected(30.0, 0.0, 4)
    assert seconds == pytest.approx(3 * 10.94)
    less, by_chance = half.expected(30.0, 0.0, 4)
    assert less == pytest.approx(seconds / 2)
    # In ten passes none may wait by chance.
    nothing, little_chance = never.expected(30.0, 0.0, 4)
    assert nothing == 0
    assert 0 < little_chance < by_chance
    # With validation there are two sleeps an epoch, but for the first one's beginning.
    assert always.expected(30.0, 15.0, 4)[0] > 4 * 4 + 3 * 15
