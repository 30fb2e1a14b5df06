"""What input costs while Keras trains on TensorFlow: epochs on all batches, and on one batch.

Epochs of a plain script are trained in turn in one process: on the arrays, as everybody calls
`fit`, and on one batch that comes again and again and costs next to nothing to fetch. Their ratio
is what input adds to the training time; a record has only an upper bound of it (`input`), since
TensorFlow prepares the next batch while it trains on one.
"""

import argparse
import os
import random
import sys
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import numpy as np
import plain_data

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import plain_keras
from compare import KEEP_MEMORY, append, interval, processor

from epochcost.measure import machine
from epochcost.measure.machine_lock import hold
from epochcost.record.types import document

RESULT = Path(__file__).parent / "results/input_cost.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workload", choices=plain_keras.BATCH)
    parser.add_argument("--data", type=Path, required=True, help="folder of prepared arrays")
    parser.add_argument("--rounds", type=int, default=15, help="(15)")
    parser.add_argument("--steps", type=int, help="of an epoch; default: all")
    arguments = parser.parse_args()
    if not KEEP_MEMORY.items() <= os.environ.items():  # glibc reads it when a process starts
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | KEEP_MEMORY)
    with hold():
        rounds = measure(arguments)
    ratios = np.array([arrays / one_batch for arrays, one_batch in rounds])
    low, high = interval(ratios)
    here = document(machine.facts())
    row = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": processor(here),
        "cores": here["usable_cores"],
        "workload": arguments.workload,
        "framework_version": versions(),
        "memory": "kept",
        "rounds": len(rounds),
        "arrays_s": f"{median(arrays for arrays, _ in rounds):.3f}",
        "one_batch_s": f"{median(one_batch for _, one_batch in rounds):.3f}",
        "ratio": f"{median(ratios):.4f}",
        "low": f"{low:.4f}",
        "high": f"{high:.4f}",
    }
    append(RESULT, row)
    print(row)


def versions() -> str:
    """What trained, as in plain.csv."""
    import keras
    import tensorflow as tf

    return f"keras {keras.__version__}, tensorflow {tf.__version__}"


def measure(arguments: argparse.Namespace) -> list[tuple[float, float]]:
    """Seconds of an epoch on the arrays and of one on a single batch, for each round."""
    import tensorflow as tf

    batch = plain_keras.BATCH[arguments.workload]
    data = plain_data.read(arguments.workload, arguments.data)
    # As many whole batches, so that both do the same steps.
    steps = min(arguments.steps or sys.maxsize, len(data.y) // batch)
    x, y = data.x[: steps * batch], data.y[: steps * batch]
    model = plain_keras.compiled_model(arguments.workload, data.vocabulary, data.x.shape[1])
    # Nothing may be learnt: with one batch the gradients soon vanish, and processors are slow with
    # the very small numbers that they then are.
    model.optimizer.learning_rate = 0.0
    # `cache` and `repeat` hand out the batch itself; its size is unknown to the graph, as it is
    # with arrays.
    one = tf.data.Dataset.from_tensor_slices((x[:batch], y[:batch])).batch(batch).cache().repeat()

    def seconds(**given) -> float:
        stopwatch = plain_keras.make_stopwatch()
        model.fit(**given, verbose=0, callbacks=[stopwatch])
        return stopwatch.times["train_s"][0]

    on_arrays = {"x": x, "y": y, "batch_size": batch}
    on_one = {"x": one, "steps_per_epoch": steps, "shuffle": False}
    for given in (on_arrays, on_one):  # the first pass of each builds its graph
        seconds(**given)
    rounds = []
    for _ in range(arguments.rounds):
        both = [("arrays", on_arrays), ("one", on_one)]
        random.shuffle(both)
        took = {name: seconds(**given) for name, given in both}
        rounds.append((took["arrays"], took["one"]))
        print(f"{took['arrays']:.3f} s on the arrays, {took['one']:.3f} s on one batch", flush=True)
    return rounds


if __name__ == "__main__":
    main()
