import pytest
from observed import typed

from epochcost.configuration import ROOT
from epochcost.errors import InputError
from epochcost.frameworks.variants import check_devices
from epochcost.hardware import check_machine
from epochcost.record.types import Machine

CATALOGUE = ROOT / "config/hardware.yaml"
LAPTOP = {"gpus": [], "usable_cores": 2}
T4 = {"gpus": [{"name": "Tesla T4"}], "usable_cores": 4}


def one(name, memory_gib=None, cores=12):
    return {"gpus": [{"name": name, "memory_gib": memory_gib}], "usable_cores": cores}


def two(name):
    return {"gpus": 2 * one(name)["gpus"], "usable_cores": 12}


def test_devices_that_train_one_model_are_alike():
    check_devices(2, typed(two("Tesla T4"), Machine))
    unequal = {"gpus": [{"name": "Tesla T4"}, {"name": "Tesla P4"}], "usable_cores": 4}
    check_devices(1, typed(unequal, Machine))
    with pytest.raises(InputError, match="these differ: Tesla T4, Tesla P4; choose equal ones"):
        check_devices(2, typed(unequal, Machine))
    with pytest.raises(InputError, match="3 devices are wanted, and this machine has 2 GPUs"):
        check_devices(3, typed(unequal, Machine))


def test_local_is_any_machine():
    check_machine("local", CATALOGUE, typed(LAPTOP, Machine))


def test_a_machine_with_the_gpu_is_that_hardware():
    check_machine("gce-t4", CATALOGUE, typed(T4, Machine))


@pytest.mark.parametrize(
    ("hardware", "machine"),
    [
        ("gce-a2-ultragpu-1g", one("NVIDIA A100-SXM4-80GB", 79.3)),
        ("crusoe-a100-pcie-80gb", one("NVIDIA A100 80GB PCIe", 79.3)),
        ("crusoe-a100-sxm-80gb", one("NVIDIA A100-SXM4-80GB", 79.3)),
        ("leadergpu-2xgtx1080", two("NVIDIA GeForce GTX 1080")),
        ("aws-g5.xlarge", one("NVIDIA A10G", 22.5, 4)),
        ("lambda-gpu-1x-gh200", one("NVIDIA GH200 480GB", 95.6, 64)),
        ("jarvislabs-rtx-pro6000", one("NVIDIA RTX PRO 6000 Blackwell Server Edition", 95.6, 28)),
    ],
)
def test_gpus_are_known_by_what_nvml_calls_them(hardware, machine):
    check_machine(hardware, CATALOGUE, typed(machine, Machine))


def cpus(count, provider, instance_type):
    cloud = {"provider": provider, "instance_type": instance_type}
    return {"gpus": [], "usable_cores": count, "cloud": cloud}


@pytest.mark.parametrize(
    ("hardware", "machine"),
    [
        ("aws-c8a.2xlarge", cpus(8, "aws", "c8a.2xlarge")),
        ("aws-c8a.2xlarge", cpus(8, "aws", None)),
        ("gce-t4", T4 | {"cloud": {"provider": "gcp", "instance_type": "n1-standard-4"}}),
        ("local", cpus(8, "azure", "Standard_F8s_v2")),
    ],
)
def test_a_rented_machine_is_what_its_provider_says(hardware, machine):
    check_machine(hardware, CATALOGUE, typed(machine, Machine))


@pytest.mark.parametrize(
    ("hardware", "machine", "message"),
    [
        (
            "aws-c8a.2xlarge",
            cpus(8, "aws", "c8i.2xlarge"),
            "it is c8i.2xlarge of Amazon EC2, not c8a.2xlarge of Amazon EC2",
        ),
        (
            "aws-c8a.2xlarge",
            cpus(8, "gcp", "n2-standard-8"),
            "it is n2-standard-8 of Google Compute Engine, not c8a.2xlarge of Amazon EC2",
        ),
        (
            "aws-c8a.2xlarge",
            cpus(8, "azure", None),
            "it is one of Microsoft Azure, not c8a.2xlarge",
        ),
        ("gce-k80", LAPTOP, "not gce-k80: it has no GPU, not 1 x K80"),
        ("gce-k80", T4, "it has Tesla T4, not 1 x K80"),
        ("gce-t4", {"gpus": [{"name": "NVIDIA T400"}], "usable_cores": 4}, "it has NVIDIA T400"),
        ("gce-t4", {"gpus": [*T4["gpus"], *T4["gpus"]], "usable_cores": 4}, "not 1 x T4"),
        ("leadergpu-2xgtx1080", two("NVIDIA GeForce GTX 1080 Ti"), "not 2 x GTX 1080"),
        ("gce-a2-ultragpu-1g", one("NVIDIA A100-SXM4-40GB", 40.0), "not 1 x A100"),
        ("gce-t4", T4 | {"usable_cores": 8}, "it has 8 usable cores, not 4"),
        ("vast-1x-rtx-4090-32-65536", one("NVIDIA GeForce RTX 4090 Laptop GPU"), "not 1 x RTX"),
        ("gce-n1-highcpu-16", T4 | {"usable_cores": 16}, "it has Tesla T4"),
        ("gce-n1-highcpu-16", LAPTOP, "it has 2 usable cores, not 16"),
        ("gce-k08", LAPTOP, "unknown hardware 'gce-k08'; did you mean 'gce-k80'"),
    ],
)
def test_no_machine_is_measured_under_the_name_of_another(hardware, machine, message):
    with pytest.raises(InputError, match=message):
        check_machine(hardware, CATALOGUE, typed(machine, Machine))
