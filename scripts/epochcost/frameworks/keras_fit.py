"""Keras as most people write it: compile, fit on arrays, a callback for the clock.

Shared by the backends, which choose themselves by importing this module last (keras_tensorflow,
keras_torch, keras_jax). Keras 3 adds RMSprop's epsilon under the root where PyTorch and Keras 2
add it to the root, so its square is given.
"""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import keras
import numpy as np

from epochcost.measurement.clock import Clock, Stopwatch
from epochcost.workloads import Split

# As Keras has them of itself; a user's keras.json may say otherwise.
keras.config.set_floatx("float32")
keras.config.set_image_data_format("channels_last")


def train(
    recipe: dict,
    definition,
    split: Split,
    clock: Clock,
    seed: int,
    settings: dict,
    pipeline: Callable | None = None,
    repeated: Callable | None = None,
) -> Callable[[np.ndarray], np.ndarray]:
    """Train a workload; all that is learnt about it is left in the clock.

    Args:
        recipe: the workload's entry of config/workloads.yaml.
        definition: the workload's module.
        settings: what differs from the framework's own choice, of the backend's `choices`.
        pipeline: makes training input of (x, y, batch size); default: Keras's own.
        repeated: makes input of one batch (inputs, labels) that comes again and again, in the way
            that costs the backend least; default: a data set of Keras.

    Returns:
        The trained model as a function: a batch of samples -> logits.
    """
    schedule, batch = clock.schedule, recipe["batch_size"]
    with clock.phase("build"):
        keras.utils.set_random_seed(seed)
        if settings.get("precision") == "bfloat16":
            keras.config.set_dtype_policy("mixed_bfloat16")
        model = definition.keras_model(split, recipe["model"])
        model.compile(
            optimizer=optimizer_of(recipe["optimizer"]),
            loss=loss_of(recipe["loss"]),
            metrics=[_accuracy_of(recipe["loss"])] if schedule.evaluation_steps else None,
            steps_per_execution=settings.get("steps_per_execution", 1),
            jit_compile=settings.get("jit_compile", "auto"),
        )
        if settings.get("jit_compile") is True and not model.jit_compile:
            raise RuntimeError("Keras does not compile this model")
        clock.multiply_adds = multiply_adds(model)
    clock.resume(partial(_restore, model, seed + len(clock.epochs)))
    clock.synchronise = lambda: _wait_for(model)
    clock.steps_per_call = settings.get("steps_per_execution", 1)
    samples = schedule.samples
    training = {
        "x": split.x_train[:samples],
        "y": split.y_train[:samples],
        "batch_size": batch,
    }
    if pipeline:
        with clock.phase("data"):
            training = {"x": pipeline(*training.values())}
    validation = None
    if schedule.evaluation_steps:
        held_out = schedule.evaluation_samples
        validation = (split.x_validation[:held_out], split.y_validation[:held_out])
    reader = _ReadClock(clock)
    model.fit(
        **training,
        epochs=schedule.epochs,
        initial_epoch=len(clock.epochs),
        validation_data=validation,
        # Keras takes 32 where the training data come as batches already.
        validation_batch_size=batch,
        verbose=0,
        callbacks=[reader],
    )
    reader.end()
    first = split.x_train[:batch], split.y_train[:batch]
    _time_input(clock, training, (repeated or _Repeated)(*first))
    return lambda inputs: np.asarray(model.predict_on_batch(inputs), np.float32)


def _time_input(clock: Clock, training: dict, repeated) -> None:
    """Time the input pipeline with a model that does nothing; first steps are a warm-up."""
    steps = clock.schedule.input_steps
    with clock.phase("measuring"):
        model = _Idle(name="idle")
        model.compile()
        model.fit(repeated, steps_per_epoch=1, verbose=0)
        loop = Stopwatch()
        model.fit(repeated, steps_per_epoch=steps, verbose=0)
        loop_s = loop.seconds()
        model.fit(**training, steps_per_epoch=1, verbose=0)
    with clock.input_alone(steps, loop_s):
        model.fit(**training, steps_per_epoch=steps, verbose=0)


class _Repeated(keras.utils.PyDataset):
    """One batch, again and again."""

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
        # On JAX a step is given the state of the model, and gives it back.
        return (logs, given[0]) if keras.backend.backend() == "jax" else logs


