"""How far a run is, as another process reads it."""

import tempfile
import time

import pytest

from epochcost.measure import extent, progress
from epochcost.measure.clock import Clock


@pytest.fixture
def noted():
    with tempfile.TemporaryFile() as file:
        yield file.fileno()


def test_what_was_noted_last_is_read(noted):
    run = progress.Progress(noted)
    assert progress.read(noted) == {}
    run.failed("while in train: " + "ä" * 500)
    assert progress.read(noted)["failed"].endswith("ä")
    run.lost("others used 66% of the processors")
    assert progress.read(noted) == {"lost": "others used 66% of the processors"}
    run.waits()
    assert progress.read(noted) == {"waits": True}
    run.prepares()
    assert progress.read(noted) == {}


def test_a_run_that_nobody_watches_notes_nothing():
    run = progress.Progress(None)
    run.waits()
    run.epoch(1, 2)


def test_a_reader_that_is_gone_costs_a_run_nothing():
    with tempfile.TemporaryFile() as file:
        run = progress.Progress(file.fileno())
    run.epoch(1, 2)


def test_the_clock_tells_of_each_epoch_before_it_times_it(noted):
    clock = Clock(extent.of("full", {"epochs": 3, "batch_size": 1}, 1, 0))
    run = progress.Progress(noted)

    def begins(number, epochs):
        run.epoch(number, epochs)
        time.sleep(0.05)  # a slow disk

    clock.begins = begins
    for number in (1, 2, 3):
        clock.epoch_begin()
        assert progress.read(noted)["epoch"] == number
        clock.step(0)
        clock.train_end()
        clock.epoch_end(0.5)
    assert progress.read(noted)["epochs"] == 3
    assert max(epoch.train_s for epoch in clock.epochs) < 0.05


def test_the_time_left_is_known_once_two_epochs_are_done(noted):
    run = progress.Progress(noted)
    left = []
    for number in (1, 2, 3):
        run.epoch(number, 5)
        left.append(progress.seconds_left(progress.read(noted)))
        time.sleep(0.02)
    assert left[:2] == [None, None]
    last_s = progress.read(noted)["last_s"]
    assert 0 < left[2] <= 3 * last_s
    late = {"epoch": 5, "epochs": 5, "began": time.monotonic() - 60, "last_s": 1.0}
    assert progress.seconds_left(late) == 0
