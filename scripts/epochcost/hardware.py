"""Whether a machine is the hardware that it is measured as."""

import re
from pathlib import Path
from typing import Any

from epochcost import files
from epochcost.errors import InputError, nearest

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


def check_devices(count: int, machine: dict[str, Any]) -> None:
    """Refuse to train on more devices than a machine has (GPUs or, without any, cores).

    Neither can one model be divided between GPUs of different kinds: the batch is divided evenly,
    and each would shuffle the samples in its own way.
    """
    there = len(machine["gpus"]) or machine["usable_cores"]
    if count > there:
        what = "GPUs" if machine["gpus"] else "cores"
        raise InputError(f"{count} devices are wanted, and this machine has {there} {what}")
    models = [gpu["name"] for gpu in machine["gpus"][:count]]
    if len(set(models)) > 1:
        raise InputError(
            f"{count} devices are wanted, and these differ: {', '.join(models)}; choose equal ones "
            "by CUDA_VISIBLE_DEVICES"
        )


def check_machine(hardware: str, catalogue: Path, machine: dict[str, Any]) -> None:
    """Refuse to measure a machine under the name of another.

    Args:
        hardware: an id of the catalogue (config/hardware.yaml); `local` is any machine.
        machine: facts about the machine at hand (`measurement.machine.describe`), with `cloud`
            where it was asked for (`measurement.cloud.describe`).

    Raises:
        InputError: no such hardware, or this machine is another.
    """
    known = files.read_yaml(catalogue)
    if hardware not in known:
        raise InputError(f"unknown hardware '{hardware}'; {nearest(hardware, known)}")
    if hardware == LOCAL:
        return
    wanted = known[hardware]
    present = [gpu["name"] for gpu in machine["gpus"]]
    if "gpu" in wanted:
        fitting = [gpu["name"] for gpu in machine["gpus"] if _is_gpu(gpu, wanted)]
        if len(fitting) != wanted["gpu_count"] or len(fitting) != len(present):
            raise InputError(
                f"this machine is not {hardware}: it has {', '.join(present) or 'no GPU'}, not "
                f"{wanted['gpu_count']} x {wanted['gpu']}; use hardware '{LOCAL}' to measure "
                "the machine at hand"
            )
    elif present:
        raise InputError(f"this machine is not {hardware}: it has {', '.join(present)}")
    if "vcpus" in wanted and machine["usable_cores"] != wanted["vcpus"]:
        raise InputError(
            f"this machine is not {hardware}: it has {machine['usable_cores']} usable cores, not "
            f"{wanted['vcpus']}; use hardware '{LOCAL}' to measure the machine at hand"
        )
    _check_rented(hardware, wanted, machine.get("cloud") or {})


# What the catalogue calls the providers whose machines say what they are.
_PROVIDERS = {
    "aws": "Amazon EC2",
    "azure": "Microsoft Azure",
    "gcp": "Google Compute Engine",
}


def _check_rented(hardware: str, wanted: dict[str, Any], cloud: dict[str, Any]) -> None:
    """Refuse a machine whose provider says that it is another one, even where both look alike."""
    provider, kind = wanted.get("provider"), cloud.get("instance_type")
    if not cloud or provider not in _PROVIDERS.values():
        return
    # "n1-standard-4 + 1 x T4" is a machine type plus what was added to it.
    wanted_kind = wanted.get("instance", "").split(" ")[0]
    here = _PROVIDERS[cloud["provider"]]
    if here != provider or (kind and wanted_kind and kind != wanted_kind):
        raise InputError(
            f"this machine is not {hardware}: it is {kind or 'one'} of {here}, not "
            f"{wanted_kind or 'one'} of {provider}; use hardware '{LOCAL}' to measure the machine "
            "at hand"
        )


def describe(hardware: str, entry: dict[str, Any]) -> str:
    """Hardware in readable form: id, machine type, provider, and whether it is retired."""
    facts = [entry.get("instance", ""), entry.get("provider", "")]
    if "retired" in entry:
        facts.append(f"retired there on {entry['retired']}")
    told = ", ".join(fact for fact in facts if fact)
    return f"{hardware} ({told})" if told else hardware


# What follows a model's name where it is a different model.
_OTHER_MODEL = r"(?! (?:Ti|SUPER|D|Ada|Laptop|Mobile|with Max-Q)\b)"


def _is_gpu(gpu: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a GPU that NVML describes is the one of a catalogue entry."""
    if not re.search(rf"\b{re.escape(wanted['gpu'])}\b{_OTHER_MODEL}", gpu["name"], re.IGNORECASE):
        return False
    # A GPU with 80 GB reports 79.2 or 80 GiB; the next smaller one has half as much.
    memory, there = wanted.get("gpu_memory_gib"), gpu.get("memory_gib")
    return memory is None or there is None or 0.75 * memory < there < 1.5 * memory
