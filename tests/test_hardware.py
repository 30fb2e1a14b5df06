"""Which machines are a catalogue entry: by their boards as NVML names them, cores, and provider."""

import json
import re

import pytest
from observed import typed

from epochcost import ROOT, files
from epochcost.errors import InputError
from epochcost.frameworks.variants import check_devices
from epochcost.hardware import check_machine
from epochcost.record.types import Machine

CATALOGUE = ROOT / "config/hardware.yaml"
ENTRIES = files.read_yaml(CATALOGUE)

# Boards as NVML names them, with the GiB that it reports, and what they are.
BOARDS = {
    "Tesla K80": (11.2, "K80"),
    "GRID K520": (4.0, "K520"),
    "Tesla M60": (7.5, "M60"),
    "Quadro M4000": (7.9, "M4000"),
    "Quadro P4000": (7.9, "P4000"),
    "Quadro P6000": (23.9, "P6000"),
    "Quadro P4000 with Max-Q Design": (7.9, None),
    "Tesla P100-PCIE-16GB": (15.9, "P100 pcie 16"),
    "Tesla P100-PCIE-12GB": (11.9, "P100 pcie 12"),
    "Tesla P100-SXM2-16GB": (15.9, "P100 sxm 16"),
    "Tesla V100-SXM2-16GB": (15.8, "V100 sxm 16"),
    "Tesla V100-SXM2-32GB": (31.7, "V100 sxm 32"),
    "Tesla V100-PCIE-16GB": (15.8, "V100 pcie 16"),
    "Tesla V100-PCIE-32GB": (31.7, "V100 pcie 32"),
    "Tesla V100-FHHL-16GB": (15.8, None),
    "Tesla V100S-PCIE-32GB": (31.7, None),
    "Tesla T4": (14.6, "T4"),
    "NVIDIA T4G": (14.6, None),
    "NVIDIA L4": (22.5, "L4"),
    "NVIDIA L40": (45.0, None),
    "NVIDIA L40S": (45.0, "L40S"),
    "NVIDIA A10": (22.5, None),
    "NVIDIA A10G": (22.2, "A10G"),
    "NVIDIA A100-SXM4-40GB": (40.0, "A100 sxm 40"),
    "NVIDIA A100-SXM4-80GB": (80.0, "A100 sxm 80"),
    "NVIDIA A100-SXM-64GB": (63.4, None),
    "NVIDIA A100-PCIE-40GB": (40.0, "A100 pcie 40"),
    "NVIDIA A100 80GB PCIe": (80.0, "A100 pcie 80"),
    "NVIDIA A100X": (80.0, None),
    "NVIDIA A800-SXM4-80GB": (80.0, None),
    "NVIDIA H100 80GB HBM3": (79.6, "H100 sxm 80"),
    "NVIDIA H100 PCIe": (79.6, "H100 pcie 80"),
    "NVIDIA H100 NVL": (93.6, "H100 nvl 94"),
    "NVIDIA H800": (79.6, None),
    "NVIDIA H20": (95.6, None),
    "NVIDIA H200": (140.4, "H200 sxm 141"),
    "NVIDIA H200 NVL": (140.4, "H200 nvl 141"),
    "NVIDIA GH200 480GB": (95.6, "GH200"),
    "NVIDIA GH200 144G HBM3e": (143.0, None),
    "NVIDIA B200": (179.1, "B200 sxm"),
    "NVIDIA GB200": (184.9, None),
    "NVIDIA B300 SXM6 AC": (268.6, "B300 sxm"),
    "NVIDIA RTX A4000": (16.0, "A4000"),
    "NVIDIA RTX A4000 Laptop GPU": (8.0, None),
    "NVIDIA RTX A6000": (48.0, "A6000"),
    "NVIDIA RTX 6000 Ada Generation": (48.0, None),
    "NVIDIA RTX PRO 6000 Blackwell Server Edition": (95.6, "RTX PRO 6000"),
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": (95.6, "RTX PRO 6000"),
    "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition": (95.6, None),
    "NVIDIA GeForce GTX 1060": (2.9, "GTX 1060"),
    "NVIDIA GeForce GTX 1060 6GB": (6.0, None),
    "GeForce GTX 1060 with Max-Q Design": (2.9, None),
    "NVIDIA GeForce GTX 1070 Ti": (8.0, "GTX 1070 Ti"),
    "NVIDIA GeForce GTX 1070": (8.0, None),
    "NVIDIA GeForce GTX 1080": (8.0, "GTX 1080"),
    "NVIDIA GeForce GTX 1080 Ti": (11.0, None),
    "GeForce GTX 1080 with Max-Q Design": (8.0, None),
    "NVIDIA GeForce RTX 3090": (24.0, "RTX 3090"),
    "NVIDIA GeForce RTX 3090 Ti": (24.0, None),
    "NVIDIA GeForce RTX 4090": (24.0, "RTX 4090"),
    "NVIDIA GeForce RTX 4090 D": (24.0, None),
    "NVIDIA GeForce RTX 4090 Laptop GPU": (16.0, None),
    "NVIDIA GeForce RTX 4080 SUPER": (16.0, None),
    "NVIDIA GeForce RTX 5090": (31.8, "RTX 5090"),
    "NVIDIA GeForce RTX 5090 D": (31.8, None),
    # Parts of a GPU that a hypervisor or MIG makes.
    "GRID T4-16Q": (16.0, None),
    "GRID V100-16C": (16.0, None),
    "GRID V100D-32Q": (32.0, None),
    "NVIDIA A10G-24Q": (24.0, None),
    "NVIDIA A100-40C": (40.0, None),
    "GRID A100D-80C": (80.0, None),
    "NVIDIA L4-24Q": (24.0, None),
    "NVIDIA L40S-48C": (48.0, None),
    "NVIDIA H100XM-80C": (80.0, None),
    "NVIDIA A100-SXM4-40GB MIG 7g.40gb": (39.5, None),
    "NVIDIA H100 80GB HBM3 MIG 7g.80gb": (79.1, None),
}
# Models whose number is not their memory.
WHOLE_NAMES = {"GTX 1060", "GTX 1070 Ti", "GTX 1080", "RTX 3090", "RTX 4090", "RTX 5090"} | {
    "RTX PRO 6000"
}
NVIDIAS = {
    name: entry
    for name, entry in ENTRIES.items()
    if "gpu" in entry and not entry["gpu"].startswith(("MI300X", "TPU"))
}


