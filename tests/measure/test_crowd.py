"""Whether others use so much of the machine that a training had better wait."""

from dataclasses import replace

import pytest

from epochcost.measure import crowd, machine, machine_lock
from epochcost.record.types import Gpu

H200 = Gpu(name="NVIDIA H200", uuid="", memory_gib=140.0, power_limit_w=None)


@pytest.fixture
def busy(monkeypatch, tmp_path):
    """Makes a machine of four cores, of which others keep some busy."""
    monkeypatch.setattr(crowd.time, "sleep", lambda _: None)
    monkeypatch.setenv(machine_lock.LOCK, str(tmp_path / "lock"))

    def make(cores: float, **facts):
        monkeypatch.setattr(crowd.Work, "others_since", lambda *_: cores)
        return replace(
            machine.facts(), **{"logical_cores": 4, "usable_cores": 4, "gpus": ()} | facts
        )

    return make


def test_before_the_first_training_a_busy_machine_is_said_in_one_line(busy):
    said = crowd.warning(busy(2.6))
    assert said.startswith("others use 65% of the processors of this machine now: trainings take")
    assert "more than 30% is left out" in said
    assert said.endswith("call again when the machine is free")
    assert "\n" not in said


def test_what_the_time_of_a_run_bears_is_no_warning(busy):
    assert crowd.warning(busy(1.2)) == ""
    assert crowd.warning(busy(60.0, logical_cores=64)) == "", "cores that no run may use"
    assert crowd.warning(busy(2.6, gpus=(H200,))) == ""
    assert crowd.warning(busy(3.6, gpus=(H200,)))


def test_another_training_is_waited_for_and_no_disturbance(busy):
    here = busy(2.6)
    assert not machine_lock.is_held()
    with machine_lock.hold():
        assert machine_lock.is_held()
        assert crowd.warning(here) == ""
