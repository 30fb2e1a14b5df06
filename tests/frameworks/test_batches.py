"""An epoch sees every sample once, in an order of its own, with its own label."""

import pytest
from trainings import answer

from epochcost import ROOT

pytestmark = pytest.mark.slow

# Each leaves `epoch`, a function that gives the batches (inputs, labels) of the next epoch.
MAKE = {
    "pytorch": """
from epochcost.frameworks import pytorch
from epochcost.frameworks.pytorch_group import Group
data, order = tuple(map(pytorch.torch.from_numpy, (x, y))), pytorch.torch.Generator()
epoch = lambda: ((a, b) for a, b, weight in pytorch.batches_of(Group(), data, len(x), 32, order))
""",
    "fastai": """
from epochcost.frameworks import fastai
loss, place = fastai.pytorch_recipe.LOSSES["categorical_crossentropy"], fastai.torch.device("cpu")
batches = fastai.Batches(x, y, loss, place, 32, True)
epoch = lambda: batches
""",
}
BEGIN = """
import json
import numpy as np
x = np.arange(100, dtype=np.float32)[:, None]
y = np.arange(100, dtype=np.uint8)
"""
END = """
epochs = [[(np.array(a)[:, 0].tolist(), np.array(b).tolist()) for a, b in epoch()] for _ in "ab"]
print(json.dumps(epochs))
"""


@pytest.mark.parametrize("framework", MAKE)
def test_every_sample_is_trained_on_once_in_a_new_order(pythons, framework):
    check(answer(pythons[framework], "-c", BEGIN + MAKE[framework] + END))


@pytest.mark.parametrize(
    ("framework", "settings"),
    [
        ("keras-tensorflow", "{}"),
        ("keras-tensorflow", '{"input_autotuning": false}'),
        ("keras-jax", "{}"),
        ("keras-torch", "{}"),
    ],
)
def test_so_it_is_in_keras(pythons, framework, settings):
    check(in_keras(pythons, framework, settings))


def test_a_resumed_run_does_not_repeat_the_orders_of_its_first_epochs(pythons):
    given = pythons, "keras-tensorflow", '{"input_autotuning": false}'
    (resumed,) = in_keras(*given, done=1)
    assert resumed not in in_keras(*given)


def in_keras(pythons, framework, settings, done=0):
    """The epochs of Keras after so many."""
    script = ROOT / "tests/frameworks/orders.py"
    return answer(pythons[framework], script, framework, settings, done)


def check(epochs):
    orders = []
    for epoch in epochs:
        assert [len(labels) for _, labels in epoch] == [32, 32, 32, 4]
        assert all(inputs == labels for inputs, labels in epoch)
        orders.append([label for _, labels in epoch for label in labels])
    assert [sorted(order) for order in orders] == [list(range(100))] * 2
    assert orders[0] != orders[1]
    assert list(range(100)) not in orders
