"""What this machine can do: matrix products, copies in memory, reading from its disk.

The times of a run are compared with it. By itself: `python -m epochcost.measure.yardstick`,
which prints JSON. It is a separate process, so that its threads and memory are not those of a run.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from epochcost.measure.clock import Stopwatch
from epochcost.measure.machine import usable_cores

_SIDE = 1024
_COPIED_MIB = 128
_READ_MIB = 256
_PATIENCE_S = 60


def measure(seconds: float = 0.15) -> dict[str, float]:
    """Medians of trials repeated for `seconds` each: products in GFLOP/s, copies in GiB/s.

    Products use all cores. They come before and after the copies, and the better median counts, as
    another process may just be starting. Copies use one core, and are of more than fits into its
    caches; a copy of n bytes counts as n read and n written.
    """
    rng = np.random.default_rng(1)
    left, right = rng.random((2, _SIDE, _SIDE), np.float32)
    result = np.empty_like(left)
    source = np.zeros(_COPIED_MIB * 2**20, np.uint8)
    target = np.ones_like(source)

    def product_s() -> float:
        return median(timed_trials(lambda: np.matmul(left, right, out=result), seconds))

    before = product_s()
    copy_s = median(timed_trials(lambda: np.copyto(target, source), seconds))
    return {
        "matmul_gflops": round(2 * _SIDE**3 / min(before, product_s()) / 1e9, 1),
        "copy_gib_s": round(2 * _COPIED_MIB / 1024 / copy_s, 1),
    }


def disk_read_mib_s(folder: Path, trials: int = 3) -> float | None:
    """The slowest rate of reading a fresh file that the system was asked to drop from its cache.

    None where it cannot be asked. For a folder in memory it is the memory's rate.
    """
    if not hasattr(os, "posix_fadvise"):
        return None
    block = os.urandom(2**20)
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for _ in range(_READ_MIB):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
        times = []
        for _ in range(trials):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            stopwatch = Stopwatch()
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            while os.read(file.fileno(), 2**22):
                pass
            times.append(stopwatch.seconds())
    return round(_READ_MIB / max(times), 1)


def gpu(number: int, seconds: float) -> dict[str, float]:
    """What a GPU achieves in PyTorch, as medians of repeated trials.

    Products are in TFLOP/s, copies in GiB/s. float32 is without TF32, as is PyTorch's default.
    """
    import torch

    place = torch.device("cuda", number)
    side, size = 8192, 2**30

    def timed(work: Callable[[], Any]) -> float:
        def wait() -> None:
            work()
            torch.cuda.synchronize(place)

        return median(timed_trials(wait, seconds))

    found = {}
    for name, kind in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        left, right = torch.rand(2, side, side, device=place).to(kind)
        product_s = timed(lambda left=left, right=right: left @ right)
        found[f"matmul_{name}_tflops"] = round(2 * side**3 / product_s / 1e12, 1)
    source = torch.zeros(size, dtype=torch.uint8, device=place)
    target = torch.ones_like(source)
    found["copy_gib_s"] = round(2 * size / 2**30 / timed(lambda: target.copy_(source)), 1)
    return found


def timed_trials(work: Callable[[], Any], seconds: float) -> Iterator[float]:
    """Seconds of each repetition, after a warm-up."""
    work()
    whole = Stopwatch()
    while whole.seconds() < seconds:
        one = Stopwatch()
        work()
        yield one.seconds()


def asked() -> dict[str, float] | None:
    """What a separate process measures in less than a second; None if it fails."""
    package = Path(__file__).resolve().parents[2]
    # A container may have fewer cores than a library counts.
    cores = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(usable_cores()))
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", __name__],
            capture_output=True,
            env=os.environ | cores | {"PYTHONPATH": str(package)},
            timeout=_PATIENCE_S,
            check=True,
        )
        return json.loads(done.stdout)
    except (subprocess.SubprocessError, OSError, ValueError):
        return None


if __name__ == "__main__":
    print(json.dumps(measure()))
