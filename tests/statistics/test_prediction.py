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
    result = predict(quick([(1, 0.01), (29, 0.29), (10, 0.1), (10, 0.1)]))
    assert result.seconds == pytest.approx(3 * (100 * 0.01 + 0.2))
    assert result.low == pytest.approx(result.seconds)
    assert result.high == pytest.approx(result.seconds)


def test_start_up_is_paid_once():
    result = predict(quick([(1, 2.01), (29, 0.29), (10, 0.1)], first_pass=1.2))
    assert result.seconds == pytest.approx(3 * 1.2 + 2 + 1)


def test_the_range_is_that_of_the_stretches_and_holds_the_value():
    blocks = [(1, 0.01), (29, 0.29), (10, 0.1), (10, 0.2), (1, 0.01)]
    result = predict(quick(blocks, passes=(0.2, 0.4)))
    assert result.seconds == pytest.approx(3 * (100 * 0.015 + 0.3))
    assert result.low == pytest.approx(3 * (100 * 0.01 + 0.2))
    assert result.high == pytest.approx(3 * (100 * 0.02 + 0.4))


def test_what_falls_on_the_last_step_is_paid_once():
    blocks = [(1, 0.01), (29, 0.29), (10, 0.1), (10, 0.1), (1, 1.01)]
    assert predict(quick(blocks)).seconds == pytest.approx(3 * (100 * 0.01 + 0.2) + 1)


def test_a_part_of_the_validation_data_stands_for_all_of_it():
    record = quick([(1, 0.01), (29, 0.29), (10, 0.1)])
    record["data"]["validation_samples"] = 1000
    assert predict(record).seconds == pytest.approx(3 * (1 + 2))


def test_what_the_first_validation_pass_builds_is_paid_once_however_many_samples_there_are():
    record = quick([(1, 0.01), (29, 0.29), (10, 0.1), (1, 0.01)], first_pass=1.2)
    record["data"]["validation_samples"] = 1000
    assert predict(record).seconds == pytest.approx(3 * (1 + 2) + 1)


def test_a_first_mark_that_was_not_read_moves_no_stretch_into_the_warm_up():
    blocks = [(30, 0.3), (10, 0.1), (10, 0.2), (1, 0.01)]
    result = predict(quick(blocks))
    assert (result.low, result.high) == (
        pytest.approx(3 * (100 * 0.01 + 0.2)),
        pytest.approx(3 * (100 * 0.02 + 0.2)),
    )


def test_fine_tuning_is_the_sum_of_its_parts_scaled_with_the_first_step_once():
    record = {
        "settings": {"batch_size": 10, "fine_tuning": {}},
        "data": {"train_samples": 100, "validation_samples": 40},
        "phases": {"first_step": 5.0, "predict": 3.0},
        "epochs": [
            {"epoch": 1, "train_s": 6.0, "samples": 30, "eval_s": 1.0, "eval_samples": 20},
            {"epoch": 2, "train_s": 3.0, "samples": 30, "eval_s": 1.0, "eval_samples": 20},
        ],
    }
    # 5 s once; ten steps of 0.5 s; ten of 1 s; two passes and the predictions, twice each.
    assert predict(record).seconds == pytest.approx(5 + 5 + 10 + 2 * 2 + 6)


def test_a_short_run_predicts_from_what_it_has():
    assert predict(quick([(1, 0.05), (4, 0.04)])).seconds > 0
