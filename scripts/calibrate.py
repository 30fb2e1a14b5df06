"""Measure for about a minute what this machine can do: the limits that trainings are compared with.

In: nothing. Out: one JSON file of the machine and this moment in results/calibrations. With a
Python whose PyTorch sees a GPU, the GPU's matrix products and copies are measured too.
"""

from pathlib import Path

from epochcost import errors
from epochcost.measure.calibration import calibrate


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--seconds", type=errors.positive, default=10, help="for each thing that is measured"
    )
    parser.add_argument("--output", type=Path, default=Path("results/calibrations"))
    arguments = parser.parse_args()
    path, found = calibrate(arguments.output, arguments.seconds)
    print(f"matrix products of float32: {found['matmul_gflops']:g} GFLOP/s")
    print(f"copies in memory, read and written: {found['copy_gib_s']:g} GiB/s")
    if found["disk_read_mib_s"]:
        print(f"reading from the disk of {arguments.output}: {found['disk_read_mib_s']:g} MiB/s")
    for number, gpu in enumerate(found["gpus"]):
        print(f"GPU {number}: " + ", ".join(f"{name} {value:g}" for name, value in gpu.items()))
    print(f"kept in {path}")


if __name__ == "__main__":
    errors.run(main)
