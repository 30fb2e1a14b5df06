import subprocess
import sys
import time

import pytest

from epochcost import ROOT
from epochcost.measure import extent
from epochcost.measure.clock import Clock

RECIPE = {"epochs": 20, "batch_size": 128}
QUICK = extent.of("quick", RECIPE, 60_000, 10_000)
FULL = extent.of("full", RECIPE, 60_000, 10_000)


def run(clock: Clock, step_s: float = 0.0) -> None:
    """Drive the clock as a framework does."""
    for _ in range(clock.extent.epochs):
        clock.epoch_begin()
        for step in range(clock.extent.steps):
            clock.step(step)
            if step_s:
                time.sleep(step_s)
        clock.train_end()
        for step in range(clock.extent.evaluation_steps):
            clock.evaluation_step(step)
        clock.epoch_end(0.5, 0.9)


def test_a_full_run_is_the_whole_recipe():
    assert (FULL.epochs, FULL.steps, FULL.evaluation_steps) == (20, 469, 79)
    assert FULL.marks == (1,)


def test_a_quick_run_is_eight_short_epochs():
    assert (QUICK.epochs, QUICK.steps, QUICK.evaluation_steps) == (8, 32, 32)
    assert QUICK.marks == QUICK.evaluation_marks == (1, 30)


def test_the_last_batches_of_a_quick_run_are_as_large_as_those_of_the_full_one():
    assert (FULL.samples, FULL.evaluation_samples) == (60_000, 10_000)
    assert QUICK.samples == 31 * 128 + 60_000 % 128
    assert QUICK.evaluation_samples == 31 * 128 + 10_000 % 128


@pytest.mark.parametrize(
    ("samples", "steps", "marks"),
    [(2_000, 16, (1, 14)), (512, 4, (1, 2)), (384, 3, (1,)), (100, 1, (1,))],
)
def test_a_quick_run_of_little_data_has_epochs_of_all_of_it(samples, steps, marks):
    small = extent.of("quick", RECIPE, samples, 1_000)
    assert (small.steps, small.marks, small.samples) == (steps, marks, samples)
    assert small.evaluation_samples == 1_000


@pytest.mark.parametrize(
    ("epochs", "samples", "expected"), [(3, 512, 3), (1, 60_000, 8), (1, 5_000, 5)]
)
def test_a_quick_run_is_never_longer_than_a_full_one(epochs, samples, expected):
    plan = extent.of("quick", RECIPE | {"epochs": epochs}, samples, 0)
    assert plan.epochs == expected


@pytest.mark.parametrize("batch_size", [32, 128, 512, 1024, 2048, 4096, 8192])
@pytest.mark.parametrize("epochs", [1, 2, 4, 5, 20])
@pytest.mark.parametrize("samples", [800, 5_000, 25_000, 60_000])
def test_a_quick_run_has_at_most_half_the_steps_of_a_full_one(samples, epochs, batch_size):
    """Unless it would be too short to show anything."""
    recipe = {"epochs": epochs, "batch_size": batch_size}
    quick, full = (extent.of(scale, recipe, samples, samples) for scale in ("quick", "full"))
    steps = quick.epochs * quick.steps
    shortest = extent.FEWEST_EPOCHS * extent.FEWEST_STEPS
    assert steps <= max(full.epochs * full.steps / 2, min(shortest, full.epochs * full.steps))
    assert quick.steps >= min(extent.FEWEST_STEPS, full.steps)


def test_large_batches_make_a_quick_run_shorter_before_they_make_it_fewer_epochs():
    """With all 25 steps of each, four epochs of IMDb were as many as the full run has."""
    plan = extent.of("quick", {"epochs": 4, "batch_size": 1024}, 25_000, 25_000)
    assert (plan.epochs, plan.steps, plan.evaluation_steps) == (8, 6, 6)
    assert plan.marks == (1, 4)


def test_a_recipe_without_validation_has_no_passes_and_no_time_of_them():
    plan = extent.of("quick", RECIPE, 60_000, 0)
    assert plan.evaluation_steps == 0
    clock = Clock(plan)
    run(clock)
    assert clock.epochs[0].eval_s is None
    assert clock.epochs[0].done


