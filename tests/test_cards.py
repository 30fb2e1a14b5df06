"""Which boards are the GPU of a catalogue entry: by NVML's name, memory and virtualization."""

import json
import re

import pytest
from observed import typed

from epochcost import files
from epochcost.configuration import ROOT
from epochcost.errors import InputError
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


def fits(entry_name: str, board: str, catalogue=CATALOGUE, **about) -> bool:
    """Whether a machine with as many such boards is measured under that name."""
    entry = ENTRIES[entry_name]
    gpu = {"name": board, "memory_gib": BOARDS.get(board, [None])[0]} | about
    machine = {"gpus": entry["gpu_count"] * [gpu], "usable_cores": entry.get("vcpus", 8)}
    try:
        check_machine(entry_name, catalogue, typed(machine, Machine))
    except InputError as error:
        assert f"this machine is not {entry_name}: it has {board}" in str(error)
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


@pytest.mark.parametrize(
    ("name", "board"),
    [
        ("vast-1x-h100-sxm-32-65536", "NVIDIA H100 PCIe"),
        ("vast-1x-h100-sxm-32-65536", "NVIDIA H100 NVL"),
        ("vast-1x-a100-sxm4-32-65536", "NVIDIA A100-PCIE-40GB"),
        ("crusoe-a100-pcie-80gb", "NVIDIA A100-SXM4-80GB"),
        ("jarvislabs-h100", "NVIDIA H100 NVL"),
        ("vast-1x-h200-32-65536", "NVIDIA H200 NVL"),
        ("gce-t4", "GRID T4-16Q"),
        ("aws-p4d.24xlarge", "NVIDIA A100-40C"),
        ("paperspace-p4000", "Quadro P4000 with Max-Q Design"),
    ],
)
def test_a_board_of_another_form_is_not_priced_as_this_one(name, board):
    assert not fits(name, board)


@pytest.mark.parametrize(
    ("name", "board", "gib"),
    [
        ("vast-1x-h100-sxm-32-65536", "NVIDIA H100 SXM5 64GB", 63.0),
        ("vast-1x-h100-sxm-32-65536", "NVIDIA H100 96GB HBM3", 94.0),
        ("vast-1x-h100-sxm-32-65536", "NVIDIA H100 80GB HBM3", 39.5),
        ("gce-t4", "Tesla T4", 7.9),
    ],
)
def test_a_board_with_other_memory_is_not_priced_as_this_one(name, board, gib):
    machine = {"gpus": [{"name": board, "memory_gib": gib, "virtual": False}]}
    entry = files.read_yaml(CATALOGUE)[name]
    with pytest.raises(InputError, match=f"this machine is not {name}"):
        check_machine(
            name, CATALOGUE, typed(machine | {"usable_cores": entry.get("vcpus", 4)}, Machine)
        )


def test_the_memory_of_each_gpu_of_nvidia_is_known():
    without = [
        name
        for name, entry in files.read_yaml(CATALOGUE).items()
        if "gpu" in entry and "gpu_memory_gib" not in entry
    ]
    assert all(re.search("tpu|mi300x", name) for name in without)


def test_a_part_of_a_gpu_is_not_the_gpu_even_where_it_has_its_name():
    assert fits("gce-t4", "Tesla T4", virtual=False)
    assert fits("gce-t4", "Tesla T4", virtual=None)
    machine = {"gpus": [{"name": "Tesla T4", "memory_gib": 15.0, "virtual": True}]}
    with pytest.raises(InputError, match=r"it has Tesla T4 \(vGPU\), 15 GiB, not 1 x T4"):
        check_machine("gce-t4", CATALOGUE, typed(machine | {"usable_cores": 4}, Machine))


def test_a_form_that_the_name_does_not_show_is_not_taken_for_granted():
    assert fits("vast-1x-h100-sxm-32-65536", "NVIDIA H100 80GB HBM3")
    assert not fits("vast-1x-h100-sxm-32-65536", "NVIDIA H100")
    assert fits("jarvislabs-h100", "NVIDIA H100"), "which says no form"


def test_an_entry_of_ones_own_may_name_a_board_as_nvml_does(tmp_path):
    catalogue = tmp_path / "hardware.yaml"
    for gpu, fitting, other in (
        ("A100 80GB PCIe", "NVIDIA A100 80GB PCIe", "NVIDIA A100-PCIE-40GB"),
        ("NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe"),
        ("GH200 480GB", "NVIDIA GH200 480GB", "NVIDIA GH200 144G HBM3e"),
        ("H100 NVL", "NVIDIA H100 NVL", "NVIDIA H100 PCIe"),
        ("GRID T4-16Q", "GRID T4-16Q", "GRID T4-8Q"),
        ("RTX A6000", "NVIDIA RTX A6000", "NVIDIA RTX A4000"),
    ):
        files.write_text(catalogue, f"mine:\n  label: x\n  gpu: {gpu}\n  gpu_count: 1\n")
        virtual = "GRID" in fitting
        about = {"virtual": virtual, "memory_gib": BOARDS[fitting][0]}
        machine = {"gpus": [{"name": fitting} | about], "usable_cores": 4}
        check_machine("mine", catalogue, typed(machine, Machine))
        machine["gpus"][0]["name"] = other
        with pytest.raises(InputError, match="this machine is not mine"):
            check_machine("mine", catalogue, typed(machine, Machine))
