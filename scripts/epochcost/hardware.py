"""Whether a machine is the hardware that it is measured as."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epochcost import files
from epochcost.errors import InputError, check_name

LOCAL = "local"
# What the pinned frameworks are not built for, of the accelerators of the catalogue: NVIDIA's with
# a compute capability below 7.5, and other makers'.
_UNSUPPORTED = (
    "GTX 1060", "GTX 1070 Ti", "GTX 1080", "K520", "K80", "M4000", "M60", "P100", "P4", "P4000",
    "P6000", "V100", "MI300X", "TPU v2", "TPU v5e", "TPU v5p", "TPU v6e",
)  # fmt: skip


def is_unsupported(gpu: str | None) -> bool:
    """Whether the pinned frameworks do not run on a GPU, as the catalogue calls it."""
    return gpu in _UNSUPPORTED


def check_machine(hardware: str, catalogue: Path, machine: Any) -> None:
    """Refuse to measure a machine under the name of another.

    Args:
        hardware: an id of the catalogue (config/hardware.yaml); `local` is any machine.
        machine: its facts (`record.types.Machine`), with `cloud` where that was asked.

    Raises:
        InputError: no such hardware, or this machine is another.
    """
    known = files.read_yaml(catalogue)
    check_name("hardware", hardware, known)
    if hardware == LOCAL:
        return
    wanted = known[hardware]
    present = [_named(gpu) for gpu in machine.gpus]
    if "gpu" in wanted:
        fitting = sum(_is_gpu(gpu, wanted) for gpu in machine.gpus)
        if fitting != wanted["gpu_count"] or fitting != len(present):
            raise InputError(
                f"this machine is not {hardware}: it has {'; '.join(present) or 'no GPU'}, not "
                f"{_told(wanted)}; use hardware '{LOCAL}' to measure "
                "the machine at hand"
            )
    elif present:
        raise InputError(f"this machine is not {hardware}: it has {', '.join(present)}")
    if "vcpus" in wanted and machine.usable_cores != wanted["vcpus"]:
        raise InputError(
            f"this machine is not {hardware}: it has {machine.usable_cores} usable cores, not "
            f"{wanted['vcpus']}; use hardware '{LOCAL}' to measure the machine at hand"
        )
    _check_rented(hardware, wanted, machine.cloud)


EC2, COMPUTE_ENGINE = "Amazon EC2", "Google Compute Engine"
# What the catalogue calls the providers whose machines say what they are.
PROVIDERS = {"aws": EC2, "azure": "Microsoft Azure", "gcp": COMPUTE_ENGINE}


def machine_type(entry: Mapping[str, Any]) -> str:
    """What a provider calls a machine: `n1-standard-4`, of "n1-standard-4 + 1 x T4"."""
    return entry.get("instance", "").split(" ")[0]


def _check_rented(hardware: str, wanted: dict[str, Any], cloud: Any) -> None:
    """Refuse a machine whose provider says that it is another one, even where both look alike."""
    provider, kind = wanted.get("provider"), cloud and cloud.instance_type
    if not cloud or provider not in PROVIDERS.values():
        return
    wanted_kind = machine_type(wanted)
    here = PROVIDERS[cloud.provider]
    if here != provider or (kind and wanted_kind and kind != wanted_kind):
        raise InputError(
            f"this machine is not {hardware}: it is {kind or 'one'} of {here}, not "
            f"{wanted_kind or 'one'} of {provider}; use hardware '{LOCAL}' to measure the machine "
            "at hand"
        )


def title(hardware: str, entry: dict[str, Any]) -> str:
    """Hardware in readable form: id, machine type, provider, and whether it is retired."""
    facts = [entry.get("instance", ""), entry.get("provider", "")]
    if "retired" in entry:
        facts.append(f"retired there on {entry['retired']}")
    told = ", ".join(fact for fact in facts if fact)
    return f"{hardware} ({told})" if told else hardware


@dataclass(frozen=True)
class _Card:
    """What the name of a GPU says, by NVML or by the catalogue.

    model: `H100`, `RTX 4090 LAPTOP GPU`: all that is no vendor, form or memory is part of it.
    form: `sxm`, `pcie`, ... ; None where the name does not show it.
    memory: GB; of a GH200 it is that of the processor.
    """

    model: str
    form: str | None
    memory: int | None


_VENDORS = {"NVIDIA", "TESLA", "GEFORCE", "QUADRO", "GRID"}
# Boards that differ in how they are cooled, and generations that the number of a model shows.
_NO_DIFFERENCE = {"BLACKWELL", "SERVER", "WORKSTATION", "EDITION", "AC"}
_FORMS = {"SXM": "sxm", "PCIE": "pcie", "NVL": "nvl", "FHHL": "fhhl", "DGXS": "dgxs"}
# The form of names that have no word for it, by model and kind of memory.
_FORMS_UNSAID = {
    ("H100", "HBM3"): "sxm",  # "NVIDIA H100 80GB HBM3"
    ("H100", "HBM2E"): "pcie",
    ("H200", None): "sxm",  # "NVIDIA H200"; the other one is "NVIDIA H200 NVL"
    ("B200", None): "sxm",
}
# What NVML adds to the name of a vGPU: "GRID T4-16Q".
_PROFILE = re.compile(r" \d+[ABCQ]$")
# Where the catalogue says no form, it is one of these: others are sold under a name of their own.
_USUAL = {"sxm", "pcie", None}
# NVML's GiB over the GB that a board is sold with, part of which its error correction may take.
_LEAST, _MOST = 0.85, 1.15


def _card(name: str) -> _Card:
    """The parts of a name, such as "NVIDIA A100-SXM4-40GB"."""
    form = memory = kind = None
    model = []
    for word in re.split(r"[ -]+", name.strip().upper()):
        if word in _VENDORS | _NO_DIFFERENCE:
            continue
        if (board := word.rstrip("0123456789")) in _FORMS:
            form = _FORMS[board]
        elif size := re.fullmatch(r"(\d+)GB?", word):
            memory = int(size[1])
        elif re.fullmatch(r"HBM\d\w?", word):
            kind = word
        else:
            model.append(word)
    # The "RTX" of "NVIDIA RTX A6000" came later than its model.
    called = re.sub(r"^RTX (?=A\d{4}$)", "", " ".join(model))
    return _Card(called, form or _FORMS_UNSAID.get((called, kind)), memory)


def _is_gpu(gpu: Any, wanted: dict[str, Any]) -> bool:
    """Whether a GPU that NVML describes is the one of a catalogue entry.

    A part of a GPU (vGPU, MIG) is none, except where the entry names that part.
    """
    there, want = _card(gpu.name), _card(wanted["gpu"])
    form = wanted.get("gpu_form", want.form)
    if there.model != want.model or (there.form != form if form else there.form not in _USUAL):
        return False
    if gpu.virtual and not _PROFILE.search(want.model):
        return False
    if want.memory and there.memory and want.memory != there.memory:
        return False
    memory, has = wanted.get("gpu_memory_gib"), gpu.memory_gib
    return memory is None or has is None or _LEAST * memory < has < _MOST * memory


def _told(wanted: dict[str, Any]) -> str:
    """The GPUs of an entry: `2 x H100 SXM, 80 GB`."""
    form, memory = wanted.get("gpu_form", ""), wanted.get("gpu_memory_gib")
    said = f"{wanted['gpu_count']} x {wanted['gpu']} {form.upper()}".rstrip()
    return f"{said}, {memory:g} GB" if memory else said


def _named(gpu: Any) -> str:
    """A GPU as NVML describes it: `Tesla T4 (vGPU), 16 GiB`."""
    memory = gpu.memory_gib
    said = gpu.name + " (vGPU)" * bool(gpu.virtual)
    return f"{said}, {memory:g} GiB" if memory else said
