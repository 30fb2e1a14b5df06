"""MNIST with a small convolutional network."""

import numpy as np

from epochcost.models import Model, Split, from_zero_to_one


class MnistCnn(Model):
    """Two convolutions, pooling, and a hidden layer."""

    def inputs(self, arrays, hyper: dict) -> Split:
        """Pictures as 28 x 28 x 1 floats from 0 to 1."""

        def planes(x: np.ndarray) -> np.ndarray:
            return from_zero_to_one(x[..., np.newaxis])

        return Split(
            planes(arrays["x_train"]),
            arrays["y_train"],
            planes(arrays["x_validation"]),
            arrays["y_validation"],
        )

    def keras_model(self, split: Split, hyper: dict):
        import keras
        from keras import layers

        first, second = hyper["filters"]
        after_pooling, after_dense = hyper["dropout"]
        return keras.Sequential(
            [
                keras.Input(split.shape),
                layers.Conv2D(first, hyper["kernel"], activation="relu"),
                layers.Conv2D(second, hyper["kernel"], activation="relu"),
                layers.MaxPooling2D(2),
                layers.Dropout(after_pooling),
                layers.Flatten(),
                layers.Dense(hyper["units"], activation="relu"),
                layers.Dropout(after_dense),
                layers.Dense(hyper["classes"]),
            ]
        )

    def torch_model(self, split: Split, hyper: dict):
        from torch import nn

        height, width, channels = split.shape
        first, second = hyper["filters"]
        after_pooling, after_dense = hyper["dropout"]
        lost = 2 * (hyper["kernel"] - 1)
        pixels = ((height - lost) // 2) * ((width - lost) // 2)
        return nn.Sequential(
            nn.Conv2d(channels, first, hyper["kernel"]),
            nn.ReLU(),
            nn.Conv2d(first, second, hyper["kernel"]),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Dropout(after_pooling),
            nn.Flatten(),
            nn.Linear(second * pixels, hyper["units"]),
            nn.ReLU(),
            nn.Dropout(after_dense),
            nn.Linear(hyper["units"], hyper["classes"]),
        )
