import random

import pytest
from observed import typed

from epochcost.statistics import prediction, spread

# How far full runs were from predictions of the same hour, over the predicted time.
THIS_HOUR = spread.shipped()[spread.PREDICTED].hour


def predict(one: dict) -> prediction.Prediction:
    return prediction.predict(typed(one))


def epoch(number, step=0.01, begin=0.0, end=0.0, evaluation=0.02, build=0.0) -> list[dict]:
    """An epoch of 10 training and 5 validation steps; both parts with what comes beside them."""
    parts = [
        ("train", 1, step + begin),
        ("train", 7, 7 * step),
        ("train", 2, 2 * step + end),
        ("evaluate", 1, evaluation + build),
        ("evaluate", 4, 4 * evaluation),
    ]
    return [
        {"epoch": number, "part": part, "steps": steps, "seconds": seconds}
        for part, steps, seconds in parts
    ]


def quick(*epochs, validation_samples=100) -> dict:
    """A quick run of 1,000 samples in batches of 10, three epochs wanted."""
    return {
        "run": {"framework": "pytorch"},
        "software": {"settings": {}},
        "settings": {"epochs": 3, "batch_size": 10},
        "data": {"train_samples": 1000, "validation_samples": validation_samples},
        "blocks": [block for each in epochs for block in each],
    }


def test_how_far_processes_on_a_gpu_differ_is_not_known():
    one = quick(*(epoch(number) for number in range(1, 9)))
    on_gpu = one | {"software": one["software"] | {"device": "gpu"}}
    assert predict(on_gpu).seconds == predict(one).seconds
    assert predict(one).low is not None
    assert (predict(on_gpu).low, predict(on_gpu).high) == (None, None)


def test_a_steady_run_is_epochs_times_steps_and_passes():
    result = predict(quick(*(epoch(number) for number in range(1, 9))))
    whole = 3 * (100 * 0.01 + 10 * 0.02)
    # No two processes are alike, even where all epochs are.
    reach = 1.96 * THIS_HOUR * whole
    assert (result.seconds, result.low, result.high) == pytest.approx(
        (whole, whole - reach, whole + reach), rel=1e-4
    )


def test_start_up_is_paid_once():
    first = epoch(1, begin=2.0, build=1.0)
    result = predict(quick(first, epoch(2), epoch(3)))
    assert result.seconds == pytest.approx(3 * 1.2 + 3.0)


def test_what_an_epoch_takes_beside_its_steps_is_paid_once_an_epoch():
    epochs = [epoch(number, begin=0.3, end=0.2, build=0.1) for number in (1, 2, 3)]
    assert predict(quick(*epochs)).seconds == pytest.approx(3 * (1.2 + 0.6))


def test_epochs_of_two_speeds_make_a_wide_interval_around_their_mean():
    speeds = [0.01, 0.01, 0.02, 0.01, 0.02, 0.02, 0.01, 0.02]
    result = predict(quick(*(epoch(n, step) for n, step in enumerate(speeds, start=1))))
    mean = sum(speeds[1:]) / 7
    assert result.seconds == pytest.approx(3 * (100 * mean + 0.2))
    assert result.low < 3 * 1.2 < 3 * 2.2 < result.high


def test_the_interval_holds_what_comes_in_95_of_100():
    """Epochs and processes that differ as the interval takes them to."""
    draw = random.Random(1)

    def held() -> bool:
        def step():
            return draw.gauss(0.01, 0.003)

        result = predict(quick(*(epoch(number, step()) for number in range(1, 9))))
        process = draw.gauss(1, THIS_HOUR)
        measured = process * sum(100 * step() + 0.2 for _ in range(3))
        return result.low <= measured <= result.high

    assert 0.93 < sum(held() for _ in range(4000)) / 4000 < 0.97


def test_a_recipe_without_validation_has_no_passes():
    blocks = [
        [block for block in epoch(number) if block["part"] == "train"] for number in (1, 2, 3)
    ]
    assert predict(quick(*blocks, validation_samples=0)).seconds == pytest.approx(3 * 1.0)


def test_a_quick_run_of_one_epoch_has_a_prediction_and_no_interval():
    result = predict(quick(epoch(1, begin=2.0)))
    assert result.seconds == pytest.approx(3 * 1.2 + 2.0)
    assert (result.low, result.high) == (None, None)


def test_fine_tuning_is_the_sum_of_its_passes_scaled_with_each_first_step_once():
    seconds = {(1, "train"): [5.0, 1.0], (2, "train"): [3.0, 2.0]}
    seconds |= {(1, "evaluate"): [1.0], (2, "evaluate"): [2.0, 0.5]}
    record = {
        "settings": {"batch_size": 10, "fine_tuning": {}},
        "data": {"train_samples": 110, "validation_samples": 50},
        "phases": {"predict": 3.0},
        "epochs": [{"epoch": number, "eval_samples": 20} for number in (1, 2)],
        "blocks": [
            {"epoch": epoch, "part": part, "seconds": took, "samples": 10 * (1 + place)}
            for (epoch, part), both in seconds.items()
            for place, took in enumerate(both)
        ],
    }
    trained = [5 + 100 / 20 * 1.0, 3 + 100 / 20 * 2.0]
    validated = [50 / 10 * 1.0, 2 + 40 / 20 * 0.5]
    assert predict(record).seconds == pytest.approx(sum(trained + validated) + 3.0 * 50 / 20)
