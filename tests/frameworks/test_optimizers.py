"""The optimiser of a recipe does the same to an embedding on every backend of Keras."""

import functools
import json

import pytest
from trainings import answer

pytestmark = pytest.mark.slow

# A step on a batch in which word 0 stands 300 times, word 1 once, and word 2 not at all; then two
# on batches of word 0 alone.
STEPS = """
import importlib, json, sys
import numpy as np
from epochcost import models
from epochcost.models import recipes
module = importlib.import_module("epochcost.frameworks." + sys.argv[1])
from epochcost.frameworks import keras_fit, keras_recipe
from epochcost.frameworks.framework import Task
recipe = recipes.load("config/workloads.yaml")["imdb_fasttext"]
given = json.loads(sys.argv[2])
searches = []
if sys.argv[1] == "keras_tensorflow":
    unique = module.tf.unique
    module.tf.unique = lambda words: searches.append(words) or unique(words)
keras_fit.keras.utils.set_random_seed(1)  # a gradient near 0 would meet the epsilon
x = np.zeros((4, 100), np.int32)
x[0, 0], x[1:, :] = 1, 0
x[2:, 40:] = 3
y = np.array([1, 1, 0, 1], np.uint8)
split = models.Split(x, y, vocabulary=4)
model = models.load("imdb_fasttext")
task = Task(recipe | given["recipe"], model, split, 1, given["settings"])
model = keras_fit.compiled(task, False)
before, moved = np.array(model.layers[0].get_weights()[0]), []
model.fit(x, y, batch_size=4, verbose=0)
for _ in range(3):
    now = model.layers[0].get_weights()[0]
    moved.append(np.abs(now - before).max(axis=1).tolist())
    model.train_on_batch(np.zeros_like(x), y)
print(json.dumps({"moved": moved, "searches": len(searches)}))
"""
BACKENDS = pytest.mark.parametrize(
    ("framework", "settings"),
    [
        ("keras-tensorflow", {}),
        ("keras-tensorflow", {"jit_compile": True}),
        ("keras-torch", {}),
        ("keras-jax", {}),
    ],
    ids=str,
)


@pytest.fixture(scope="module")
def stepped(pythons):
    """How far the words went that occur often, once, never and several times (`moved`), by step.

    Of a framework, with what is different from the recipe of imdb_fasttext, and its settings;
    `searches` says how often a training step looks for equal words.
    """

    @functools.cache
    def ask(framework, given):
        return answer(pythons[framework], "-c", STEPS, framework.replace("-", "_"), given)

    return lambda framework, recipe, settings: ask(
        framework, json.dumps({"recipe": recipe, "settings": settings})
    )


@BACKENDS
def test_adam_takes_one_step_of_its_rate_for_a_word_however_often_it_occurs(
    stepped, framework, settings
):
    found = stepped(framework, {}, settings)
    often, once, never, several = found["moved"][0]
    assert [often, once, several] == pytest.approx([0.001] * 3, rel=0.02)
    assert never == 0
    # Compiled, a search would be a loop over all words of the batch.
    assert (found["searches"] > 0) == (framework == "keras-tensorflow" and not settings)


@BACKENDS
def test_a_word_goes_on_by_its_moments_when_it_is_not_in_the_batch(stepped, framework, settings):
    # Adam's steps for a gradient g in the first one and 0 later, of which g cancels out.
    first = [0.1 * 0.9 ** (step - 1) / (1 - 0.9**step) for step in (1, 2, 3)]
    second = [0.001 * 0.999 ** (step - 1) / (1 - 0.999**step) for step in (1, 2, 3)]
    expected = sum(0.001 * m / v**0.5 for m, v in zip(first, second, strict=True))
    _, once, never, several = stepped(framework, {}, settings)["moved"][2]
    assert [once, several] == pytest.approx([expected] * 2, rel=0.02)
    assert never == 0


@pytest.mark.parametrize(
    ("name", "rate", "rho", "step"),
    [
        ("rmsprop", 0.001, 0.9, 0.001 / 0.1**0.5),
        ("adadelta", 1.0, 0.95, (1e-8 / 0.05) ** 0.5),
    ],
)
def test_so_do_the_other_optimisers_on_tensorflow(stepped, name, rate, rho, step):
    optimizer = {"name": name, "learning_rate": rate, "rho": rho, "epsilon": 1e-8}
    often, _, never, _ = stepped("keras-tensorflow", {"optimizer": optimizer}, {})["moved"][0]
    assert often == pytest.approx(step, rel=0.02)
    assert never == 0


# Keras takes a faster way for its own classes on some backends.
CLASSES = """
import importlib, json, sys
importlib.import_module("epochcost.frameworks." + sys.argv[1])
from epochcost.models import recipes
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
