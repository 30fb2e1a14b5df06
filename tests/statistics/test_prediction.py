import pytest

from epochcost.statistics.prediction import predict


def quick(blocks, first_pass=0.2, passes=(0.2, 0.2)) -> dict:
    """A quick run of 1,000 samples in batches of 10, three epochs wanted."""
    return {
        "settings": {"epochs": 3, "batch_size": 10},
        "data": {"train_samples": 1000, "validation_samples": 100},
        "blocks": [{"steps": steps, "seconds": seconds} for steps, seconds in blocks],
        "epochs": [{"eval_s": first_pass, "eval_samples": 100}],
        "evaluations": [{"seconds": seconds, "samples": 100} for seconds in passes],
    }


def test_a_steady_run_is_epochs_times_steps_and_passes():
    result = predict(quick([(1, 0.01), (9, 0.09), (10, 0.1), (10, 0.1)]))
    assert result.seconds == pytest.approx(3 * (100 * 0.01 + 0.2))
    assert result.low == pytest.approx(result.seconds)
    assert result.high == pytest.approx(result.seconds)


def test_start_up_is_paid_once():
    result = predict(quick([(1, 2.01), (9, 0.09), (10, 0.1)], first_pass=1.2))
    assert result.seconds == pytest.approx(3 * 1.2 + 2 + 1)


def test_the_range_is_that_of_the_stretches_and_holds_the_value():
    blocks = [(1, 0.01), (9, 0.09), (10, 0.1), (10, 0.2), (1, 0.01)]
    result = predict(quick(blocks, passes=(0.2, 0.4)))
    assert result.seconds == pytest.approx(3 * (100 * 0.015 + 0.3))
    assert result.low == pytest.approx(3 * (100 * 0.01 + 0.2))
    assert result.high == pytest.approx(3 * (100 * 0.02 + 0.4))


def test_what_falls_on_the_last_step_is_paid_once():
    blocks = [(1, 0.01), (9, 0.09), (10, 0.1), (10, 0.1), (1, 1.01)]
    assert predict(quick(blocks)).seconds == pytest.approx(3 * (100 * 0.01 + 0.2) + 1)


def test_a_part_of_the_validation_data_stands_for_all_of_it():
    record = quick([(1, 0.01), (9, 0.09), (10, 0.1)])
    record["data"]["validation_samples"] = 1000
    assert predict(record).seconds == pytest.approx(3 * (1 + 2))


def test_a_short_run_predicts_from_what_it_has():
    assert predict(quick([(1, 0.05), (4, 0.04)])).seconds > 0
