"""A process that stands still is seen by one that looks at it, whatever stopped it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import namedtuple

import psutil
import pytest
from observed import typed

from epochcost import ROOT
from epochcost.measure import activity
from epochcost.measure.clock import Clock
from epochcost.measure.extent import of as extent_of
from epochcost.measure.pauses import FROZEN, STOPPED, SUSPENDED, Pauses
from epochcost.record.outliers import OUTLIER, flags_of, slowest_epoch
from epochcost.record.types import Record

Times = namedtuple("Times", "user system children_user children_system")


class Process:
    """A process that has worked so long, and is in such a state."""

    def __init__(self, work: float, state: str = psutil.STATUS_RUNNING) -> None:
        self._work, self._state = work, state

    def status(self) -> str:
        return self._state

    def cpu_times(self) -> Times:
        return Times(self._work, 0.0, 0.0, 0.0)


def found(*looks: tuple) -> list[tuple[str, float]]:
    """The pauses of a process: (clock, clock with sleep, seconds worked[, state]) at each look."""
    clocks = iter([look[0] for look in looks])
    slept = iter([look[1] for look in looks])
    pauses = Pauses(0.5, lambda: next(clocks), lambda: next(slept))
    for _, _, work, *state in looks:
        pauses.look([Process(work, *state)])
    return [(pause.cause, round(pause.seconds, 3)) for pause in pauses.found]


def steady(until: float, cores: float = 2.0) -> list[tuple]:
    return [(at / 2, at / 2, cores * at / 2) for at in range(int(2 * until) + 1)]


def test_nothing_is_found_where_nothing_stands_still():
    assert found(*steady(20)) == []


@pytest.mark.parametrize("cores", [0.1, 1.0, 2.0, 64.0])
def test_all_that_stands_still_together_leaves_a_hole(cores):
    """As Slurm suspends a job, and Docker pauses a container."""
    at, went_on = 10.0, 10.0 * cores
    looks = [*steady(at, cores), (at + 27.5, at + 27.5, went_on + 0.4 * cores)]
    looks += [(at + 28, at + 28, went_on + 0.9 * cores)]
    assert found(*looks) == [(FROZEN, 27.0)]


@pytest.mark.parametrize("cores", [1.0, 2.0, 64.0])
def test_a_process_that_went_on_was_not_paused(cores):
    """The looking alone was held up, as by a driver that does not answer."""
    assert found(*steady(10, cores), (15.0, 15.0, 15.0 * cores)) == []


def test_a_late_look_is_no_pause():
    assert found(*steady(10), (12.0, 12.0, 20.1)) == []


def test_a_stopped_process_is_seen_as_one_pause_until_it_goes_on():
    stopped = psutil.STATUS_STOPPED
    looks = [*steady(5), *((5 + n / 2, 5 + n / 2, 10.0, stopped) for n in range(1, 5))]
    looks += [(7.5, 7.5, 11.0), (8.0, 8.0, 11.0, psutil.STATUS_TRACING_STOP)]
    assert found(*looks) == [(STOPPED, 2.0), (STOPPED, 0.5)]


def test_sleep_of_the_machine_is_what_only_one_clock_counts():
    assert found(*steady(5), (5.5, 3605.5, 11.0), (6.0, 3606.0, 12.0)) == [(SUSPENDED, 3600.0)]


WATCHED = """
import sys, time
from epochcost.measure.sampler import Sampler
looking = Sampler()
print("begun", flush=True)
end = time.perf_counter() + float(sys.argv[1])
while time.perf_counter() < end:
    sum(range(10_000))
