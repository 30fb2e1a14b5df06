"""Print, as JSON, how a framework is set when it begins to train; nothing is trained.

Arguments: framework, workload, settings as JSON.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

from epochcost import models
from epochcost.frameworks import memory
from epochcost.frameworks.framework import Task, load
from epochcost.measure import extent
from epochcost.measure.clock import Clock
from epochcost.models import recipes

SHAPES = {"mnist_mlp": (784,), "mnist_cnn": (28, 28, 1)}
name, workload, settings = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
found = {"keeps_memory": False}


class Begun(BaseException):
    """The training has begun."""


def of_keras(model, x=None, validation_data=None, **_):
    """Takes the place of Keras's `fit`."""
    import keras

    found["steps_per_execution"] = model.steps_per_execution
    found["compiled"] = model.jit_compile
    found["precision"] = model.layers[0].compute_dtype
    layout = keras.distribution.distribution()
    found["devices"] = layout.device_mesh.devices.size if layout else 1
    if name == "keras-tensorflow":
        import tensorflow as tf

        found["devices"] = tf.distribute.get_strategy().num_replicas_in_sync
        found["autotunes"] = any(
            not hasattr(data, "options") or data.options().autotune.enabled
            for data in (x, validation_data)
        )
    raise Begun


def of_pytorch(group, model, optimizer, loss, batches, clock):
    """Takes the place of PyTorch's epoch."""
    pictures = next(batches)[0]
    found["compiled"] = type(model).__name__ == "OptimizedModule"
    look_at_torch(model, optimizer.param_groups[0], pictures)
    raise Begun


def of_fastai(callback):
    """Takes the place of what the clock does before a batch."""
    learner = callback.learn
    look_at_torch(learner.model, learner.opt.opt.param_groups[0], learner.xb[0])
    raise Begun


def look_at_torch(model, options, pictures):
    import torch

    last = {"memory_format": torch.channels_last}
    found["fused"] = options.get("fused")
    if pictures.ndim == 4:
        # Of grey pictures alone one cannot tell, nor of the first layer's weights.
        second = [weight for weight in model.parameters() if weight.ndim == 4][1]
        found["channels_last"] = second.is_contiguous(**last) and pictures.is_contiguous(**last)


def remember(*_):
    found["keeps_memory"] = True


memory.keep = remember
framework = load(name, settings)
module = sys.modules[type(framework).__module__]
if name.startswith("keras-"):
    import keras

    keras.Model.fit = of_keras
elif name == "pytorch":
    module.train_epoch = of_pytorch
else:
    module.ReadClock.before_batch = of_fastai

recipe = recipes.load(Path("config/workloads.yaml"))[workload]
if "fused_optimizer" in settings:  # which only Adam has
    recipe["optimizer"] = recipes.load(Path("config/workloads.yaml"))["imdb_bilstm"]["optimizer"]
x, y = np.zeros((64, *SHAPES[workload]), np.float32), np.zeros(64, np.uint8)
clock = Clock(extent.of("quick", recipe, 64, 64))
try:
    split = models.Split(x, y, x, y)
    framework.train(Task(recipe, models.load(workload), split, 1, settings), clock)
except Begun:
    found["threads"] = framework.threads()
    found["onednn"] = os.environ.get("TF_ENABLE_ONEDNN_OPTS") != "0"
    if "torch" in sys.modules:
        import torch

        found["onednn"] = torch.backends.mkldnn.enabled
        # So many that each thread has some.
        smallest = torch.full((10_000_000,), 1e-30) * 1e-10
        found["flushes"] = not smallest.any().item()
    print(json.dumps(found))
