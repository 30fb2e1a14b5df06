"""What a framework cannot do here is refused before it trains."""

import types
from importlib import metadata

import pytest
from observed import typed

from epochcost.errors import InputError
from epochcost.frameworks import checks, variants
from epochcost.frameworks.choices import kind_of, thread_choices
from epochcost.measure import cgroups, gpus, machine
from epochcost.record.types import Machine

GPU = {"gpus": [{"name": "Tesla T4"}], "driver": "580.1", "cuda_driver": "13.0"}
NO_GPU = {"gpus": [], "driver": None, "cuda_driver": None}


@pytest.fixture
def check(monkeypatch):
    """Asks what a framework on the processor, with two devices there, is asked for."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    framework = types.SimpleNamespace(
        VERSION="torch 1",
        device=lambda: "cpu",
        devices=lambda: 2,
        choices=lambda recipe: {"compile": [False, True]},
    )

    def ask(variant="default", settings=None, here=NO_GPU, device="cpu", name="pytorch"):
        framework.device = lambda: device
        checks.check(framework, name, {}, variant, settings or {}, typed(here, Machine))

    return ask


def test_what_can_be_done_is_not_refused(check):
    check()
    check("tuned", {"compile": True})
    check("devices_2", {"devices": 2})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"here": GPU}, "torch 1 does not see Tesla T4; set CUDA_VISIBLE_DEVICES to an empty"),
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


@pytest.mark.parametrize(
    ("variant", "gpus", "message"),
    [
        ("bfloat16", 0, "this machine has no arithmetic for bfloat16"),
        ("no_onednn", 1, "no_onednn is for processors"),
        ("devices_3", 0, "3 devices are wanted, and this machine has 2 cores"),
        ("devices_2", 1, "2 devices are wanted, and this machine has 1 GPU"),
    ],
)
def test_a_variant_that_a_machine_cannot_train_is_refused(monkeypatch, variant, gpus, message):
    monkeypatch.setattr(variants, "has_bfloat16", lambda device: False)
    known = (types.SimpleNamespace(name="Tesla T4"),) * gpus
    here = types.SimpleNamespace(gpus=known, usable_cores=2)
    with pytest.raises(InputError, match=message):
        variants.check_machine(variant, here)


def test_a_device_that_no_record_could_describe_is_refused():
    assert (kind_of("cuda"), kind_of("cpu")) == ("gpu", "cpu")
    with pytest.raises(InputError, match="it would train on 'mps'; only NVIDIA GPUs and CPUs"):
        kind_of("mps")


@pytest.mark.parametrize(
    ("allowed", "quota", "default", "choices"),
    [
        (8, None, 8, {"threads": [0, 4]}),
        (16, None, 8, {"threads": [0, 16]}),  # a framework that takes one per physical core
        (16, 4, 16, {"threads": [0, 4, 2]}),
        (1, None, 1, {}),
    ],
)
def test_threads_to_choose_from_differ_from_the_default(
    monkeypatch, allowed, quota, default, choices
):
    monkeypatch.setattr(machine, "allowed_cores", lambda: allowed)
    monkeypatch.setattr(cgroups, "cpus", lambda: quota)
    assert thread_choices(default) == choices


@pytest.fixture
def installed(monkeypatch):
    """Sets what CUDA libraries are beside the framework, and the kind of GPU that is there."""

    def there(capability: tuple[int, int], packages: dict[str, str]):
        def version(name: str) -> str:
            if name not in packages:
                raise metadata.PackageNotFoundError(name)
            return packages[name]

        monkeypatch.setattr(gpus, "compute_capabilities", lambda: [capability])
        monkeypatch.setattr(metadata, "version", version)

    return there


CUDA_13, CUDNN_9 = {"nvidia-cudnn-cu13": "9.20.0.48"}, {"nvidia-cudnn-cu12": "9.28.0.42"}
OLD_CUDNN = {"nvidia-cudnn-cu12": "9.10.2.21"}


@pytest.mark.parametrize(
    ("packages", "capability"),
    [(CUDA_13, (9, 0)), (CUDA_13, (7, 5)), (CUDNN_9, (7, 5)), (OLD_CUDNN, (7, 0)), ({}, (3, 7))],
)
def test_a_gpu_that_the_libraries_support_is_not_refused(check, installed, packages, capability):
    installed(capability, packages)
    check(here=GPU, device="gpu")


@pytest.mark.parametrize("packages", [CUDA_13, CUDNN_9])
def test_a_gpu_that_the_libraries_have_left_behind_is_refused(check, installed, packages):
    installed((7, 0), packages)
    with pytest.raises(InputError, match=r"capability 7\.5 \(T4\) or newer, and Tesla T4 is"):
        check(here=GPU, device="gpu")


def test_a_gpu_that_is_too_new_for_tensorflows_builds_is_refused(check, installed):
    asked = {"here": GPU, "device": "gpu", "name": "keras-tensorflow"}
    installed((12, 0), CUDNN_9)
    with pytest.raises(InputError, match="cannot compile for Tesla T4"):
        check(**asked)
    check(**asked | {"name": "pytorch"})
    installed((12, 0), {})  # such as NVIDIA's own build, with the CUDA of its container
    check(**asked)
    installed((9, 0), CUDNN_9)
    check(**asked)


def test_a_driver_that_is_too_old_is_named(check, installed):
    installed((9, 0), CUDA_13)
    with pytest.raises(InputError, match=r"needs driver 580 or newer; driver 550\.1 of Tesla T4"):
        check(here=GPU | {"driver": "550.1", "cuda_driver": "12.4"})
    installed((9, 0), CUDNN_9)
    check(here=GPU | {"driver": "550.1", "cuda_driver": "12.4"}, device="gpu")


def test_a_gpu_that_only_the_framework_sees_is_refused(check):
    with pytest.raises(InputError, match="sees a GPU, but NVML, the driver's library, does not"):
        check(device="gpu")
