"""Keras on JAX."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import jax

from epochcost.frameworks import keras_fit, kind_of, memory_choices, of_device

VERSION = f"keras {keras_fit.keras.__version__}, jax {jax.__version__}"
# How training can fail, besides a non-finite loss.
FAILURES = (RuntimeError, MemoryError, ArithmeticError)


def choices(recipe: dict) -> dict[str, list]:
    """Settings that do not change the mathematics, the framework's own choice first.

    steps_per_execution: training steps per call of JAX.
    """
    return of_device(device(), memory_choices() | {"steps_per_execution": [1, 10]})


def train(recipe: dict, definition, split, clock, seed: int, settings: dict):
    """Train a workload; arguments and result as for `keras_fit.train`."""
    count = settings.get("devices", 1)
    if count > 1:
        _check_batches(recipe["batch_size"], clock.extent, count)
        keras = keras_fit.keras
        chosen = keras.distribution.list_devices(device())[:count]
        keras.distribution.set_distribution(keras.distribution.DataParallel(devices=chosen))
    return keras_fit.train(recipe, definition, split, clock, seed, settings)


def _check_batches(batch: int, extent, count: int) -> None:
    """Fail where batches cannot be divided evenly, as JAX requires.

    A failed run and no bad input: how many samples there are is known only here, and the other
    trainings of a call go on.
    """
    for samples in (batch, extent.samples % batch, extent.evaluation_samples % batch):
        if samples % count:
            raise RuntimeError(
                f"keras-jax cannot divide a batch of {samples} samples over {count} devices"
            )


def device() -> str:
    """What the model trains on."""
    return kind_of(jax.default_backend())


def devices() -> int:
    """How many devices one model can be trained on; without a GPU they are virtual."""
    return len(jax.devices())


def threads() -> int:
    """0: JAX uses all cores that it may, and does not report how many."""
    return 0
