"""Keras as most people write it: compile, fit on arrays, a callback for the clock.

Shared by the backends, which select themselves before they import this module (keras_tensorflow,
keras_torch, keras_jax).
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import keras
import numpy as np

from epochcost.frameworks import keras_recipe
from epochcost.frameworks.framework import Task
from epochcost.measure.clock import Clock, Stopwatch

Predict = Callable[[np.ndarray], np.ndarray]

# Keras's defaults; a user's keras.json may say otherwise.
keras.config.set_floatx("float32")
keras.config.set_image_data_format("channels_last")


def train(
    task: Task, clock: Clock, pipeline: Callable | None = None, repeated: Callable | None = None
) -> Predict:
    """Train a workload (`Framework.train`).

    Args:
        pipeline: makes input from (x, y, batch size, whether it is shuffled); default: Keras's own.
        repeated: makes input that repeats one batch (inputs, labels), in the way that costs the
            backend least; default: a Keras data set.
    """
    recipe, split, seed = task.recipe, task.split, task.seed
    extent, batch = clock.extent, recipe["batch_size"]
    with clock.phase("build"):
        _set_seed(seed)
        model = compiled(task, bool(extent.evaluation_steps))
        keras_recipe.check_outputs(model, recipe["loss"], split.y_train)
        clock.multiply_adds = keras_recipe.multiply_adds(model)
    clock.resume(partial(restore, model, seed + len(clock.epochs)))
    clock.synchronise = lambda: _wait_for(model)
    clock.steps_per_call = task.settings.get("steps_per_execution", 1)
    samples, held_out = extent.samples, extent.evaluation_samples
    training = {"x": split.x_train[:samples], "y": split.y_train[:samples], "batch_size": batch}
    validation = {}
    if extent.evaluation_steps:
        both = (split.x_validation[:held_out], split.y_validation[:held_out])
        validation = {"validation_data": both, "validation_batch_size": batch}
    if pipeline:
        with clock.phase("data"):
            training = {"x": pipeline(*training.values(), True)}
            if validation:
                validation = {"validation_data": pipeline(*both, batch, False)}
    reader = _ReadClock(clock)
    model.fit(
        **training,
        epochs=extent.epochs,
        initial_epoch=len(clock.epochs),
        **validation,
        verbose=0,
        callbacks=[reader],
    )
    reader.end()
    _time_input(clock, training, batch, repeated or _Repeated)
    return lambda inputs: np.asarray(model.predict_on_batch(inputs), np.float32)


def _set_seed(seed: int) -> None:
    """Seed all that is random, except the order in Keras's own pipeline on TensorFlow.

    There Keras shuffles in an operation of the data set, and with a seed for TensorFlow that
    operation gives every epoch the same order.
    """
    keras.utils.set_random_seed(seed)
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        tf.random.set_seed(None)


def _without_cudnn(model: keras.Model) -> None:
    """Let LSTMs go step by step: JAX has cuDNN's for float32, and undivided, alone."""
    for layer in model._flatten_layers():
        if hasattr(layer, "use_cudnn"):
            layer.use_cudnn = False


def compiled(task: Task, validates: bool) -> keras.Model:
    """The model of a recipe, with its loss, its optimiser and, if it is validated, accuracy."""
    recipe, settings = task.recipe, task.settings
    if settings.get("precision") == "bfloat16":
        keras.config.set_dtype_policy("mixed_bfloat16")
    model = task.model.keras_model(task.split, recipe["model"])
    if keras.backend.backend() == "jax" and ("precision" in settings or "devices" in settings):
        _without_cudnn(model)
    model.compile(
        optimizer=keras_recipe.optimizer_of(recipe["optimizer"]),
        loss=keras_recipe.loss_of(recipe["loss"]),
        metrics=[keras_recipe.accuracy_of(recipe["loss"])] if validates else None,
        steps_per_execution=settings.get("steps_per_execution", 1),
        jit_compile=settings.get("jit_compile", "auto"),
    )
    if settings.get("jit_compile") is True and not model.jit_compile:
        raise RuntimeError("Keras does not compile this model")
    model.optimizer.compiled = model.jit_compile
    return model


