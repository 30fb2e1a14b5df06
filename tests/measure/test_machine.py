import os
from collections import namedtuple
from dataclasses import asdict

import psutil
import pytest

from epochcost.measure import activity, machine, sampler


def test_the_machine_is_the_same_one_each_time():
    assert machine.facts().id == machine.facts().id


def test_the_systems_own_id_is_not_given_away():
    system_id = machine.system_id()
    assert system_id not in str(machine.facts())


def test_another_system_id_is_another_machine(monkeypatch):
    here = machine.facts().id
    monkeypatch.setattr(machine, "system_id", lambda: "another")
    assert machine.facts().id != here


def test_another_kind_of_processor_of_the_same_name_is_another_machine(monkeypatch):
    here = machine.facts()
    assert here.cpu_kind
    monkeypatch.setattr(machine, "kind_of_cpu", lambda: here.cpu_kind + "1")
    there = machine.facts()
    assert there.cpu_model == here.cpu_model
    assert there.id != here.id


X86 = """processor\t: 0
cpu family\t: 25
model\t\t: 1
model name\t: AMD EPYC
stepping\t: 1
"""
ARM = "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (X86 + "\n" + X86, "family 25 model 1 stepping 1"),
        (ARM, "implementer 0x41 part 0xd4f variant 0x0"),
        ("", None),
    ],
)
def test_the_kind_of_a_processor_is_read_from_what_linux_says(monkeypatch, text, kind):
    monkeypatch.setattr(machine.Path, "read_text", lambda _: text)
    assert machine.kind_of_cpu() == kind


def test_usable_cores_are_those_of_the_affinity():
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        here = machine.facts()
        assert (here.usable_cores, here.core_numbers) == (1, str(min(allowed)))
    finally:
        os.sched_setaffinity(0, allowed)


QUIET = {"cpu": 0.9, "others": 0.01, "steal": 0.0}
SEEN = {
    "samples": 9, "cpu_mhz": None, "throttled": 0, "swapped_mib": 0.0,
    "memory_stalled_share": 0.0, "quota_waited_share": None, "gpus": [], "pauses": [],
}  # fmt: skip
GPU = {"held_down_by": ["power cap"], "processes_before": 0}


@pytest.mark.parametrize(
    ("shares", "seen", "flags"),
    [
        ({}, {}, []),
        ({"others": 0.5 / os.cpu_count()}, {}, ["load from others"]),
        ({}, {"disturbed_share": 0.08}, ["load from others"]),
        ({}, {"disturbed_share": 0.02}, []),
        ({"steal": 0.1}, {}, ["processor time stolen by the host"]),
        ({}, {"throttled": 3}, ["processor slowed down for its heat"]),
        ({}, {"throttled": None}, []),
        ({}, {"memory_stalled_share": 0.2}, ["waiting for memory"]),
        ({}, {"swapped_mib": 300.0}, ["memory on disk"]),
        ({}, {"quota_waited_share": 0.2}, ["share of the container used up"]),
        ({}, {"gpus": [GPU]}, []),
        ({}, {"gpus": [GPU | {"processes_before": 1}]}, ["another process on the GPU"]),
        ({}, {"gpus": [GPU | {"held_down_by": ["heat"]}]}, ["GPU slowed down: heat"]),
    ],
)
def test_what_may_have_disturbed_a_run_is_flagged(shares, seen, flags):
    assert list(activity.noise(QUIET | shares, SEEN | seen).flags) == flags


def test_what_is_not_known_is_null_and_a_run_without_samples_is_flagged():
    noise = asdict(activity.noise({"cpu": None, "others": None, "steal": None}, {}))
    assert noise.pop("flags") == ("not sampled",)
    assert set(noise.values()) == {None}


def test_a_share_of_the_container_limits_the_cores(monkeypatch):
    monkeypatch.setattr(machine.cgroups, "cpus", lambda: 1.5)
    assert machine.usable_cores() == 1
    monkeypatch.setattr(machine.cgroups, "cpus", lambda: 900.0)
    assert machine.usable_cores() == len(os.sched_getaffinity(0))


@pytest.mark.alone
def test_own_work_is_not_the_work_of_others():
    busy = activity.Activity()
    total = 0
    for number in range(3_000_000):
        total += number
    assert busy.summary()["cpu"] * os.cpu_count() > 0.4


Spent = namedtuple("Spent", "user system idle irq softirq")


@pytest.mark.parametrize(
    ("later", "others"),
    [
        (Spent(10.0, 5.0, 110.0, 0.0, 0.0), 0.0),
        (Spent(10.0, 5.0, 104.0, 4.0, 2.0), 0.0),  # interrupts are nobody's work
        (Spent(13.0, 6.0, 106.0, 0.0, 0.0), 0.4),
    ],
)
def test_interrupts_are_not_the_work_of_others(monkeypatch, later, others):
    before = Spent(10.0, 5.0, 100.0, 0.0, 0.0)
    answers = [before, later, before, later]
    monkeypatch.setattr(psutil, "cpu_times", lambda: answers.pop(0))
    assert activity.Activity().summary()["others"] == pytest.approx(others, abs=0.05)
    first, second = sampler.Work(), sampler.Work()
    second.at = first.at + 10
    assert second.others_since(first) == pytest.approx(others, abs=0.05)


def test_a_system_that_does_not_count_interrupts_is_understood(monkeypatch):
    without = namedtuple("Spent", "user nice system idle")  # as on macOS
    answers = [without(10.0, 0.0, 5.0, 100.0), without(14.0, 0.0, 5.0, 106.0)]
    monkeypatch.setattr(psutil, "cpu_times", lambda: answers.pop(0))
    assert activity.Activity().summary()["others"] == pytest.approx(0.4, abs=0.05)
