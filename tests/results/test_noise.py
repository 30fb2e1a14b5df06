"""What records of one machine say of each other."""

import copy

import pytest
from observed import typed

from epochcost.results import noise, rows, tables


@pytest.fixture
def flags(record):
    """The flags in both tables of runs before which the yardstick found so many GFLOP/s."""

    def of(*found: float | None, vcpus: tuple[int, ...] = (), gpu: bool = False) -> list[str]:
        records = []
        for number, can_do in enumerate(found):
            one = copy.deepcopy(record)
            one["run"]["id"] = f"local/{number}"
            one["flop_per_sample"] = None
            one["yardstick"] = can_do and {"matmul_gflops": can_do, "copy_gib_s": 50.0}
            one["noise"]["flags"] = ["swapped"] if number == 0 else []
            if vcpus:
                one["machine"]["usable_cores"] = vcpus[number]
            if gpu:
                one["software"]["device"] = "gpu"
                one["machine"]["gpus"] = [{"name": "NVIDIA H200", "uuid": "GPU-1"}]
            records.append(one)
        runs = tables.runs_table([rows.run_row(typed(one), "") for one in records])
        runs, noted = noise.flag_slow_processors(
            runs, noise.noise_table([noise.noise_row(typed(one)) for one in records])
        )
        assert list(runs.noise) == list(noted["flags"])
        return list(runs.noise)

    return of


def test_a_run_on_slowed_processors_is_flagged(flags):
    assert flags(100.0, 240.0, 200.0, None) == [f"swapped; {noise.SLOWED}", "", "", ""]


def test_processors_that_trained_faster_than_their_yardstick_were_not_slowed(flags, monkeypatch):
    monkeypatch.setattr(noise, "gflops_share", lambda record: 120 / 100)
    assert flags(240.0, 100.0) == ["swapped", ""]
    monkeypatch.setattr(noise, "BFLOAT16", "default")  # as if they had been in bfloat16
    assert flags(240.0, 100.0) == ["swapped", noise.SLOWED]


def test_fewer_cores_are_not_slowed_processors(flags):
    assert flags(120.0, 240.0, vcpus=(1, 2)) == ["swapped", ""]


def test_a_run_on_a_gpu_is_not_judged_by_the_speed_of_all_processors(flags):
    assert flags(100.0, 240.0, gpu=True) == ["swapped", ""]


def test_without_a_yardstick_nothing_is_said(flags):
    assert flags(None, None) == ["swapped", ""]
    assert flags() == []
