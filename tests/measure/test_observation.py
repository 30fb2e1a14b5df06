"""What a record says, from a clock and a sampler whose numbers are given."""

from dataclasses import astuple

import pytest

from epochcost.measure import observation
from epochcost.measure.clock import Clock, Epoch
from epochcost.measure.extent import of as extent_of
from epochcost.record import types

RECIPE = {
    "epochs": 20,
    "batch_size": 10,
    "quality": {"metric": "val_accuracy", "target": 0.9},
}
BEGUN = "2026-01-01T00:00:00+00:00"
FAILURE = types.Failure("train", "x")
SHARES = {"cpu": 0.5, "others": 0.0, "steal": 0.0}
GPUS = [
    {
        "uuid": "GPU-1", "peak_memory_mib": None, "power_w": None, "clock_mhz": None,
        "share": share, "energy_j": joules, "energy_method": "NVML counter", "held_down_by": [],
        "processes_before": 0,
    }
    for share, joules in ((0.8, 100.0), (0.6, 50.0))
]  # fmt: skip


def clock_of(scale: str) -> Clock:
    """Two epochs of 400 samples and 100 held out, the second twice as fast as the first."""
    clock = Clock(extent_of(scale, RECIPE, 400, 100))
    steps, held_out = clock.extent.steps, clock.extent.evaluation_steps
    for number, step_s in ((1, 0.2), (2, 0.1)):
        epoch = Epoch(number, loss=0.5, held_out=0.91)
        # What an epoch takes beside its steps falls on the first one and on the last two.
        epoch.marks = {
            1: 1 + step_s,
            **({steps - 2: 1 + (steps - 2) * step_s} if steps < 40 else {}),
        }
        epoch.train_s = 3 + steps * step_s
        epoch.eval_marks = {1: 0.05}
        epoch.eval_s = held_out * 0.05
        clock.epochs.append(epoch)
    clock.multiply_adds = 1_000
    clock.add("import", 2.0)
    return clock


def record_of(
    clock: Clock,
    scale: str = "full",
    seen: dict | None = None,
    failure: types.Failure | None = None,
) -> types.Record:
    run = types.Run("x", "local", "w", "pytorch", "default", 1, scale, BEGUN, BEGUN)
    data = types.Data("d", "mirror", True, 400, 100, 0, "0" * 64)
    about = observation.About(None, None, None, 1, RECIPE, data, None)
    return observation.record(run, about, None, clock, SHARES, seen or {}, failure)


def test_the_steady_state_of_a_full_run_is_that_of_its_later_epochs():
    steady = record_of(clock_of("full")).steady_state
    assert astuple(steady) == pytest.approx((400 / 7, 400 / 7, 400 / 7, 1))


def test_that_of_a_quick_run_leaves_out_what_falls_beside_the_steps():
    steady = record_of(clock_of("quick"), "quick").steady_state
    assert steady.samples_per_second == pytest.approx(10 / 0.1)


def test_the_first_step_is_taken_out_of_the_training():
    phases = record_of(clock_of("full")).phases
    assert phases.first_step == pytest.approx(1.2)
    assert phases.train == pytest.approx((3 + 40 * 0.2) + (3 + 40 * 0.1) - 1.2)
    assert phases.evaluate == pytest.approx(2 * 10 * 0.05)
    assert phases.import_ == 2.0
    assert phases.save is None


def test_blocks_are_the_stretches_between_the_marks():
    blocks = record_of(clock_of("quick"), "quick").blocks
    first = [block for block in blocks if (block.epoch, block.part) == (1, "train")]
    assert [block.steps for block in first] == [1, 29, 2]
    assert [block.samples for block in first] == [10, 290, 20]
    assert [block.seconds for block in first] == pytest.approx([1.2, 29 * 0.2, 2 + 2 * 0.2])


def test_a_training_takes_three_times_the_operations_of_the_way_forwards():
    assert record_of(clock_of("full")).flop_per_sample == 3 * 2 * 1_000


def test_gpus_and_processor_are_added_up_and_say_by_which_counter():
    record = record_of(clock_of("full"), seen={"cpu_energy_j": 30.0, "gpus": GPUS})
    assert record.energy_j == 180.0
    assert record.energy_method == "RAPL + NVML counter"
    assert record.utilisation.gpu_share == 0.7


def test_what_an_interrupted_run_used_before_was_not_counted():
    clock = clock_of("full")
    clock.interruptions = 1
    record = record_of(clock, seen={"cpu_energy_j": 30.0, "gpus": GPUS})
    assert (record.energy_j, record.energy_method) == (None, None)
    assert "interrupted, and watched since its last start alone" in record.noise.flags


@pytest.mark.parametrize(
    ("failure", "scale", "reached"),
    [
        (None, "full", True),
        (FAILURE, "full", None),
        (None, "quick", None),
    ],
)
def test_only_a_whole_training_is_judged(failure, scale, reached):
    record = record_of(clock_of(scale), scale, failure=failure)
    assert record.quality.reached is reached


def test_waiting_and_earlier_processes_are_in_the_wall_time_as_they_should_be(monkeypatch):
    monkeypatch.setattr("epochcost.measure.clock.process_age", lambda: 100.0)
    clock = Clock(extent_of("full", RECIPE, 400, 100), waited=30.0)
    clock.wall_before = 7.0
    assert clock.wall() == 77.0


def test_sleep_of_the_machine_is_in_no_time_and_other_pauses_are_in_theirs(monkeypatch):
    clock = clock_of("full")
    monkeypatch.setattr(clock, "wall", lambda: 4_000.0)
    pauses = [
        {"begin": 1.0, "end": 2.0, "seconds": 3_600.0, "cause": "suspended"},
        {"begin": 1.0, "end": 28.0, "seconds": 27.0, "cause": "frozen"},
    ]
    record = record_of(clock, seen={"pauses": pauses})
    assert record.wall_s == 400
    assert record.phases.spent == pytest.approx(400)
    assert record.noise.paused_s == 3_627
