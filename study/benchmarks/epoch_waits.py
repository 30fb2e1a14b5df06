"""How long Keras on TensorFlow waits between epochs, and for what.

A plain script trains on arrays, as everybody calls `fit`, and then on a tf.data.Dataset whose
autotuning is off. For each epoch but the first it notes how long the first step took, and when the
autotuning thread of the epoch before would have woken up by itself: a new epoch ends that thread,
which sleeps 20 ms, 40 ms, 80 ms, ... and at most a minute between its rounds.
"""

import argparse
import os
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import plain_data

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import plain_keras
from compare import append, processor
from input_cost import versions

from epochcost.measure import machine
from epochcost.measure.machine_lock import hold
from epochcost.record.types import document
from epochcost.statistics.waits import next_wake

RESULT = Path(__file__).parent / "results/epoch_waits.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workload", choices=plain_keras.BATCH)
    parser.add_argument("--data", type=Path, required=True, help="folder of prepared arrays")
    parser.add_argument("--epochs", type=int, default=20, help="of each of the two (20)")
    arguments = parser.parse_args()
    here = document(machine.facts())
    about = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": processor(here),
        "cores": here["usable_cores"],
        "workload": arguments.workload,
        "framework_version": versions(),
    }
    with hold():
        made = measure(arguments)
        # An epoch that did not wait begins so fast.
        usual = min(epoch["first_step_s"] for epochs in made.values() for epoch in epochs[1:])
        for given, epochs in made.items():
            for row in rows(epochs, usual):
                append(RESULT, about | {"input": given} | row)
                print(given, row, flush=True)


def measure(arguments: argparse.Namespace) -> dict[str, list[dict[str, float]]]:
    """What each epoch took: on arrays, and on a data set without autotuning."""
    import tensorflow as tf

    batch = plain_keras.BATCH[arguments.workload]
    data = plain_data.read(arguments.workload, arguments.data)
    options = tf.data.Options()
    options.autotune.enabled = False
    slices = tf.data.Dataset.from_tensor_slices((data.x, data.y))
    dataset = slices.shuffle(len(data.y)).batch(batch).prefetch(1).with_options(options)
    made = {}
    for name, given in (
        ("arrays", {"x": data.x, "y": data.y, "batch_size": batch}),
        ("dataset, autotuning off", {"x": dataset}),
    ):
        model = plain_keras.compiled_model(arguments.workload, data.vocabulary, data.x.shape[1])
        stopwatch = first_steps()
        model.fit(**given, epochs=arguments.epochs, verbose=0, callbacks=[stopwatch])
        made[name] = stopwatch.epochs
    return made


def first_steps():
    """A callback that times epochs and their first steps."""
    import keras

    class FirstSteps(keras.callbacks.Callback):
        def __init__(self) -> None:
            super().__init__()
            self.epochs: list[dict[str, float]] = []

        def on_epoch_begin(self, epoch, logs=None) -> None:
            self._begin, self._cpu = time.perf_counter(), time.process_time()
            self.epochs.append({})

        def on_train_batch_end(self, batch, logs=None) -> None:
            if batch == 0:
                self.epochs[-1]["first_step_s"] = time.perf_counter() - self._begin
                self.epochs[-1]["first_step_cpu_s"] = time.process_time() - self._cpu

        def on_epoch_end(self, epoch, logs=None) -> None:
            self.epochs[-1]["epoch_s"] = time.perf_counter() - self._begin

    return FirstSteps()


def rows(epochs: list[dict[str, float]], usual: float) -> list[dict[str, str | int]]:
    """A row per epoch from the second one on.

    waited_s: what its first step took beyond a usual one.
    until_wake_s: how long the thread of the epoch before had yet to sleep when this one began;
        that thread was begun after the wait of its epoch.
    """
    made = []
    for number, (before, epoch) in enumerate(pairwise(epochs), start=2):
        age = before["epoch_s"] - (before["first_step_s"] - usual)
        until_wake = next_wake(age) - age
        waited = epoch["first_step_s"] - usual
        seconds = epoch | {"waited_s": waited, "until_wake_s": until_wake}
        made.append({"epoch": number} | {name: f"{value:.3f}" for name, value in seconds.items()})
    return made


if __name__ == "__main__":
    main()
