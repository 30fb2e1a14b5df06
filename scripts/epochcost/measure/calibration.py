"""What this machine can do, measured for longer than a training has time for, and kept."""

import re
from pathlib import Path
from typing import Any

from epochcost import files
from epochcost.errors import InputError
from epochcost.measure import machine, machine_lock, observation, yardstick
from epochcost.record.types import Machine, document


def calibrate(folder: Path, seconds: float) -> tuple[Path, dict[str, Any]]:
    """Measure all that this machine can do, once nobody trains on it; returns where that is kept.

    Args:
        folder: gets a JSON file of the machine and this moment.
        seconds: for each thing that is measured.
    """
    folder.mkdir(parents=True, exist_ok=True)
    here = machine.facts()
    with machine_lock.hold("calibrate"):
        measured_at = observation.now()
        found = {
            **yardstick.measure(seconds),
            "disk_read_mib_s": yardstick.disk_read_mib_s(folder),
            "gpus": [yardstick.gpu(number, seconds) for number in range(_gpus(here))],
        }
    moment = re.sub(r"\D", "", measured_at[:19])
    path = folder / f"{here.id}-{moment}.json"
    files.write_json(path, {"measured_at": measured_at, "machine": document(here), "can_do": found})
    return path, found


def _gpus(here: Machine) -> int:
    """How many GPUs can be measured: none without a PyTorch that sees them."""
    if not here.gpus:
        return 0
    try:
        import torch
    except ImportError:
        raise InputError(
            "this Python has no PyTorch to measure the GPU with; use that of a torch environment"
        ) from None
    if not torch.cuda.is_available():
        raise InputError(
            f"torch {torch.__version__} cannot use {here.gpus[0].name} with driver {here.driver}"
        )
    return torch.cuda.device_count()
