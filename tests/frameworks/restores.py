"""Print how many variables of a Keras training another model has after `_restore`, and how many
of them its own start would not have had. Argument: backend."""

import importlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

importlib.import_module(f"epochcost.frameworks.keras_{sys.argv[1]}")

import keras

from epochcost import models
from epochcost.frameworks import keras_fit, keras_recipe
from epochcost.models import recipes

RECIPE = recipes.load(Path(__file__).resolve().parents[2] / "config/workloads.yaml")["mnist_mlp"]


def model(seed: int):
    keras.utils.set_random_seed(seed)
    built = models.load("mnist_mlp").keras_model(SPLIT, RECIPE["model"])
    optimizer, loss = (
        keras_recipe.optimizer_of(RECIPE["optimizer"]),
        keras_recipe.loss_of(RECIPE["loss"]),
    )
    built.compile(optimizer=optimizer, loss=loss)
    return built


def values(of) -> list[np.ndarray]:
    return [keras.ops.convert_to_numpy(one) for one in keras_fit.variables_of(of)]


rng = np.random.default_rng(1)
x, y = rng.random((512, 784), np.float32), rng.integers(0, 10, 512)
SPLIT = models.Split(x, y)
trained, other = model(1), model(2)
trained.fit(x, y, batch_size=128, epochs=2, verbose=0)
other.optimizer.build(other.trainable_variables)
before = values(other)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "state")
    keras_fit.save(trained, path)
    keras_fit.restore(other, 3, path)
kept, after = values(trained), values(other)
same = [np.array_equal(a, b) for a, b in zip(kept, after, strict=True)]
moved = [not np.array_equal(a, b) for a, b in zip(before, after, strict=True)]
print(json.dumps({"variables": len(kept), "same": sum(same), "moved": sum(moved)}))
