"""Whether a machine is the hardware that it is measured as."""

import re
from pathlib import Path
from typing import Any

import yaml

from epochcost.errors import InputError, nearest

LOCAL = "local"


def check_devices(count: int, machine: dict[str, Any]) -> None:
    """Refuse to train on more devices than a machine has: GPUs, or without any, cores."""
    there = len(machine["gpus"]) or machine["usable_cores"]
    if count > there:
        what = "GPUs" if machine["gpus"] else "cores"
        raise InputError(f"{count} devices are wanted, and this machine has {there} {what}")


def check_machine(hardware: str, catalogue: Path, machine: dict[str, Any]) -> None:
    """Refuse to measure a machine under the name of another.

    Args:
        hardware: an id of the catalogue (config/hardware.yaml); `local` is any machine.
        machine: facts about the machine at hand (`measurement.machine.describe`).

    Raises:
        InputError: no such hardware, or this machine is another.
    """
    known = yaml.safe_load(catalogue.read_text(encoding="utf-8"))
    if hardware not in known:
        raise InputError(f"unknown hardware '{hardware}'; {nearest(hardware, known)}")
    if hardware == LOCAL:
        return
    wanted = known[hardware]
    present = [gpu["name"] for gpu in machine["gpus"]]
    if "gpu" in wanted:
        word = re.compile(rf"\b{re.escape(wanted['gpu'])}\b", re.IGNORECASE)
        fitting = [name for name in present if word.search(name)]
        if len(fitting) != wanted["gpu_count"] or len(fitting) != len(present):
            raise InputError(
                f"this machine is not {hardware}: it needs {wanted['gpu_count']} x "
                f"{wanted['gpu']}, here is {', '.join(present) or 'no GPU'}; use hardware "
                f"'{LOCAL}' to measure the machine at hand"
            )
    elif present:
        raise InputError(f"this machine is not {hardware}: it has {', '.join(present)}")
    elif "vcpus" in wanted and machine["usable_cores"] != wanted["vcpus"]:
        raise InputError(
            f"this machine is not {hardware}: it has {machine['usable_cores']} usable cores, not "
            f"{wanted['vcpus']}; use hardware '{LOCAL}' to measure the machine at hand"
        )
