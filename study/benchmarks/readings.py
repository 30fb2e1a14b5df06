"""What measuring costs a training in Keras: epochs with and without it, in turn in one process.

`compare.py` starts a process for ours and one for the plain script, and processes have speeds of
their own, on TensorFlow by a tenth and more. Here one process trains one model, that of the plain
script, one epoch after the other, short ones as in a quick run, or with --whole those of a full
run. In one of each pair, by chance the first or the second, the clock is read as scripts/train.py
reads it, and its sampler watches; in the other the stopwatch of the plain script is read, and the
sampler stands still.
"""

import argparse
import contextlib
import datetime
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import compare
import numpy as np
import plain_data
import plain_keras

from epochcost.frameworks.framework import load
from epochcost.measure import machine
from epochcost.measure.clock import Clock
from epochcost.measure.extent import QUICK_STEPS, of
from epochcost.measure.sampler import Sampler
from epochcost.models import recipes
from epochcost.record.types import document

RESULT = Path(__file__).parent / "results/readings.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [name for name in compare.ENVIRONMENTS if name.startswith("keras-")]
    parser.add_argument("workload", choices=plain_keras.BATCH)
    parser.add_argument("framework", choices=names)
    parser.add_argument("--data", type=Path, required=True, help="folder of prepared arrays")
    parser.add_argument("--pairs", type=int, default=30, help="of epochs, six or more (30)")
    parser.add_argument("--csv", type=Path, default=RESULT, help="table that gets a row")
    parser.add_argument("--whole", action="store_true", help="whole epochs, as in a full run")
    arguments = parser.parse_args()
    if arguments.pairs < 6:
        parser.error("--pairs is 6 or more")
    if not compare.KEEP_MEMORY.items() <= os.environ.items():  # glibc reads it at the start
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | compare.KEEP_MEMORY)
    version = load(arguments.framework, {}).VERSION  # which selects the backend
    with compare.hold(), paused_sampler() as sampler:
        pairs = np.array(in_turn(*trainers(arguments, sampler), arguments.pairs))
    here, ratios = document(machine.facts()), pairs[:, 0] / pairs[:, 1]
    low, high = compare.interval(ratios)
    row = {
        "date": datetime.date.today().isoformat(),
        "machine": compare.processor(here),
        "cores": here["usable_cores"],
        "workload": arguments.workload,
        "framework": arguments.framework,
        "framework_version": version,
        "memory": "kept",
        "epochs": "whole" if arguments.whole else f"of {QUICK_STEPS} steps",
        "pairs": len(pairs),
        "with_ms": f"{1000 * np.median(pairs[:, 0]):.3f}",
        "without_ms": f"{1000 * np.median(pairs[:, 1]):.3f}",
        "ratio": f"{np.median(ratios):.4f}",
        "low": f"{low:.4f}",
        "high": f"{high:.4f}",
    }
    compare.append(arguments.csv, row)
    print(row)


@contextlib.contextmanager
def paused_sampler() -> Iterator[int]:
    """The process of a sampler, which stands still."""
    sampler = Sampler()
    os.kill(sampler.process.pid, signal.SIGSTOP)
    try:
        yield sampler.process.pid
    finally:
        os.kill(sampler.process.pid, signal.SIGCONT)
        sampler.stop()


def trainers(arguments: argparse.Namespace, sampler: int) -> list[Callable[[], float]]:
    """Two functions that train the same model for an epoch and give its seconds.

    The first one measures as scripts/train.py does, the second as the plain script.
    """
    from epochcost.frameworks import keras_fit

    data = plain_data.read(arguments.workload, arguments.data)
    held_out = 0 if data.y_validation is None else len(data.y_validation)
    recipe = recipes.of(arguments.workload, compare.ROOT / "config/workloads.yaml")
    scale = "full" if arguments.whole else "quick"
    schedule = of(scale, recipe, len(data.y), held_out)
    model = plain_keras.compiled_model(arguments.workload, data.vocabulary, data.x.shape[1])
    samples, held_out = schedule.samples, schedule.evaluation_samples
    given = {"x": data.x[:samples], "y": data.y[:samples], "verbose": 0}
    given["batch_size"] = recipe["batch_size"]
    if held_out:
        given["validation_data"] = (data.x_validation[:held_out], data.y_validation[:held_out])

    def measured() -> float:
        clock = Clock(schedule)
        clock.synchronise = lambda: keras_fit._wait_for(model)
        os.kill(sampler, signal.SIGCONT)
        model.fit(**given, callbacks=[keras_fit._ReadClock(clock)])
        os.kill(sampler, signal.SIGSTOP)
        (epoch,) = clock.epochs
        return epoch.train_s + (epoch.eval_s or 0)

    def plain() -> float:
        stopwatch = plain_keras.make_stopwatch()
        model.fit(**given, callbacks=[stopwatch])
        return sum(map(sum, stopwatch.times.values()))

    return [measured, plain]


def in_turn(
    measured: Callable[[], float], plain: Callable[[], float], pairs: int
) -> list[tuple[float, float]]:
    """Seconds of both, pair by pair."""
    order = [measured, plain]
    for train in order:  # the first epoch builds the graph
        train()
    found = []
    for _ in range(pairs):
        random.shuffle(order)
        took = {train: train() for train in order}
        found.append((took[measured], took[plain]))
        print(f"{took[measured]:.4f} s with, {took[plain]:.4f} s without", flush=True)
    return found


if __name__ == "__main__":
    main()
