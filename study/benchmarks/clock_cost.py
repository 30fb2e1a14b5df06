"""What the clock and the sampler cost a training, in percent of its time.

Calls of the clock are timed by themselves, many thousand times, and counted by the number of steps
of a recipe; the sampler's processor time is read from its process while it watches this one.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost.measure import extent
from epochcost.measure.clock import Clock
from epochcost.measure.sampler import Sampler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", type=Path, nargs="+", help="records of full runs")
    parser.add_argument("--seconds", type=float, default=20, help="how long to watch the sampler")
    arguments = parser.parse_args()
    step_s, share = seconds_of_a_step(), sampler_share(arguments.seconds)
    print(f"a call of the clock at a step: {step_s * 1e9:.0f} ns")
    print(f"the sampler: {share:.2%} of one core, {share / (psutil.cpu_count() or 1):.2%} of all")
    for path in arguments.record:
        content = json.loads(path.read_text())
        epochs = content["epochs"]
        steps = -(-epochs[0]["samples"] // content["settings"]["batch_size"]) * len(epochs)
        seconds = sum(epoch["train_s"] for epoch in epochs)
        print(f"{content['run']['id']}: the clock takes {steps * step_s / seconds:.4%} of training")


def seconds_of_a_step(calls: int = 500_000) -> float:
    """Seconds that `Clock.step` takes where it does not read the time."""
    clock = Clock(extent.Extent(1, calls, calls, (1,)))
    clock.epoch_begin()
    clock.step(0)
    begin = time.perf_counter()
    for step in range(2, calls):
        clock.step(step)
    return (time.perf_counter() - begin) / (calls - 2)


def sampler_share(seconds: float) -> float:
    """Processor time of the sampler over the time that it watches, once it has begun."""
    sampler = Sampler()
    time.sleep(2)
    process = psutil.Process(sampler.process.pid)
    before, begin = sum(process.cpu_times()[:2]), time.perf_counter()
    time.sleep(seconds)
    spent = sum(process.cpu_times()[:2]) - before
    spent /= time.perf_counter() - begin
    sampler.stop()
    return spent


if __name__ == "__main__":
    main()
