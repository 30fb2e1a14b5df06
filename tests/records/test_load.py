"""Whether others used so much of a machine that the time of a run says nothing."""

import copy

import pytest

from epochcost.configuration import ROOT
from epochcost.records import load, record


@pytest.fixture
def loaded(record):
    """Makes the record of a run beside others that used such shares of so many cores."""

    def make(others: float, steal: float = 0.0, usable: int = 2, cores: int = 2, gpus: int = 0):
        one = copy.deepcopy(record)
        one["noise"] |= {"others_cpu_share": others, "steal_share": steal}
        one["machine"] |= {"usable_cores": usable, "logical_cores": cores}
        if gpus:
            one["machine"]["gpus"] = [{"name": "NVIDIA H200"}] * gpus
            one["software"] |= {"device": "gpu", "settings": {"devices": gpus}}
        return one

    return make


def test_what_others_used_is_said_where_the_time_says_nothing(loaded):
    assert load.overload(loaded(0.87)) == "others used 87% of the processors"
    assert load.overload(loaded(0.1, 0.4)) == "the host gave 40% of the processors to others"
    assert load.overload(loaded(0.2, 0.2))
    assert load.overload(loaded(0.26)) == ""
    assert load.overload(loaded(None, None)) == ""


def test_what_the_run_may_not_use_is_there_for_others(loaded):
    """A container with four of 64 cores, whose neighbours use the other sixty."""
    assert load.overload(loaded(0.9, usable=4, cores=64)) == ""
    assert load.overload(loaded(0.97, usable=4, cores=64))


def test_a_training_on_gpus_needs_a_processor_for_each(loaded):
    assert load.overload(loaded(0.87, usable=16, cores=16, gpus=1)) == ""
    assert load.overload(loaded(0.87, usable=16, cores=16, gpus=4))
    assert load.overload(loaded(0.87, gpus=1))


def test_no_record_of_the_documentation_is_above_what_others_may_take():
    """The limit lies above all that was checked: they reach 0.26, and are results."""
    records = [one for _, one in record.read_all(ROOT / "docs/records")]
    assert len(records) > 300
    assert not [one["run"]["id"] for one in records if load.overload(one)]
    most = max(one["noise"]["others_cpu_share"] + one["noise"]["steal_share"] for one in records)
    assert 0.25 < most < load.MOST_TAKEN
