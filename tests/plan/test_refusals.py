"""What ends a call before its first job, and what trainings need, without a workflow."""

from dataclasses import replace

import pytest

from epochcost import ROOT
from epochcost.data.registry import Origin
from epochcost.errors import InputError
from epochcost.measure import machine
from epochcost.plan import refusals, wanted
from epochcost.plan.needs import Needs
from epochcost.plan.runs import Plan, Series

CATALOGUE = ROOT / "config/hardware.yaml"
IN_IMAGE = {"torch": "/opt/epochcost/.venvs/torch-DEVICE/bin/python"}


@pytest.fixture(scope="module")
def machine_here():
    """This machine as if it had two cores and no GPU."""
    return replace(machine.facts(), gpus=(), usable_cores=2, logical_cores=2)


@pytest.fixture
def needs(machine_here):
    def make(uses_conda=False, shares_folder=True, **settings) -> Needs:
        known = wanted.read().model_copy(update=settings)
        origins = {name: Origin("mirror", "complete") for name in known.datasets}
        return Needs(known, origins, machine_here, uses_conda, shares_folder)

    return make


def plan(hardware: str = "local", variant: str = "default") -> Plan:
    """One missing run."""
    series = Series(hardware, "mnist_mlp", "pytorch", variant, (), frozenset())
    return Plan([], [series], 1, None, 0.0, False, 1)


def to(hardware: str, scheduler: str | None = None, **given) -> refusals.Destination:
    return refusals.Destination([hardware], scheduler, {hardware: given})


@pytest.mark.parametrize(
    ("hardware", "scheduler", "settings", "said"),
    [
        ("gce-k80", None, {}, "gce-k80"),
        ("gce-k80", "googlebatch", {}, "gce-k80"),
        ("gce-p100", "googlebatch", {"python": IN_IMAGE}, "are not built for a P100"),
        ("gce-t4", None, {}, "this machine is not gce-t4: it has no GPU"),
        ("aws-g5.xlarge", "googlebatch", {}, "no machine of Google Compute Engine, which alone"),
        ("gce-t4", "slurm", {}, "gce-t4 cannot be had from slurm: no `slurm:"),
        ("local", None, {"python": {"torch": "/nowhere/python"}}, "No such file"),
    ],
)
def test_what_cannot_be_is_one_line(needs, hardware, scheduler, settings, said):
    with pytest.raises(InputError, match=said) as refused:
        refusals.check(
            plan(hardware), needs(**settings), to(hardware, scheduler), CATALOGUE, asks=False
        )
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("mode", "said"), [(0o755, "it ended with status 3; a Python"), (0o644, "Permission denied")]
)
def test_a_python_that_does_not_start_is_refused(needs, tmp_path, mode, said):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 3\n")
    python.chmod(mode)
    asked = needs(python={"torch": str(python)})
    with pytest.raises(InputError, match=said):
        refusals.check(plan(), asked, to("local"), CATALOGUE, asks=False)


@pytest.mark.parametrize(
    ("variant", "said"),
    [("devices_3", "3 devices are wanted, and this machine has 2 cores")],
)
def test_a_variant_that_this_machine_has_not_is_refused(needs, variant, said):
    with pytest.raises(InputError, match=said):
        refusals.check(plan(variant=variant), needs(), to("local"), CATALOGUE, asks=False)


def test_more_devices_than_a_machine_type_has_are_refused_before_it_is_rented(needs):
    asked = to("gce-t4", "googlebatch"), CATALOGUE
    with pytest.raises(InputError, match=r"devices_2: gce-t4 has 1 GPU$"):
        refusals.check(plan("gce-t4", "devices_2"), needs(), *asked, asks=False)


def test_what_can_be_passes(needs):
    refusals.check(plan(), needs(), to("local"), CATALOGUE, asks=False)
    known = needs()
    refusals.check(plan("gce-t4"), known, to("gce-t4", "googlebatch"), CATALOGUE, asks=False)
    given = to("gce-t4", "slurm", slurm_partition="t4")
    refusals.check(plan("gce-t4"), known, given, CATALOGUE, asks=False)
    assert refusals.said_of(known, given) == (
        "trainings are sent to Slurm: gce-t4 to partition t4; nothing is rented from "
        "Google Compute Engine"
    )


def test_interpreters_are_of_the_environment_of_ones_own_or_condas(needs):
    known = needs()
    assert known.python("pytorch", "local") == ".venvs/torch-cpu/bin/python"
    assert known.python("keras-jax", "gce-t4") == ".venvs/jax-gpu/bin/python"
    assert known.ready("pytorch", "local") == [".venvs/torch-cpu/ready"]
    assert known.environments() == {"tensorflow-cpu", "torch-cpu"}
    own = needs(python=IN_IMAGE)
    assert own.python("pytorch", "gce-t4") == "/opt/epochcost/.venvs/torch-gpu/bin/python"
    assert own.ready("pytorch", "gce-t4") == []
    assert own.environments() == {"tensorflow-cpu"}
    conda = needs(uses_conda=True)
    assert (conda.python("pytorch", "local"), conda.ready("pytorch", "local")) == ("python", [])


def test_trainings_wait_for_their_arrays_and_environment(needs):
    assert needs().files(plan(), "local") == [
        ".venvs/torch-cpu/ready",
        "data/arrays/mnist/complete/manifest.json",
    ]
    assert needs().files(plan(), "gce-t4") == []


def test_settings_of_trainings_hold_only_what_is_configured(needs):
    given = {"scale": "full", "batch_size": None, "time_limit_hours": 2, "stage": "/scratch"}
    settings = needs(**given).settings("local")
    assert settings == {
        "hardware": "local", "scale": "full", "seed": 1, "stage": "/scratch", "time_limit": 7200,
    }  # fmt: skip
    assert "stage" not in needs(shares_folder=False, **given).settings("local")
