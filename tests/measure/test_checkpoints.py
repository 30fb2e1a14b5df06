"""Whether an interrupted training may go on, and what of it is charged."""

import os
from pathlib import Path

import pytest
from observed import typed

from epochcost.measure import checkpoints as module
from epochcost.measure.checkpoints import Checkpoints
from epochcost.measure.clock import Clock, Epoch
from epochcost.measure.extent import of as extent_of
from epochcost.measure.observation import About
from epochcost.record.types import Data, Machine, Weights

RECIPE = {"epochs": 4, "batch_size": 10}
RUN = {"recipe": "r", "data": "d", "code": "c"}


class Times:
    """A time of day that tests set; each process begins at the moment that it is made."""

    def __init__(self, monkeypatch):
        self.now = 1_000.0
        monkeypatch.setattr(module.time, "time", lambda: self.now)
        monkeypatch.setattr(module, "process_age", lambda: 0.0)


@pytest.fixture
def times(monkeypatch):
    return Times(monkeypatch)


def process(folder: Path, run=RUN) -> tuple[Checkpoints, Clock]:
    """A process that begins the training, or goes on with it."""
    clock = Clock(extent_of("full", RECIPE, 40, 0))
    clock.wall = lambda: clock.wall_before + 50.0
    kept = Checkpoints(folder, 0.0)
    kept.begin(run, clock, "2026-01-01T00:00:00+00:00")
    return kept, clock


def epoch_done(kept: Checkpoints, clock: Clock, content: str) -> None:
    clock.epochs.append(Epoch(len(clock.epochs) + 1, {1: 0.5}, 9.0, loss=0.1))
    clock.keep(clock, lambda path: path.write_text(content))


def killed(kept: Checkpoints, at: float) -> None:
    """The sampler's last sign of life."""
    os.utime(kept.alive, (at, at))


def test_a_killed_training_goes_on_after_its_last_epoch_and_is_charged_what_was_lost(
    times, tmp_path
):
    first, clock = process(tmp_path / "c")
    times.now = 1_050.0
    epoch_done(first, clock, "one")
    killed(first, 1_057.0)
    times.now = 2_000.0  # in between nobody works
    second, clock = process(tmp_path / "c")
    assert [epoch.number for epoch in clock.epochs] == [1]
    assert clock.epochs[0].marks == {1: 0.5}
    assert clock.resume_from.read_text() == "one"
    assert clock.interruptions == 1
    assert clock.phases["lost"] == pytest.approx(7.0)
    assert clock.wall_before == pytest.approx(50 + 7)
    assert second.starts == 2


def test_processes_that_are_killed_before_an_epoch_are_counted_and_charged_whole(times, tmp_path):
    for begins in (1_000.0, 2_000.0, 3_000.0):
        times.now = begins
        kept, clock = process(tmp_path / "c")
        killed(kept, begins + 20)
    times.now = 4_000.0
    kept, clock = process(tmp_path / "c")
    assert kept.starts == module.MOST_STARTS + 1
    assert clock.interruptions == 3
    assert clock.wall_before == pytest.approx(60)


def test_an_epoch_makes_earlier_kills_forgotten(times, tmp_path):
    first, _ = process(tmp_path / "c")
    killed(first, 1_010.0)
    times.now = 2_000.0
    second, clock = process(tmp_path / "c")
    epoch_done(second, clock, "one")
    killed(second, 2_020.0)
    times.now = 3_000.0
    assert process(tmp_path / "c")[0].starts == 2


class Watch:
    """A stopwatch whose seconds tests let pass."""

    passed = 0.0

    def __init__(self):
        self._since = Watch.passed

    def seconds(self) -> float:
        return Watch.passed - self._since


def test_what_takes_long_to_save_is_saved_rarely_and_more_is_lost(times, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "Stopwatch", Watch)
    first, clock = process(tmp_path / "c")
    written = []

    def write(path: Path) -> None:
        written.append(path.write_text(str(len(clock.epochs))))
        Watch.passed += 3

    for epoch_s, saved in ((9, 1), (9, 1), (52, 2), (59, 2)):
        times.now += epoch_s
        Watch.passed += epoch_s
        clock.epochs.append(Epoch(len(clock.epochs) + 1, {1: 0.5}, epoch_s, loss=0.1))
        clock.keep(clock, write)
        assert len(written) == saved
    killed(first, times.now + 1)
    times.now += 1_000
    _, clock = process(tmp_path / "c")
    assert len(clock.epochs) == 3
    assert clock.resume_from.read_text() == "3"
    assert clock.phases["lost"] == pytest.approx(59 + 1)


def test_who_was_told_to_end_is_charged_and_is_no_start_in_vain(times, tmp_path):
    first, clock = process(tmp_path / "c")
    times.now = 1_050.0
    epoch_done(first, clock, "one")
    times.now = 1_054.0
    first.leave()
    times.now = 2_000.0
    second, clock = process(tmp_path / "c")
    assert (second.starts, clock.interruptions) == (1, 1)
    assert clock.phases["lost"] == pytest.approx(4.0)
    assert clock.resume_from.read_text() == "one"


@pytest.mark.parametrize("differs", RUN)
def test_what_differs_is_said_and_nothing_is_gone_on_with(times, tmp_path, capsys, differs):
    first, clock = process(tmp_path / "c")
    epoch_done(first, clock, "one")
    killed(first, 1_001.0)
    times.now = 2_000.0
    _, clock = process(tmp_path / "c", RUN | {differs: "another"})
    assert f"has another {differs}; starting over" in capsys.readouterr().err
    assert (clock.epochs, clock.resume_from, clock.interruptions) == ([], None, 0)


def identity(**change) -> dict:
    """What must be the same, of a run that differs in one fact."""
    facts = {
        "kind": "family 25", "cores": 2, "gpu": "Tesla T4", "version": "torch 1", "settings": {},
        "device": "cpu", "sha256": "d", "seed": 1, "batch_size": 10, "weights": None, "code": "e",
    } | change  # fmt: skip
    recipe = RECIPE | {
        "batch_size": facts["batch_size"], "dataset": "mnist", "loss": "l", "optimizer": {},
        "model": {}, "quality": {"metric": "loss", "target": 1},
    }  # fmt: skip
    here = {
        "cpu_model": "c", "cpu_kind": facts["kind"], "usable_cores": facts["cores"],
        "gpus": [{"name": facts["gpu"]}],
    }  # fmt: skip
    about = About(
        typed(here, Machine),
        None,
        None,
        facts["seed"],
        recipe,
        typed({"sha256": facts["sha256"]}, Data),
        facts["weights"] and typed({"name": facts["weights"]}, Weights),
    )
    clock = Clock(extent_of("full", recipe, 40, 0))
    software = [facts["version"], facts["settings"]]
    return module.what_runs(about, clock, software, facts["device"], facts["code"])


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "family 26"}, {"cores": 4}, {"gpu": "Tesla K80"}, {"version": "torch 2"},
        {"settings": {"a": 1}}, {"device": "gpu"}, {"sha256": "e"}, {"seed": 2}, {"batch_size": 20},
        {"weights": "a"}, {"code": "f"},
    ],
    ids=str,
)  # fmt: skip
def test_another_machine_software_data_or_recipe_does_not_go_on(change):
    assert identity() == identity()
    assert identity(**change) != identity()


def test_another_gpu_of_the_same_kind_goes_on(monkeypatch):
    """A scheduler may give a training that it starts again the machine's other one."""
    before = identity()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert identity() == before
