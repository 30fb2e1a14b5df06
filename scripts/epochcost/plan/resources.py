"""What a scheduler is asked for, so that a training gets its hardware.

All of it follows from the hardware's entry in the catalogue. The names of the resources are those
of Snakemake's executors (slurm 2.8, googlebatch 0.5, kubernetes 0.5, aws-batch 0.2).
"""

from collections.abc import Mapping
from typing import Any

from epochcost.hardware import COMPUTE_ENGINE, EC2, machine_type

SLURM, GOOGLE_BATCH, KUBERNETES, AWS_BATCH = "slurm", "googlebatch", "kubernetes", "aws-batch"
# Schedulers that rent a machine, and from whom; the others have theirs.
RENTING = {GOOGLE_BATCH: COMPUTE_ENGINE, AWS_BATCH: EC2}

Entry = Mapping[str, Any]
Resources = dict[str, int | str]

# Of a machine's memory: Google's Kubernetes keeps 28 % of a small node for itself.
_ASKED_MEMORY = 0.7
# Keys of `slurm:` that are called otherwise, and what holds where an entry says nothing.
_SLURM_NAMES = {"partition": "slurm_partition", "account": "slurm_account", "extra": "slurm_extra"}
_SLURM_DEFAULTS = {"mem_mb": 8000, "runtime": 240, "extra": "--exclusive"}
# MiB that the executor of AWS Batch can ask for, by vCPUs: it knows no other combinations.
_AWS_MEMORY = {
    1: range(2048, 8193, 1024),
    2: range(4096, 16385, 1024),
    4: range(8192, 30721, 1024),
    8: range(16384, 61441, 4096),
    16: range(32768, 122881, 8192),
}
# Google's names of GPUs, where they are not nvidia-tesla- and the model.
_ACCELERATORS = {
    ("A100", 40): "nvidia-tesla-a100",
    ("A100", 80): "nvidia-a100-80gb",
    ("H100", 80): "nvidia-h100-80gb",
    ("L4", 24): "nvidia-l4",
}


def why_not(entry: Entry, scheduler: str, given: Mapping[str, Any]) -> str | None:
    """Why a scheduler cannot be asked for some hardware; None if it can.

    Args:
        entry: of config/hardware.yaml.
        scheduler: Snakemake's name of it, such as `slurm`.
        given: resources that the call or its profile sets for this hardware.
    """
    rented_from = RENTING.get(scheduler)
    if rented_from and entry.get("provider") != rented_from:
        return f"it is no machine of {rented_from}, which alone {scheduler} rents"
    if scheduler == SLURM and not ("slurm" in entry or "slurm_partition" in given):
        return "no `slurm: {partition: ...}` in config/hardware.yaml"
    needed = ("vcpus", "memory_gib") if rented_from else ("vcpus",)
    if lacking := [key for key in needed if key not in entry]:
        return f"no {' and '.join(lacking)} in config/hardware.yaml"
    if scheduler == GOOGLE_BATCH and entry.get("gpu_count", 0) > 1:
        return (
            "Snakemake asks Google Batch for one GPU at most; measure it as a bare host "
            "(scripts/remote.py)"
        )
    if scheduler == AWS_BATCH and not _aws_memory(entry):
        return (
            f"Snakemake cannot ask AWS Batch for {entry['vcpus']} vCPUs of a machine with "
            f"{entry['memory_gib']:g} GiB; measure it as a bare host (scripts/remote.py)"
        )
    return None


def resources_of(entry: Entry, scheduler: str | None) -> Resources:
    """The resources of trainings on some hardware; none where it cannot be asked for.

    Args:
        scheduler: Snakemake's name of it; None is this machine.
    """
    ask = _ASK.get(scheduler)
    return ask(entry) if ask and why_not(entry, scheduler, {"slurm_partition": ""}) is None else {}


def _of_slurm(entry: Entry) -> Resources:
    asked = _SLURM_DEFAULTS | entry.get("slurm", {})
    if "gpu" in entry:
        asked.setdefault("gres", f"gpu:{entry['gpu_count']}")
    return {_SLURM_NAMES.get(key, key): value for key, value in asked.items()}


def _of_google_batch(entry: Entry) -> Resources:
    asked = {
        "googlebatch_machine_type": machine_type(entry),
        "googlebatch_cpu_milli": 1000 * entry["vcpus"],
        "googlebatch_memory": _memory_mib(entry),
    }
    if gpu := entry.get("gpu"):
        usual = f"nvidia-tesla-{gpu.lower()}"
        asked["nvidia_gpu"] = _ACCELERATORS.get((gpu, entry.get("gpu_memory_gib")), usual)
    return asked


def _of_kubernetes(entry: Entry) -> Resources:
    # Requests are limits, too (`scale`): Kubernetes accepts a GPU in no other way.
    asked = {"scale": 0} | _memory_mb(entry)
    if kind := machine_type(entry):
        asked["machine_type"] = kind
    if "gpu" in entry:
        asked |= {"gpu": entry["gpu_count"], "gpu_manufacturer": "nvidia"}
    return asked


def _of_aws_batch(entry: Entry) -> Resources:
    gpus = {"_gpus": entry["gpu_count"]} if "gpu" in entry else {}
    return {"mem_mb": max(_aws_memory(entry))} | gpus


def _aws_memory(entry: Entry) -> list[int]:
    allowed = _AWS_MEMORY.get(entry["vcpus"], ())
    return [mib for mib in allowed if mib <= _memory_mib(entry)]


def _memory_mb(entry: Entry) -> Resources:
    return {"mem_mb": _memory_mib(entry)} if "memory_gib" in entry else {}


def _memory_mib(entry: Entry) -> int:
    return round(_ASKED_MEMORY * entry["memory_gib"] * 1024)


_ASK = {
    SLURM: _of_slurm,
    GOOGLE_BATCH: _of_google_batch,
    KUBERNETES: _of_kubernetes,
    AWS_BATCH: _of_aws_batch,
}