def machine(*boards: str, cores: int = 4, gib: float | None = None, **about) -> Machine:
    """A machine with such boards, of the memory that they have."""
    gpus = [{"name": one, "memory_gib": gib or BOARDS.get(one, [None])[0]} for one in boards]
    virtual = about.pop("virtual", None)
    parts = {"gpus": [one | {"virtual": virtual} for one in gpus], "usable_cores": cores}
    return typed(parts | about, Machine)


def rented(provider: str, instance: str | None, *boards: str, cores: int = 8) -> Machine:
    cloud = {"provider": provider, "instance_type": instance}
    return machine(*boards, cores=cores, cloud=cloud)


def fits(name: str, board: str, catalogue) -> bool:
    """Whether a machine with as many such boards is measured under that name."""
    entry = ENTRIES[name]
    try:
        check_machine(
            name, catalogue, machine(*entry["gpu_count"] * [board], cores=entry.get("vcpus", 8))
        )
    except InputError as error:
        assert f"this machine is not {name}: it has {board}" in str(error)
        return False
    return True


def should_fit(entry: dict, what: str | None) -> bool:
    """Whether a board is the one of an entry."""
    found = re.fullmatch(r"(.+?)(?: (sxm|pcie|nvl))?(?: (\d+))?", what or "")
    if not found or (what not in WHOLE_NAMES and found[1] != entry["gpu"]):
        return False
    if what in WHOLE_NAMES:
        return what == entry["gpu"]
    form = entry.get("gpu_form")
    if found[2] != form if form else found[2] == "nvl":
        return False
    return not found[3] or entry.get("gpu_memory_gib", int(found[3])) == int(found[3])


@pytest.mark.parametrize("name", NVIDIAS)
def test_an_entry_is_of_its_boards_alone(name, tmp_path):
    alone = tmp_path / "hardware.yaml"
    files.write_text(alone, json.dumps({name: ENTRIES[name]}))
    found = {board for board in BOARDS if fits(name, board, alone)}
    assert found == {
        board for board, (_, what) in BOARDS.items() if should_fit(ENTRIES[name], what)
    }
    assert found, "or no machine could be measured as it"


def test_the_memory_of_each_gpu_of_nvidia_is_known():
    assert all("gpu_memory_gib" in entry for entry in NVIDIAS.values())


@pytest.mark.parametrize(
    ("hardware", "here"),
    [
        ("local", machine(cores=2)),
        ("local", rented("azure", "Standard_F8s_v2")),
        ("aws-c8a.2xlarge", rented("aws", "c8a.2xlarge")),
        ("aws-c8a.2xlarge", rented("aws", None)),
        ("gce-t4", rented("gcp", "n1-standard-4", "Tesla T4", cores=4)),
        ("gce-t4", machine("Tesla T4", virtual=False)),
        ("jarvislabs-h100", machine("NVIDIA H100", cores=16)),  # which says no form
    ],
)
def test_a_machine_with_what_an_entry_says_is_that_hardware(hardware, here):
    check_machine(hardware, CATALOGUE, here)


