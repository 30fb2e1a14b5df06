"""Whether others, or pauses, took so much of a run that its time says nothing."""

import copy

import measured
import pytest
from observed import typed

from epochcost.measure import pauses
from epochcost.record import usable


@pytest.fixture
def loaded(record):
    """Makes the record of a run beside others that used such shares of so many cores."""

    def make(others: float, steal: float = 0.0, own: int = 2, cores: int = 2, gpus: int = 0):
        one = copy.deepcopy(record)
        one["noise"] |= {"others_cpu_share": others, "steal_share": steal}
        one["machine"] |= {"usable_cores": own, "logical_cores": cores}
        if gpus:
            one["machine"]["gpus"] = [{"name": "NVIDIA H200"}] * gpus
            one["software"] |= {"device": "gpu", "settings": {"devices": gpus}}
        return typed(one)

    return make


def test_what_others_used_is_said_where_the_time_says_nothing(loaded):
    assert usable.why_unusable(loaded(0.87)) == "others used 87% of the processors"
    assert usable.why_unusable(loaded(0.1, 0.4)) == "the host gave 40% of the processors to others"
    assert usable.why_unusable(loaded(0.2, 0.2))
    assert usable.why_unusable(loaded(0.26)) == ""
    assert usable.why_unusable(loaded(None, None)) == ""


def test_what_the_run_may_not_use_is_there_for_others(loaded):
    """A container with four of 64 cores, whose neighbours use the other sixty."""
    assert usable.why_unusable(loaded(0.9, own=4, cores=64)) == ""
    assert usable.why_unusable(loaded(0.97, own=4, cores=64))


def test_a_training_on_gpus_needs_a_processor_for_each(loaded):
    assert usable.why_unusable(loaded(0.87, own=16, cores=16, gpus=1)) == ""
    assert usable.why_unusable(loaded(0.87, own=16, cores=16, gpus=4))
    assert usable.why_unusable(loaded(0.87, gpus=1))


def test_no_record_that_ships_is_above_what_others_may_take():
    """The limit lies above all that was checked: they reach 0.26, and are results."""
    found = [one for one in measured.read() if one.machine.id != measured.CROWDED]
    assert len(found) > 300
    assert not [one.run.id for one in found if usable.why_unusable(one)]
    most = max(one.noise.others_cpu_share + one.noise.steal_share for one in found)
    assert 0.25 < most < usable.MOST_TAKEN


@pytest.mark.parametrize(
    ("share", "during", "cause", "counts"),
    [
        (0.5, "epoch 2", pauses.STOPPED, True),
        (0.5, "epoch 2", pauses.FROZEN, True),
        (0.2, "epoch 2", pauses.STOPPED, False),
        (0.5, "data", pauses.STOPPED, False),
        (0.5, None, pauses.STOPPED, False),
        (0.5, "epoch 2", pauses.SUSPENDED, False),
    ],
)
def test_a_pause_of_most_of_the_epochs_leaves_no_time(record, share, during, cause, counts):
    timed = sum(epoch["train_s"] + epoch["eval_s"] for epoch in record["epochs"])
    record["noise"]["pauses"] = [{"seconds": share * timed, "during": during, "cause": cause}]
    said = f"pauses took {share * timed:.0f} s of {timed:.0f} s" if counts else ""
    assert usable.why_unusable(typed(record)) == said