def test_a_quick_run_of_fine_tuning_is_a_part_of_each_epoch():
    plan = extent.of("quick", {"epochs": 2, "batch_size": 64, "fine_tuning": {}}, 23_000, 2_000)
    assert (plan.epochs, plan.steps, plan.evaluation_steps) == (2, 6, 6)
    plan = extent.of("quick", {"epochs": 2, "batch_size": 64, "fine_tuning": {}}, 800, 200)
    assert (plan.epochs, plan.steps, plan.evaluation_steps) == (2, 6, 2)


def test_the_input_alone_is_timed_over_no_more_steps_than_an_epoch_has():
    assert (QUICK.input_steps, FULL.input_steps) == (32, 331)
    clock, done = Clock(FULL), []

    def take():
        done.append("take")
        time.sleep(0.1 if len(done) == 4 else 0.004)  # something came between, once

    def loop():
        done.append("loop")
        time.sleep(0.002)

    clock.time_input(331, take, loop)
    assert done == ["loop", "take"] * 3
    assert clock.input["steps"] == 331
    assert 0.002 <= clock.input["loop_s"] < 0.1
    assert 0.004 <= clock.input["seconds"] < 0.1
    assert clock.phases["measuring"] > 0.1
    clock.time_input(331, take)
    assert clock.input["loop_s"] == 0


def test_the_device_is_synchronised_at_borders_and_not_at_each_step():
    for plan, expected in ((FULL, 4 * 20), (QUICK, 6 * 8)):
        clock, calls = Clock(plan), []
        clock.synchronise = lambda calls=calls: calls.append(1)
        run(clock)
        assert len(calls) == expected


def test_each_epoch_is_read_after_its_first_step_and_before_its_last_ones():
    clock = Clock(extent.Extent(2, 20, 200, (1, 18), 9, 90, (1, 7)))
    run(clock, 0.002)
    for epoch in clock.epochs:
        assert 0.002 <= epoch.marks[1] < epoch.marks[18] < epoch.train_s
        assert epoch.train_s >= 0.04
        assert 0 < epoch.eval_marks[1] < epoch.eval_marks[7] < epoch.eval_s


def test_a_framework_that_does_ten_steps_in_one_call_is_read_when_it_tells():
    clock = Clock(extent.Extent(1, 32, 320, (1, 30)))
    clock.steps_per_call = 10
    clock.epoch_begin()
    for step in (0, 10, 20, 30):
        clock.step(step)
    clock.train_end()
    clock.epoch_end(0.5)
    assert list(clock.epochs[0].marks) == [10, 30]


@pytest.mark.parametrize("part", ["training", "validation"])
@pytest.mark.parametrize(
    ("steps", "said"), [(5, "had step 5 of 4"), (3, "ended in step 3 of 4"), (0, "in step 0 of 4")]
)
def test_a_pass_of_other_steps_than_planned_is_no_measurement(part, steps, said):
    clock = Clock(extent.Extent(1, 4, 40, (1,), 4, 40, (1,)))
    with pytest.raises(RuntimeError, match=f"{part} .*{said}"):
        clock.epoch_begin()
        for step in range(steps if part == "training" else 4):
            clock.step(step)
        clock.train_end()
        for step in range(steps):
            clock.evaluation_step(step)
        clock.epoch_end(0.5, 0.9)


def test_phases_add_up_when_they_repeat():
    clock = Clock(QUICK)
    for _ in range(2):
        with clock.phase("data"):
            time.sleep(0.005)
    assert clock.phases["data"] >= 0.01


def test_the_phase_of_a_failure_is_known():
    clock = Clock(QUICK)
    with pytest.raises(ZeroDivisionError), clock.phase("build"):
        raise ZeroDivisionError
    assert clock.phase_now == "build"
    clock.epoch_begin()
    assert clock.phase_now == "first_step"
    clock.step(0)
    clock.step(1)
    assert clock.phase_now == "train"


def test_the_age_of_a_process_is_right_to_a_few_hundredths_of_a_second():
    code = "from epochcost.measure.clock import process_age as age; print(age())"
    python = [sys.executable, "-c", "import time; time.sleep(0.5); " + code]
    begin = time.monotonic()
    done = subprocess.run(
        python, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT / "scripts")}
    )
    assert 0.5 <= float(done.stdout) <= time.monotonic() - begin + 0.02