H100 = "vast-1x-h100-sxm-32-65536"


@pytest.mark.parametrize(
    ("hardware", "here", "message"),
    [
        (
            "aws-c8a.2xlarge", rented("aws", "c8i.2xlarge"),
            "it is c8i.2xlarge of Amazon EC2, not c8a.2xlarge of Amazon EC2",
        ),
        (
            "aws-c8a.2xlarge", rented("gcp", "n2-standard-8"),
            "it is n2-standard-8 of Google Compute Engine, not c8a.2xlarge of Amazon EC2",
        ),
        (
            "aws-c8a.2xlarge", rented("azure", None),
            "it is one of Microsoft Azure, not c8a.2xlarge",
        ),
        ("gce-k80", machine(cores=2), "not gce-k80: it has no GPU, not 1 x K80"),
        ("gce-k80", machine("Tesla T4"), "it has Tesla T4, 14.6 GiB, not 1 x K80"),
        ("gce-t4", machine("NVIDIA T400"), "it has NVIDIA T400"),
        ("gce-t4", machine("Tesla T4", "Tesla T4"), "not 1 x T4"),
        ("gce-t4", machine("Tesla T4", cores=8), "it has 8 usable cores, not 4"),
        ("gce-n1-highcpu-16", machine("Tesla T4", cores=16), "it has Tesla T4"),
        ("gce-n1-highcpu-16", machine(cores=2), "it has 2 usable cores, not 16"),
        ("gce-k08", machine(cores=2), "unknown hardware 'gce-k08'; did you mean 'gce-k80'"),
        # Other memory, part of a GPU under its name, and a form that the name does not show.
        (H100, machine("NVIDIA H100 SXM5 64GB", gib=63.0, cores=32), f"is not {H100}"),
        (H100, machine("NVIDIA H100 96GB HBM3", gib=94.0, cores=32), f"is not {H100}"),
        (H100, machine("NVIDIA H100 80GB HBM3", gib=39.5, cores=32), f"is not {H100}"),
        (H100, machine("NVIDIA H100", cores=32), f"is not {H100}"),
        ("gce-t4", machine("Tesla T4", gib=7.9), "is not gce-t4"),
        (
            "gce-t4", machine("Tesla T4", gib=15.0, virtual=True),
            r"it has Tesla T4 \(vGPU\), 15 GiB, not 1 x T4",
        ),
    ],
)  # fmt: skip
def test_no_machine_is_measured_under_the_name_of_another(hardware, here, message):
    with pytest.raises(InputError, match=message):
        check_machine(hardware, CATALOGUE, here)


@pytest.mark.parametrize(
    ("gpu", "fitting", "other"),
    [
        ("A100 80GB PCIe", "NVIDIA A100 80GB PCIe", "NVIDIA A100-PCIE-40GB"),
        ("NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe"),
        ("GH200 480GB", "NVIDIA GH200 480GB", "NVIDIA GH200 144G HBM3e"),
        ("H100 NVL", "NVIDIA H100 NVL", "NVIDIA H100 PCIe"),
        ("GRID T4-16Q", "GRID T4-16Q", "GRID T4-8Q"),
        ("RTX A6000", "NVIDIA RTX A6000", "NVIDIA RTX A4000"),
    ],
)
def test_an_entry_of_ones_own_may_name_a_board_as_nvml_does(tmp_path, gpu, fitting, other):
    catalogue, virtual = tmp_path / "hardware.yaml", "GRID" in fitting
    files.write_text(catalogue, f"mine:\n  label: x\n  gpu: {gpu}\n  gpu_count: 1\n")
    check_machine("mine", catalogue, machine(fitting, virtual=virtual))
    with pytest.raises(InputError, match="this machine is not mine"):
        check_machine("mine", catalogue, machine(other, gib=BOARDS[fitting][0], virtual=virtual))


def test_devices_that_train_one_model_are_alike():
    check_devices(2, machine("Tesla T4", "Tesla T4"))
    unequal = machine("Tesla T4", "Tesla P4")
    check_devices(1, unequal)
    with pytest.raises(InputError, match="these differ: Tesla T4, Tesla P4; choose equal ones"):
        check_devices(2, unequal)
    with pytest.raises(InputError, match="3 devices are wanted, and this machine has 2 GPUs"):
        check_devices(3, unequal)
