"""Measure for about a minute what this machine can do: the limits that trainings are compared with.

In: nothing. Out: one JSON file of the machine and this moment in results/calibrations. With a
Python whose PyTorch sees a GPU, the GPU's matrix products and copies are measured too.
"""

import re
from pathlib import Path

from epochcost import errors, files
from epochcost.measure import machine, observation, yardstick
from epochcost.measure.exclusive import alone


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--seconds", type=errors.positive, default=10, help="for each thing that is measured"
    )
    parser.add_argument("--output", type=Path, default=Path("results/calibrations"))
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    here = machine.facts()
    with alone("calibrate"):
        measured_at = observation.now()
        found = {
            **yardstick.measure(arguments.seconds),
            "disk_read_mib_s": yardstick.disk_read_mib_s(arguments.output),
            "gpus": [yardstick.gpu(number, arguments.seconds) for number in range(_gpus(here))],
        }
    moment = re.sub(r"\D", "", measured_at[:19])
    path = arguments.output / f"{here['id']}-{moment}.json"
    files.write_json(path, {"measured_at": measured_at, "machine": here, "can_do": found})
    print(f"matrix products of float32: {found['matmul_gflops']:g} GFLOP/s")
    print(f"copies in memory, read and written: {found['copy_gib_s']:g} GiB/s")
    if found["disk_read_mib_s"]:
        print(f"reading from the disk of {arguments.output}: {found['disk_read_mib_s']:g} MiB/s")
    for number, gpu in enumerate(found["gpus"]):
        print(f"GPU {number}: " + ", ".join(f"{name} {value:g}" for name, value in gpu.items()))
    print(f"kept in {path}")


def _gpus(here: dict) -> int:
    """How many GPUs can be measured: none without a PyTorch that sees them."""
    if not here["gpus"]:
        return 0
    try:
        import torch
    except ImportError:
        raise errors.InputError(
            "this Python has no PyTorch to measure the GPU with; use that of a torch environment"
        ) from None
    if not torch.cuda.is_available():
        raise errors.InputError(
            f"torch {torch.__version__} cannot use {here['gpus'][0]['name']} with driver "
            f"{here['driver']}"
        )
    return torch.cuda.device_count()


if __name__ == "__main__":
    errors.run(main)
