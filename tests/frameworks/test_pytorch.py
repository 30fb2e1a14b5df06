"""The loop of the PyTorch framework, alone and on the shares of several devices."""

import json

import pytest
from trainings import answer

BEGIN = """
import json
import torch
from torch import nn
from epochcost.models import recipes
from epochcost.frameworks import pytorch, pytorch_recipe
from epochcost.frameworks.pytorch_group import Group
from epochcost.measure.clock import Clock
from epochcost.measure.extent import Extent
from epochcost.models import Split

class Share(Group):
    '''One of several devices, whose part is looked at alone.'''
    def wrap(self, model):
        return model
    def sum(self, value):
        return value
"""

IS_TRAINED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(1, 1)
    def forward(self, x):
        seen.append(self.training)
        return self.dense(x)

seen, model = [], Model()
data = torch.zeros(4, 1), torch.zeros(4)
loss = pytorch_recipe.LOSSES["binary_crossentropy"]
clock = Clock(Extent(2, 2, 4, (1,), 1, 4, (1,)))
for _ in range(2):
    clock.epoch_begin()
    batches = pytorch.batches_of(Group(), data, 4, 2, torch.Generator())
    pytorch.train_epoch(Group(), model, torch.optim.SGD(model.parameters()), loss, batches, clock)
    clock.train_end()
    pytorch.evaluate(Group(), model, loss, data, 4, clock)
print(json.dumps(seen))
"""


def test_a_model_is_in_training_and_in_validation_what_it_should_be(printed):
    """Which says whether dropout takes units away and pictures are moved."""
    assert printed["IS_TRAINED"] == [True, True, False] * 2


EXACT = """
layer = nn.LSTM(3, 2)
exact = pytorch.in_float32(layer.forward, torch.device("cpu"))
with torch.autocast("cpu", torch.bfloat16):
    given = torch.rand(4, 3, dtype=torch.bfloat16)
    kinds = [str(form(given)[0].dtype) for form in (layer, exact)]
print(json.dumps(kinds))
"""


def test_a_layer_can_be_left_in_float32(printed):
    """As an LSTM is on a GPU, which cannot be tried here."""
    assert printed["EXACT"] == ["torch.bfloat16", "torch.float32"]


SHARES = """
class Keep:
    '''An optimiser that takes no step, and keeps the gradients.'''
    def __init__(self):
        self.seen = []
    def zero_grad(self):
        model.zero_grad()
    def step(self):
        self.seen.append(model.weight.grad.tolist()[0])

torch.manual_seed(1)
model = nn.Linear(3, 1)
data = torch.rand(5, 3), torch.tensor([0.0, 1, 1, 0, 1])
loss = pytorch_recipe.LOSSES["binary_crossentropy"]
result = {}
for name, group in (("whole", Group()), ("first", Share(0, 2)), ("second", Share(1, 2))):
    kept, clock = Keep(), Clock(Extent(1, 2, 5, (1,), 1, 5, (1,)))
    clock.epoch_begin()
    batches = pytorch.batches_of(group, data, 5, 4, torch.Generator().manual_seed(3))
    mean = pytorch.train_epoch(group, model, kept, loss, batches, clock)
    accuracy = pytorch.evaluate(group, model, loss, data, 4, clock)
    result[name] = {"gradients": kept.seen, "loss": mean.item(), "accuracy": accuracy}
print(json.dumps(result))
"""


def test_shares_of_a_batch_make_its_gradient_its_loss_and_its_accuracy(printed):
    """Of five samples in batches of four: the last batch leaves one device without any."""
    of = printed["SHARES"]
    assert len(of["whole"]["gradients"]) == 2
    for step in range(2):
        first, second, whole = (of[n]["gradients"][step] for n in ("first", "second", "whole"))
        together = [(a + b) / 2 for a, b in zip(first, second, strict=True)]
        assert together == pytest.approx(whole, rel=1e-5)
        assert first != pytest.approx(whole, rel=1e-2)
    for value in ("loss", "accuracy"):
        assert of["first"][value] + of["second"][value] == pytest.approx(of["whole"][value])


MASKS = """
import pathlib, sys, tempfile
import numpy as np
from epochcost.frameworks.framework import Task
from epochcost.models import load
recipe = recipes.load(pathlib.Path("config/workloads.yaml"))["mnist_mlp"]
split = Split(np.zeros((1, 784), np.float32), np.zeros(1, np.uint8))
masks = {}

def note(group, model, optimizer, loss, batches, clock):
    '''Takes the place of an epoch: what would dropout take away now?'''
    model.train()
    masks.setdefault(group.rank, []).append(model[2](torch.ones(1000)).tolist())
    clock.step(clock.extent.steps - 1)
    return torch.zeros(())

pytorch.train_epoch = note  # in the last part of the program
data = torch.zeros(8, 784), torch.zeros(8, dtype=torch.int64)
path = pathlib.Path(tempfile.mkdtemp()) / "epoch"
for resumed in (False, True):
    for rank in range(2):
        clock = Clock(Extent(2, 1, 8, (1,)))
        if resumed:
            clock.epochs, clock.resume_from = [one_epoch], path
        elif not rank:
            clock.keep = lambda clock, write: write(path)
        task = Task(recipe, load("mnist_mlp"), split, 1, {})
        pytorch._Share(task, data, None).fit(Share(rank, 2), clock)
        one_epoch = clock.epochs[0]
different = [a != b for a, b in zip(*masks.values(), strict=True)]
repeated = any(mask.count(mask[0]) == len(mask) for part in masks.values() for mask in part)
print(json.dumps([different, repeated]))
"""


def test_each_device_drops_units_of_its_own_also_after_an_interruption(printed):
    """Two epochs, and one more after it goes on."""
    assert printed["MASKS"] == [[True] * 3, False]


FROM_ALL = """
data = torch.arange(100.0)[:, None], torch.zeros(100)
order = torch.Generator().manual_seed(1)
epochs = [
    [x for inputs, *_ in pytorch.batches_of(Group(), data, 50, 32, order) for x in inputs.tolist()]
    for _ in range(2)
]
print(json.dumps([sorted(int(x) for (x,) in epoch) for epoch in epochs]))
"""


def test_a_short_epoch_draws_from_all_samples(printed):
    first, second = printed["FROM_ALL"]
    assert len(set(first)) == len(set(second)) == 50
    assert max(first) > 60
    assert first != second


# One program, as starting PyTorch takes longer than all of its parts.
ALL = """
import contextlib, io, json, sys
printed = {}
for name, part in json.loads(sys.argv[1]).items():
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(part, {})
    printed[name] = json.loads(output.getvalue())
print(json.dumps(printed))
"""


@pytest.fixture(scope="module")
def printed(pythons):
    """What each part prints."""
    parts = {"IS_TRAINED": IS_TRAINED, "EXACT": EXACT, "SHARES": SHARES}
    parts |= {"FROM_ALL": FROM_ALL, "MASKS": MASKS}
    given = json.dumps({name: BEGIN + part for name, part in parts.items()})
    return answer(pythons["pytorch"], "-c", ALL, given)
