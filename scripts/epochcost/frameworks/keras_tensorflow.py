"""Keras on TensorFlow, as most people write it: compile, fit on arrays, a callback for the clock.

Known differences from PyTorch here: Keras 3 adds RMSprop's epsilon under the root where PyTorch
and Keras 2 add it to the root, so its square is given.
"""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import tensorflow as tf

from epochcost.measurement.clock import Clock
from epochcost.workloads import Split

VERSION = f"keras {keras.__version__}, tensorflow {tf.__version__}"

# What a training can fail with, beside a loss that is no number.
FAILURES = (tf.errors.OpError, RuntimeError, MemoryError, ArithmeticError)


def device() -> str:
    """What the model trains on."""
    return "gpu" if tf.config.list_physical_devices("GPU") else "cpu"


def threads() -> int:
    """Threads within one operation; 0 is TensorFlow's word for one per core."""
    return tf.config.threading.get_intra_op_parallelism_threads()


def train(recipe: dict, definition, split: Split, clock: Clock, seed: int) -> None:
    """Train a workload; all that is learnt about it is left in the clock.

    Args:
        recipe: the workload's entry of config/workloads.yaml.
        definition: the workload's module.
    """
    schedule, batch = clock.schedule, recipe["batch_size"]
    with clock.phase("build"):
        keras.utils.set_random_seed(seed)
        model = definition.keras_model(split.x_train.shape[1:], recipe["model"])
        model.compile(
            optimizer=_optimizer(recipe["optimizer"]),
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    clock.synchronise = lambda: keras.ops.convert_to_numpy(model.trainable_variables[-1])
    samples = schedule.steps * batch
    held_out = schedule.evaluation_steps * batch
    validation = (split.x_validation[:held_out], split.y_validation[:held_out])
    model.fit(
        split.x_train[:samples],
        split.y_train[:samples],
        batch_size=batch,
        epochs=schedule.epochs,
        validation_data=validation,
        verbose=0,
        callbacks=[_ReadClock(clock)],
    )
    for _ in range(schedule.evaluations):
        with clock.evaluation():
            model.evaluate(*validation, batch_size=batch, verbose=0)


class _ReadClock(keras.callbacks.Callback):
    """Reads the clock where the schedule says so.

    It has no `on_train_batch_end`: with one, Keras would wait for the loss of every step.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def on_epoch_begin(self, epoch, logs=None):
        self._clock.epoch_begin()

    def on_train_batch_begin(self, batch, logs=None):
        self._clock.step(batch)

    def on_test_begin(self, logs=None):
        self._clock.train_end()

    def on_epoch_end(self, epoch, logs=None):
        self._clock.epoch_end(logs["loss"], logs["val_accuracy"])


def _optimizer(settings: dict) -> keras.optimizers.Optimizer:
    rate, rho, epsilon = settings["learning_rate"], settings["rho"], settings["epsilon"]
    if settings["name"] == "rmsprop":
        return keras.optimizers.RMSprop(rate, rho=rho, epsilon=epsilon**2)
    return keras.optimizers.Adadelta(rate, rho=rho, epsilon=epsilon)