def _time_input(clock: Clock, training: dict, batch: int, repeated: Callable) -> None:
    """Time the input pipeline with a model that does nothing."""
    # Handing an almost empty batch over to the framework costs nothing.
    empty = repeated(np.zeros((batch, 1), np.uint8), np.zeros(batch, np.uint8))
    with clock.phase("measuring"):
        model = _Idle(name="idle")
        model.compile()

    def passes(given: dict, steps: int) -> None:
        model.fit(**given, steps_per_epoch=steps, verbose=0)

    # With shuffling, Keras would draw an order of all the batches in such a data set.
    loop, steps = {"x": empty, "shuffle": False}, clock.extent.input_steps
    with clock.phase("measuring"):
        for given in (loop, training):
            passes(given, 1)  # a warm-up
    clock.time_input(steps, partial(passes, training, steps), partial(passes, loop, steps))


class _Repeated(keras.utils.PyDataset):
    """One batch, over and over."""

    def __init__(self, *batch: np.ndarray) -> None:
        super().__init__()
        self._batch = batch

    def __len__(self) -> int:
        return 1_000_000

    def __getitem__(self, index: int) -> tuple[np.ndarray, ...]:
        return self._batch


class _Idle(keras.Model):
    """Takes batches and does nothing with them."""

    def call(self, inputs):
        return inputs

    def train_step(self, *given):
        logs = {"loss": 0.0 * keras.ops.cast(keras.ops.ravel(given[-1][0])[0], "float32")}
        # On JAX a step takes the state of the model, and returns it.
        return (logs, given[0]) if keras.backend.backend() == "jax" else logs


def _wait_for(model: keras.Model) -> None:
    """Return when the device has finished the steps so far.

    Reading a weight waits for all training steps, reading a metric's running total for those of
    validation.
    """
    if keras.backend.backend() == "jax":
        # On JAX the weights of the current epoch are kept outside the model until they are synced.
        model.jax_state_sync()
    for variable in (model.trainable_variables[-1], *model.metrics_variables[-1:]):
        keras.ops.convert_to_numpy(variable)


def variables_of(model: keras.Model) -> list:
    """All that changes while a model is trained: weights, dropout's random state, optimiser."""
    return [*model.variables, *model.optimizer.variables]


def save(model: keras.Model, path: Path) -> None:
    """Write all that is needed to resume from the end of an epoch."""
    _wait_for(model)
    values = [keras.ops.convert_to_numpy(variable) for variable in variables_of(model)]
    with open(path, "wb") as file:
        np.savez(file, *values)


def restore(model: keras.Model, seed: int, path: Path) -> None:
    """Resume from what `save` wrote; samples come in a different order than they would have."""
    _set_seed(seed)
    model.optimizer.build(model.trainable_variables)
    with np.load(path) as values:
        for number, variable in enumerate(variables_of(model)):
            variable.assign(values[f"arr_{number}"])


class _ReadClock(keras.callbacks.Callback):
    """Reads the clock where the run's extent says so.

    It has no `on_train_batch_end`: with one, Keras would wait for the loss of every step.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock, self._outside_epochs = clock, Stopwatch()

    def end(self) -> None:
        """`fit` has returned; TensorFlow may take long to shut down its input pipeline."""
        self._clock.add("finish", self._outside_epochs.seconds())

    def on_train_begin(self, logs=None):
        self._clock.add("build", self._outside_epochs.seconds())
        self._outside_epochs = Stopwatch()

    def on_epoch_begin(self, epoch, logs=None):
        self._clock.epoch_begin()

    def on_train_batch_begin(self, batch, logs=None):
        self._clock.step(batch)

    def on_test_begin(self, logs=None):
        self._clock.train_end()

    def on_test_batch_begin(self, batch, logs=None):
        self._clock.evaluation_step(batch)

    def on_epoch_end(self, epoch, logs=None):
        if "val_accuracy" not in logs:
            self._clock.train_end()
        self._clock.epoch_end(logs["loss"], logs.get("val_accuracy"))
        self._clock.checkpoint(partial(save, self.model))
        self._outside_epochs = Stopwatch()