import json
print(json.dumps(looking.stop()["pauses"]), flush=True)
"""


@pytest.mark.parametrize(
    ("whole_group", "cause"), [(False, STOPPED), (True, FROZEN)], ids=["process", "group"]
)
def test_a_real_process_is_stopped_by_signals(whole_group, cause):
    run = subprocess.Popen(
        [sys.executable, "-c", WATCHED, "7"],
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={"PYTHONPATH": str(ROOT / "scripts")},
    )
    send = os.killpg if whole_group else os.kill
    try:
        run.stdout.readline()
        time.sleep(1.5)
        send(run.pid, signal.SIGSTOP)
        time.sleep(4)
    finally:
        send(run.pid, signal.SIGCONT)
    pauses = json.loads(run.communicate(timeout=120)[0])
    assert {one["cause"] for one in pauses} == {cause}
    # Half a second more or less, and what else this machine does.
    assert 3 < sum(one["seconds"] for one in pauses) < 7


def test_a_pause_belongs_to_what_most_of_it_was_spent_in():
    recipe = {"epochs": 2, "batch_size": 10, "quality": {"metric": "loss", "target": 1}}
    clock = Clock(extent_of("full", recipe, 100, 0))
    clock.spans = [("data", 0.0, 2.0), ("epoch 1", 2.0, 9.0), ("epoch 2", 9.1, 20.0)]
    assert clock.during(0.0, 1.0) == "data"
    assert clock.during(8.0, 15.0) == "epoch 2"
    assert clock.during(30.0, 31.0) is None
    clock.epoch_begin()
    assert clock.during(clock.began, clock.began + 5) == "epoch 1", "one that never ended"


def test_a_pause_is_a_flag_that_says_how_long_and_where():
    shares = {"cpu": 0.9, "others": 0.0, "steal": 0.0}

    def flags(*pauses: tuple[float, str]) -> tuple[list[str], float]:
        seen = {"gpus": [], "pauses": []}
        seen["pauses"] = [
            {"begin": begin, "end": begin + 1, "seconds": seconds, "cause": STOPPED}
            for begin, seconds in pauses
        ]
        noise = activity.noise(
            shares, seen, 0, lambda begin, end: f"epoch {begin}" if begin else None
        )
        return list(noise.flags), noise.paused_s

    assert flags() == ([], 0.0)
    assert flags((4, 27.04)) == (["paused for 27.0 s in epoch 4"], 27.0)
    assert flags((0, 1.0), (2, 3.0)) == (["paused for 1.0 s and 3.0 s in epoch 2"], 4.0)
    assert flags(*((n, 2.0) for n in range(9))) == (["paused for 18.0 s, 9 times"], 18.0)
    assert activity.noise(shares, {}).paused_s is None


def epochs_of(record: dict, *seconds: float) -> Record:
    record["run"]["scale"] = "full"
    record["noise"]["flags"] = []
    record["epochs"] = [
        record["epochs"][0] | {"epoch": number, "train_s": one}
        for number, one in enumerate(seconds, 1)
    ]
    return typed(record)


def test_an_epoch_far_outside_the_others_is_flagged_if_nothing_was_seen(record):
    assert flags_of(epochs_of(record, 9.0, 4.4, 33.1, 5.0, 6.0, 5.5)) == [OUTLIER]
    assert slowest_epoch(typed(record)) == pytest.approx(33.1 / 5.5)
    assert flags_of(epochs_of(record, 90.0, 4.4, 5.0, 6.0, 5.5)) == [], "the first compiles"
    assert flags_of(epochs_of(record, 9.0, 4.4, 11.0, 5.0, 6.0, 5.5)) == [], "as TensorFlow waits"
    assert flags_of(epochs_of(record, 9.0, 4.4, 33.1)) == [], "two say little of each other"


def test_a_block_of_a_quick_run_far_outside_the_others_is_flagged(record):
    assert flags_of(typed(record)) == record["noise"]["flags"]
    slow = {block["epoch"] for block in record["blocks"]} - {1, 2}
    for block in record["blocks"]:
        if block["epoch"] == max(slow):
            block["seconds"] *= 8
    assert flags_of(typed(record)) == [*record["noise"]["flags"], OUTLIER]
