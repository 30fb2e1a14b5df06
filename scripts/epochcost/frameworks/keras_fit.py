"""Keras as most people write it: compile, fit on arrays, a callback for the clock.

Shared by the backends, which choose themselves by importing this module last (keras_tensorflow,
keras_torch, keras_jax). Keras 3 adds RMSprop's epsilon under the root where PyTorch and Keras 2
add it to the root, so its square is given.
"""

import keras

from epochcost.measurement.clock import Clock
from epochcost.workloads import Split


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
    clock.synchronise = lambda: _wait_for(model)
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


def _wait_for(model: keras.Model) -> None:
    """Return when the device has done the steps so far: reading a weight needs all of them."""
    if keras.backend.backend() == "jax":
        # On JAX the weights of the running epoch are apart from the model until they are synced.
        model.jax_state_sync()
    keras.ops.convert_to_numpy(model.trainable_variables[-1])


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
