"""A workload to copy: data of one's own, a small model for Keras and for PyTorch.

Copy this folder to `scripts/epochcost/models/my_workload`, any name of letters, digits and `_`,
and change both classes and `workload.yaml`.
"""

import numpy as np

from epochcost.data.dataset import DataSet
from epochcost.models import Model, Split


class MyData(DataSet):
    """One file of NumPy arrays, made by `np.savez`."""

    def prepare(self, paths, skipped):
        with np.load(paths["data.npz"]) as arrays:
            return dict(arrays)

    def synthetic(self, rng):
        return {
            "x_train": rng.random((4096, 20), np.float32),
            "y_train": rng.integers(0, 2, 4096),
            "x_validation": rng.random((512, 20), np.float32),
            "y_validation": rng.integers(0, 2, 512),
        }


class MyModel(Model):
    """One hidden layer."""

    def inputs(self, arrays, hyper):
        names = ("x_train", "y_train", "x_validation", "y_validation")
        return Split(*(arrays[name] for name in names))

    def keras_model(self, split, hyper):
        import keras
        from keras import layers

        return keras.Sequential(
            [
                keras.Input(split.shape),
                layers.Dense(hyper["units"], activation="relu"),
                layers.Dense(hyper["classes"]),
            ]
        )

    def torch_model(self, split, hyper):
        from torch import nn

        return nn.Sequential(
            nn.Linear(split.shape[0], hyper["units"]),
            nn.ReLU(),
            nn.Linear(hyper["units"], hyper["classes"]),
        )