def _wait_for(model: keras.Model) -> None:
    """Return when the device has done the steps so far.

    Reading a weight needs all steps of training, reading what a metric has summed up those of
    validation.
    """
    if keras.backend.backend() == "jax":
        # On JAX the weights of the running epoch are apart from the model until they are synced.
        model.jax_state_sync()
    for variable in (model.trainable_variables[-1], *model.metrics_variables[-1:]):
        keras.ops.convert_to_numpy(variable)


def _variables(model: keras.Model) -> list:
    """All that changes while a model is trained: weights, what dropout draws from, optimiser."""
    return [*model.variables, *model.optimizer.variables]


def _save(model: keras.Model, path: Path) -> None:
    """Write all that a training needs to go on from the end of an epoch."""
    _wait_for(model)
    values = [keras.ops.convert_to_numpy(variable) for variable in _variables(model)]
    with open(path, "wb") as file:
        np.savez(file, *values)


def _restore(model: keras.Model, seed: int, path: Path) -> None:
    """Go on from what `_save` has written; samples come in another order than they would have."""
    keras.utils.set_random_seed(seed)
    model.optimizer.build(model.trainable_variables)
    with np.load(path) as values:
        for number, variable in enumerate(_variables(model)):
            variable.assign(values[f"arr_{number}"])


class _ReadClock(keras.callbacks.Callback):
    """Reads the clock where the schedule says so.

    It has no `on_train_batch_end`: with one, Keras would wait for the loss of every step.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock, self._outside_epochs = clock, Stopwatch()

    def end(self) -> None:
        """`fit` has returned; TensorFlow may take long to take its input pipeline down."""
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
        self._clock.checkpoint(partial(_save, self.model))
        self._outside_epochs = Stopwatch()


def multiply_adds(model: keras.Model) -> int:
    """Products with their sums of one sample's way through a model: each weight, each time used."""
    count = 0
    for layer in model.layers:
        if isinstance(layer, keras.layers.Conv2D):
            _, height, width, _ = layer.output.shape
            count += height * width * math.prod(layer.kernel.shape)
        elif isinstance(layer, keras.layers.Dense):
            count += math.prod(layer.kernel.shape)
        elif isinstance(layer, keras.layers.LSTM | keras.layers.Bidirectional):
            steps = layer.input.shape[1]
            products = [weights for weights in layer.weights if "kernel" in weights.name]
            count += steps * sum(math.prod(weights.shape) for weights in products)
    return count


def loss_of(name: str) -> keras.losses.Loss:
    """The loss of a recipe, on logits, as the mean over a batch."""
    if name == "binary_crossentropy":
        return keras.losses.BinaryCrossentropy(from_logits=True)
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def _accuracy_of(loss: str) -> keras.metrics.Metric:
    """The accuracy that belongs to a loss; logits of two classes are cut at 0."""
    if loss == "binary_crossentropy":
        return keras.metrics.BinaryAccuracy(name="accuracy", threshold=0.0)
    return keras.metrics.SparseCategoricalAccuracy(name="accuracy")


class _Dense:
    """An optimiser over every weight, also those of words that a batch does not have.

    On TensorFlow the gradient of an embedding comes as slices, one for each time that a word
    occurs. Keras 3 squares the slices before it adds up those of the same word, which is another
    algorithm than on its other backends, in PyTorch, and in Keras 2.
    """

    def update_step(self, gradient, variable, learning_rate):
        import tensorflow as tf

        super().update_step(tf.convert_to_tensor(gradient), variable, learning_rate)


def _dense(kind: type) -> type:
    """An optimiser of Keras, whose gradients are dense on every backend.

    Where they are so already it is Keras's own: on PyTorch Keras takes all weights in one go, but
    not for a class of somebody else's.
    """
    if keras.backend.backend() != "tensorflow":
        return kind
    return type(f"Dense{kind.__name__}", (_Dense, kind), {})


def optimizer_of(settings: dict) -> keras.optimizers.Optimizer:
    """The optimiser of a recipe."""
    rate, epsilon = settings["learning_rate"], settings["epsilon"]
    match settings["name"]:
        case "rmsprop":
            kind, options = keras.optimizers.RMSprop, {"rho": settings["rho"]}
            epsilon = epsilon**2
        case "adadelta":
            kind, options = keras.optimizers.Adadelta, {"rho": settings["rho"]}
        case _:
            kind = keras.optimizers.Adam
            options = {name: settings[name] for name in ("beta_1", "beta_2")}
    return _dense(kind)(rate, epsilon=epsilon, **options)
