"""MNIST with a multilayer perceptron: two hidden layers with dropout."""

import math

import numpy as np

from epochcost.models import Model, Split, from_zero_to_one


class MnistMlp(Model):
    """Two hidden layers with dropout."""

    def inputs(self, arrays, hyper: dict) -> Split:
        """Pictures as 784 floats from 0 to 1."""

        def flat(x: np.ndarray) -> np.ndarray:
            return from_zero_to_one(x.reshape(len(x), -1))

        return Split(
            flat(arrays["x_train"]),
            arrays["y_train"],
            flat(arrays["x_validation"]),
            arrays["y_validation"],
        )

    def keras_model(self, split: Split, hyper: dict):
        import keras
        from keras import layers

        return keras.Sequential(
            [
                keras.Input(split.shape),
                layers.Dense(hyper["units"], activation="relu"),
                layers.Dropout(hyper["dropout"]),
                layers.Dense(hyper["units"], activation="relu"),
                layers.Dropout(hyper["dropout"]),
                layers.Dense(hyper["classes"]),
            ]
        )

    def torch_model(self, split: Split, hyper: dict):
        from torch import nn

        return nn.Sequential(
            nn.Linear(math.prod(split.shape), hyper["units"]),
            nn.ReLU(),
            nn.Dropout(hyper["dropout"]),
            nn.Linear(hyper["units"], hyper["units"]),
            nn.ReLU(),
            nn.Dropout(hyper["dropout"]),
            nn.Linear(hyper["units"], hyper["classes"]),
        )
