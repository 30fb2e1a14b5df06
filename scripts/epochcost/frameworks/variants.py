"""The variants of a training: what each changes in a framework's settings, and who has it.

`default` changes nothing, `no_onednn` does without oneDNN's kernels, `bfloat16` computes with lower
precision, `devices_2` (3, 4, ...) trains on as many devices, `tuned` is what was found for the
machine, workload and framework (tuning.py).
"""

import re
from typing import Any

from epochcost.errors import InputError, nearest
from epochcost.frameworks.registry import BFLOAT16, DEVICES, FRAMEWORKS, NO_ONEDNN
from epochcost.measure.machine import has_bfloat16
from epochcost.record.types import Machine

DEFAULT, TUNED = "default", "tuned"
_FIXED = {DEFAULT: {}, NO_ONEDNN: {"onednn": False}, BFLOAT16: {"precision": "bfloat16"}}
_DEVICES = re.compile(r"devices_([2-9]|[1-9][0-9]+)")


def variant_of(text: str) -> str:
    """A variant as typed, if it is valid.

    Raises:
        InputError: there is no such variant.
    """
    known = [*_FIXED, TUNED, "devices_2"]
    if text in known or devices_of(text) > 1:
        return text
    raise InputError(f"unknown variant '{text}'; {nearest(text, known)}")


def devices_of(variant: str) -> int:
    """How many devices a variant trains on."""
    several = _DEVICES.fullmatch(variant)
    return int(several[1]) if several else 1


def settings_of(variant: str) -> dict[str, Any] | None:
    """What a variant changes; None for `tuned`, which differs between machines."""
    if (devices := devices_of(variant)) > 1:
        return {"devices": devices}
    return _FIXED.get(variant)


def with_variant(variant: str, names: list[str]) -> list[str]:
    """The frameworks in `names` that have a variant."""
    kind = DEVICES if devices_of(variant) > 1 else variant
    return [name for name in names if kind in (DEFAULT, TUNED, *FRAMEWORKS[name].variants)]


def check_framework(variant: str, framework: str) -> None:
    """Refuse a variant that there is not, or that a framework does not have.

    Raises:
        InputError: so it is.
    """
    if not with_variant(variant_of(variant), [framework]):
        raise InputError(f"the variant {variant} is not for {framework}")


def check_machine(variant: str, machine: Machine) -> None:
    """Refuse a variant that would be another one on a machine, or that it cannot train.

    Raises:
        InputError: so it is.
    """
    check_devices(devices_of(variant), machine)
    if variant == NO_ONEDNN and machine.gpus:
        raise InputError("no_onednn is for processors, and this machine has a GPU")
    if variant == BFLOAT16 and not has_bfloat16("gpu" if machine.gpus else "cpu"):
        raise InputError("this machine has no arithmetic for bfloat16")


def check_devices(count: int, machine: Machine) -> None:
    """Refuse to train on more devices than a machine has (GPUs or, without any, cores).

    Neither can one model be divided between GPUs of different kinds: the batch is divided evenly,
    and each would shuffle the samples in its own way.
    """
    there = len(machine.gpus) or machine.usable_cores
    if count > there:
        what = "GPUs" if machine.gpus else "cores"
        raise InputError(f"{count} devices are wanted, and this machine has {there} {what}")
    models = [gpu.name for gpu in machine.gpus[:count]]
    if len(set(models)) > 1:
        raise InputError(
            f"{count} devices are wanted, and these differ: {', '.join(models)}; choose equal ones "
            "by CUDA_VISIBLE_DEVICES"
        )
