"""A recipe in Keras: loss, accuracy, optimiser, operations.

Keras 3 adds RMSprop's epsilon under the square root, PyTorch and Keras 2 to the root, so Keras 3
is given its square.
"""

import math

import keras
import numpy as np

from epochcost.errors import InputError
from epochcost.models import check_outputs as check_number


def multiply_adds(model: keras.Model) -> int | None:
    """Multiply-adds in the forward pass of one sample; a layer that is used twice counts once.

    None for a model that is no graph of layers of known shapes, or if a layer with matrices is of a
    kind that is not counted here.
    """
    if not model.built:
        return None
    try:
        counts = [_products(layer) for layer in model.layers]
    except (AttributeError, ValueError, TypeError):  # no graph, or a length of None
        return None
    return None if None in counts else sum(counts)


def _products(layer: keras.Layer) -> int | None:
    """The multiply-adds of a layer for one sample."""
    match layer:
        case keras.layers.Conv2D():
            _, height, width, _ = layer.output.shape
            return height * width * math.prod(layer.kernel.shape)
        case keras.layers.Dense():
            return math.prod(layer.output.shape[1:]) * layer.kernel.shape[0]
        case keras.layers.LSTM() | keras.layers.Bidirectional():
            matrices = [weights for weights in layer.weights if "kernel" in weights.name]
            return layer.input.shape[1] * sum(math.prod(weights.shape) for weights in matrices)
        case keras.layers.Embedding():
            return 0
    return None if any(len(weights.shape) > 1 for weights in layer.weights) else 0


def check_outputs(model: keras.Model, loss: str, labels: np.ndarray) -> None:
    """Refuse a model that does not give a logit for each class, as JAX trains it without a word.

    Raises:
        InputError: it gives probabilities, or as many outputs as the loss or the labels do not fit.
    """
    try:
        (output,) = model.outputs
    except (AttributeError, TypeError, ValueError):
        return  # it is no graph of layers, of which that is not known before it is called
    last = output._keras_history.operation
    name = getattr(getattr(last, "activation", None), "__name__", "")
    if name in ("softmax", "sigmoid") or isinstance(last, keras.layers.Softmax):
        raise InputError(
            f"the model ends in probabilities ({name or 'softmax'}), and the loss wants logits: "
            "leave the last activation out"
        )
    check_number(output.shape[-1], loss, labels)


def loss_of(name: str) -> keras.losses.Loss:
    """The loss of a recipe, on logits, as the mean over a batch."""
    if name == "binary_crossentropy":
        return keras.losses.BinaryCrossentropy(from_logits=True)
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def accuracy_of(loss: str) -> keras.metrics.Metric:
    """The accuracy metric that belongs to a loss; two-class logits are thresholded at 0."""
    if loss == "binary_crossentropy":
        return keras.metrics.BinaryAccuracy(name="accuracy", threshold=0.0)
    return keras.metrics.SparseCategoricalAccuracy(name="accuracy")


class _Summed:
    """An optimiser that gets one gradient for each word of a batch, however often it occurs.

    On TensorFlow the gradient of an embedding comes as slices, one for each occurrence of a word.
    Keras 3 squares the slices before it adds up those of the same word, which is a different
    algorithm from that on its other backends, in PyTorch, and in Keras 2. Words that are not in the
    batch go on by their moments, as they should.

    A dense gradient is the same sum. On a processor it takes longer; on a GPU, and where XLA
    compiles the step, it does not: XLA looks for equal words in a loop over all of them.

    compiled: whether XLA compiles the training step; set when Keras has decided that.
    """

    compiled = False

    def update_step(self, gradient, variable, learning_rate):
        import tensorflow as tf

        if isinstance(gradient, tf.IndexedSlices):
            if self.compiled or tf.config.list_physical_devices("GPU"):
                gradient = tf.convert_to_tensor(gradient)
            else:
                words, numbers = tf.unique(gradient.indices)
                values = tf.math.unsorted_segment_sum(gradient.values, numbers, tf.size(words))
                gradient = tf.IndexedSlices(values, words, gradient.dense_shape)
        super().update_step(gradient, variable, learning_rate)


def _summed(kind: type) -> type:
    """A Keras optimiser that sums the gradients of a word on every backend.

    Where gradients are dense they are sums, and it is Keras's own: on PyTorch Keras updates all
    weights in one go, but not for a class that is not its own.
    """
    if keras.backend.backend() != "tensorflow":
        return kind
    return type(f"Summed{kind.__name__}", (_Summed, kind), {})


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
    return _summed(kind)(rate, epsilon=epsilon, **options)
