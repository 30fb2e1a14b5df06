"""Print how often a framework fetched a number from its device during a quick training.

Fetching a number waits for all work before it. Arguments: framework, folder of arrays of MNIST.
"""

import json
import sys
from pathlib import Path

from epochcost import models
from epochcost.data import arrays
from epochcost.frameworks.framework import Task, load
from epochcost.measure import clock as clocks
from epochcost.measure import extent
from epochcost.models import recipes

ROOT = Path(__file__).resolve().parents[2]
waits = 0


def counted(function):
    def call(*arguments, **options):
        global waits
        waits += 1
        return function(*arguments, **options)

    return call


def count_torch():
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counting(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            global waits
            # What .item(), bool() and float() come down to.
            waits += function is torch.ops.aten._local_scalar_dense.default
            return function(*arguments, **(options or {}))

    torch.Tensor.cpu = counted(torch.Tensor.cpu)
    Counting().__enter__()
    torch.ones(1).item()
    assert waits == 1


def count_tensorflow():
    from tensorflow.python.framework import ops

    ops.EagerTensor.numpy = counted(ops.EagerTensor.numpy)
    ops.EagerTensor.__array__ = counted(ops.EagerTensor.__array__)
    ops.convert_to_tensor(1).numpy()
    assert waits >= 1


def count_jax():
    import jax
    from jax._src.array import ArrayImpl

    ArrayImpl._value = property(counted(ArrayImpl._value.fget))
    ArrayImpl.block_until_ready = counted(ArrayImpl.block_until_ready)
    jax.block_until_ready = counted(jax.block_until_ready)
    float(jax.numpy.ones(()))
    assert waits >= 1


def main():
    name, folder = sys.argv[1:]
    recipe = recipes.load(ROOT / "config/workloads.yaml")["mnist_mlp"]
    framework, model = load(name), models.load("mnist_mlp")
    {"keras-tensorflow": count_tensorflow, "keras-jax": count_jax}.get(name, count_torch)()
    split = model.inputs(arrays.load(Path(folder)), recipe["model"])
    steps = len(split.x_train) // recipe["batch_size"]
    plan = extent.Extent(
        2, steps, steps * recipe["batch_size"], (1,), 2, 2 * recipe["batch_size"], (1,)
    )
    clock = clocks.Clock(plan)
    at = {}
    begin, end = clock.epoch_begin, clock.train_end

    def epoch_begin():
        begin()
        at["begin"] = waits

    def train_end():
        at["in_steps"] = waits - at["begin"]
        end()
        at["at_border"] = waits - at["begin"] - at["in_steps"]

    clock.epoch_begin, clock.train_end = epoch_begin, train_end
    framework.train(Task(recipe, model, split, 1, {}), clock)
    print(json.dumps({"steps": steps, **at}))


main()
