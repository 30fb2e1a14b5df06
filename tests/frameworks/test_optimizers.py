"""The optimiser of a recipe does the same to an embedding on every backend of Keras."""

import json

import pytest
from trainings import answer

# One step on one batch, in which word 0 stands 300 times, word 1 once, and word 2 not at all.
ONE_STEP = """
import importlib, json, sys
import numpy as np
from epochcost import recipes, workloads
module = importlib.import_module("epochcost.frameworks." + sys.argv[1])
from epochcost.frameworks import keras_fit, keras_recipe
recipe = recipes.load("config/workloads.yaml")["imdb_fasttext"]
optimizer = json.loads(sys.argv[2]) or recipe["optimizer"]
keras_fit.keras.utils.set_random_seed(1)  # a gradient near 0 would meet the epsilon
x = np.zeros((4, 100), np.int32)
x[0, 0], x[1:, :] = 1, 0
x[2:, 40:] = 3
y = np.array([1, 1, 0, 1], np.uint8)
split = workloads.Split(x, y, vocabulary=4)
model = workloads.load("imdb_fasttext").keras_model(split, recipe["model"])
model.compile(keras_recipe.optimizer_of(optimizer), keras_recipe.loss_of(recipe["loss"]))
before = np.array(model.layers[0].get_weights()[0])
model.fit(x, y, batch_size=4, verbose=0)
moved = np.abs(model.layers[0].get_weights()[0] - before)
print(json.dumps(moved.max(axis=1).tolist()))
"""


def moved(python, framework, optimizer=None) -> list[float]:
    """How far the words went that occur often, once, never and several times."""
    return answer(python, "-c", ONE_STEP, framework.replace("-", "_"), json.dumps(optimizer))


@pytest.mark.parametrize("framework", ["keras-tensorflow", "keras-torch", "keras-jax"])
def test_adam_takes_one_step_of_its_rate_for_a_word_however_often_it_occurs(pythons, framework):
    often, once, never, several = moved(pythons[framework], framework)
    assert [often, once, several] == pytest.approx([0.001] * 3, rel=0.02)
    assert never == 0


@pytest.mark.parametrize(
    ("name", "rate", "rho", "step"),
    [
        ("rmsprop", 0.001, 0.9, 0.001 / 0.1**0.5),
        ("adadelta", 1.0, 0.95, (1e-8 / 0.05) ** 0.5),
    ],
)
def test_so_do_the_other_optimisers_on_tensorflow(pythons, name, rate, rho, step):
    optimizer = {"name": name, "learning_rate": rate, "rho": rho, "epsilon": 1e-8}
    often, _, never, _ = moved(pythons["keras-tensorflow"], "keras-tensorflow", optimizer)
    assert often == pytest.approx(step, rel=0.02)
    assert never == 0


# Keras takes a faster way for its own classes on some backends.
CLASSES = """
import importlib, json, sys
importlib.import_module("epochcost.frameworks." + sys.argv[1])
from epochcost import recipes
from epochcost.frameworks import keras_fit, keras_recipe
optimizers = keras_fit.keras.optimizers
found = []
for recipe in recipes.load("config/workloads.yaml").values():
    if sys.argv[1].replace("_", "-") in recipe["frameworks"]:
        name = {"rmsprop": "RMSprop", "adadelta": "Adadelta", "adam": "Adam"}
        own = type(getattr(optimizers, name[recipe["optimizer"]["name"]])())
        found.append([own.__name__, type(keras_recipe.optimizer_of(recipe["optimizer"])) is own])
print(json.dumps(found))
"""


@pytest.mark.parametrize("framework", ["keras-torch", "keras-jax"])
def test_the_optimiser_is_kerass_own_where_its_gradients_are_dense(pythons, framework):
    found = answer(pythons[framework], "-c", CLASSES, framework.replace("-", "_"))
    assert {name for name, _ in found} == {"RMSprop", "Adadelta", "Adam"}
    assert all(is_own for _, is_own in found), found
