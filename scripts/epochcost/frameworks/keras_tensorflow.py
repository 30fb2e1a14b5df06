"""Keras on TensorFlow."""

import os
from functools import partial

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

from epochcost.errors import InputError
from epochcost.frameworks import keras_fit
from epochcost.frameworks.choices import memory_choices, of_device, thread_choices
from epochcost.frameworks.framework import Framework, Task
from epochcost.measure import machine
from epochcost.measure.clock import Clock


class KerasTensorflow(Framework):
    """Keras with TensorFlow's tf.data, tf.function and, on several devices, tf.distribute."""

    VERSION = f"keras {keras_fit.keras.__version__}, tensorflow {tf.__version__}"
    FAILURES = (tf.errors.OpError, *Framework.FAILURES)

    def choices(self, recipe: dict) -> dict[str, list]:
        """The settings.

        input_autotuning: whether tf.data looks for the best number of threads while it runs.
        steps_per_execution: training steps per call of TensorFlow; a quick run has too few steps
            for more than 10.
        jit_compile: whether XLA compiles the training step; by default Keras does so on a GPU.
        onednn: whether oneDNN's kernels are used (read when TensorFlow is imported).
        """
        known = memory_choices() | {
            "onednn": [True, False],
            "input_autotuning": [True, False],
            "steps_per_execution": [1, 10],
            "jit_compile": ["auto", self.device() == "cpu"],
            **thread_choices(machine.allowed_cores()),
        }
        return of_device(self.device(), known)

    def train(self, task: Task, clock: Clock) -> keras_fit.Predict:
        settings, batch = task.settings, task.recipe["batch_size"]
        if settings.get("threads"):
            tf.config.threading.set_intra_op_parallelism_threads(settings["threads"])
        pipeline = None
        if not settings.get("input_autotuning", True):
            # A resumed run would otherwise repeat the orders of its first epochs.
            pipeline = partial(_plain_pipeline, task.seed + len(clock.epochs))
        count = settings.get("devices", 1)
        if batch % count:
            raise InputError(
                f"keras-tensorflow cannot divide a batch of {batch} over {count} devices"
            )
        with _strategy(count, self.device()).scope():
            return keras_fit.train(task, clock, pipeline, _repeated)

    def device(self) -> str:
        return "gpu" if tf.config.list_physical_devices("GPU") else "cpu"

    def devices(self) -> int:
        """Without a GPU they are virtual."""
        return len(tf.config.list_physical_devices("GPU")) or machine.usable_cores()

    def threads(self) -> int:
        return tf.config.threading.get_intra_op_parallelism_threads()


def _strategy(devices: int, device: str) -> tf.distribute.Strategy:
    """How a model is placed on devices: whole on each; on a processor they are virtual."""
    if devices == 1:
        return tf.distribute.get_strategy()
    kind = device.upper()
    if kind == "CPU":
        (processor,) = tf.config.list_physical_devices("CPU")
        parts = [tf.config.LogicalDeviceConfiguration()] * devices
        tf.config.set_logical_device_configuration(processor, parts)
    return tf.distribute.MirroredStrategy([f"{kind}:{number}" for number in range(devices)])


def _plain_pipeline(
    seed: int, x: np.ndarray, y: np.ndarray, batch: int, shuffled: bool
) -> tf.data.Dataset:
    """Batches of arrays in memory, without tf.data's autotuner.

    With the autotuner, epochs may begin with a wait (study/articles/findings.md).
    """
    inputs, labels = tf.constant(x), tf.constant(y)
    options = tf.data.Options()
    options.autotune.enabled = False
    order = tf.data.Dataset.range(len(x))
    if shuffled:
        order = order.shuffle(len(x), seed=seed)
    return (
        order.batch(batch)
        .map(lambda chosen: (tf.gather(inputs, chosen), tf.gather(labels, chosen)))
        .prefetch(1)
        .with_options(options)
    )


def _repeated(*batch: np.ndarray) -> tf.data.Dataset:
    """One batch, over and over."""
    return tf.data.Dataset.from_tensors(tuple(tf.constant(part) for part in batch)).repeat()
