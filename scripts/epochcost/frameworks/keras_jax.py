"""Keras on JAX."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import jax

from epochcost.frameworks import keras_fit
from epochcost.frameworks.choices import kind_of, memory_choices, of_device
from epochcost.frameworks.framework import Framework, Task
from epochcost.measure.clock import Clock
from epochcost.measure.extent import Extent


class KerasJax(Framework):
    """Keras with JAX, which compiles each step."""

    VERSION = f"keras {keras_fit.keras.__version__}, jax {jax.__version__}"

    def choices(self, recipe: dict) -> dict[str, list]:
        """The settings.

        steps_per_execution: training steps per call of JAX.
        """
        return of_device(self.device(), memory_choices() | {"steps_per_execution": [1, 10]})

    def train(self, task: Task, clock: Clock) -> keras_fit.Predict:
        count = task.settings.get("devices", 1)
        if count > 1:
            _check_batches(task.recipe["batch_size"], clock.extent, count)
            keras = keras_fit.keras
            chosen = keras.distribution.list_devices(self.device())[:count]
            keras.distribution.set_distribution(keras.distribution.DataParallel(devices=chosen))
        return keras_fit.train(task, clock)

    def device(self) -> str:
        return kind_of(jax.default_backend())

    def devices(self) -> int:
        """Without a GPU they are virtual."""
        return len(jax.devices())

    def threads(self) -> int:
        """JAX uses all cores that it may, and does not report how many."""
        return 0


def _check_batches(batch: int, extent: Extent, count: int) -> None:
    """Fail where batches cannot be divided evenly, as JAX requires.

    A failed run and no bad input: how many samples there are is known only here, and the other
    trainings of a call go on.
    """
    for samples in (batch, extent.samples % batch, extent.evaluation_samples % batch):
        if samples % count:
            raise RuntimeError(
                f"keras-jax cannot divide a batch of {samples} samples over {count} devices"
            )
