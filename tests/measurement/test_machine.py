import os

from epochcost.measurement import activity, machine


def test_the_machine_is_the_same_one_each_time():
    assert machine.describe()["id"] == machine.describe()["id"]


def test_the_systems_own_id_is_not_given_away():
    system_id = machine._system_id()
    assert system_id not in str(machine.describe())


def test_another_system_id_is_another_machine(monkeypatch):
    here = machine.describe()["id"]
    monkeypatch.setattr(machine, "_system_id", lambda: "another")
    assert machine.describe()["id"] != here


def test_usable_cores_are_those_of_the_affinity():
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert machine.describe()["usable_cores"] == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_others_load_and_stolen_time_are_flagged():
    quiet = {"cpu": 0.9, "others": 0.01, "steal": 0.0}
    assert activity.noise(quiet)["flags"] == []
    half_a_core = 0.5 / os.cpu_count()
    assert activity.noise(quiet | {"others": half_a_core})["flags"] == ["load from others"]
    assert len(activity.noise(quiet | {"steal": 0.1})["flags"]) == 1


def test_a_share_that_is_not_known_is_null():
    assert activity.noise({"cpu": None, "others": None, "steal": None}) == {
        "others_cpu_share": None,
        "steal_share": None,
        "flags": [],
    }


def test_own_work_is_not_the_work_of_others():
    busy = activity.Activity()
    total = 0
    for number in range(3_000_000):
        total += number
    assert busy.summary()["cpu"] * os.cpu_count() > 0.4
