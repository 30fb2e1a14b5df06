"""What a framework cannot do here is refused before it trains."""

import types

import pytest

from epochcost.errors import InputError
from epochcost.frameworks import checks
from epochcost.measurement import machine

GPU, NO_GPU = {"gpus": [{"name": "Tesla T4"}]}, {"gpus": []}


@pytest.fixture
def check(monkeypatch):
    """Asks what a framework on the processor, with two devices there, is asked for."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(machine, "has_bfloat16", lambda device: False)
    framework = types.SimpleNamespace(
        VERSION="torch 1",
        device=lambda: "cpu",
        devices=lambda: 2,
        choices=lambda recipe: {"compile": [False, True]},
    )

    def ask(variant="default", settings=None, here=NO_GPU):
        checks.check(framework, "pytorch", {}, variant, settings or {}, here)

    return ask


def test_what_can_be_done_is_not_refused(check):
    check()
    check("tuned", {"compile": True})
    check("devices_2", {"devices": 2})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"here": GPU}, "torch 1 does not see Tesla T4; set CUDA_VISIBLE_DEVICES to an empty"),
        ({"variant": "bfloat16"}, "this machine has no arithmetic for bfloat16"),
        ({"variant": "tuned", "settings": {"compil": True}}, "no setting 'compil' here"),
        (
            {"variant": "devices_3", "settings": {"devices": 3}},
            "3 devices are wanted, torch 1 sees 2",
        ),
    ],
)
def test_what_cannot_be_done_is(check, asked, message):
    with pytest.raises(InputError, match=message):
        check(**asked)


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_a_gpu_may_be_hidden_on_purpose(check, monkeypatch, hidden):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    check(here=GPU)
