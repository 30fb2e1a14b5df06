"""Print, as JSON, the batches that Keras is given in each of two epochs; nothing is trained.

Arguments: framework, settings as JSON, how many of the epochs are done already.
Sample n is the number n, and so is its label.
"""

import json
import sys
from pathlib import Path

import numpy as np

from epochcost import models
from epochcost.frameworks.framework import Task, load
from epochcost.measure import extent
from epochcost.measure.clock import Clock, Epoch
from epochcost.models import recipes

SAMPLES, BATCH = 100, 32


class Begun(BaseException):
    """The training has begun."""


def watch() -> list:
    """Let Keras's `fit` give its input to a model that keeps the batches, in the list returned."""
    import keras

    from epochcost.frameworks import keras_fit

    seen = []

    class Watching(keras_fit._Idle):
        def train_step(self, *given):
            inputs, labels = (np.asarray(part) for part in given[-1][:2])
            seen.append((inputs[:, 0].tolist(), labels.tolist()))
            return super().train_step(*given)

    def fit(model, **given):
        model = Watching()
        model.compile(run_eagerly=True)
        own_fit(model, **given | {"callbacks": [], "validation_data": None})
        raise Begun

    own_fit, keras.Model.fit = keras.Model.fit, fit
    return seen


def main():
    name, settings, done = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
    framework = load(name, settings)
    seen = watch()
    recipe = recipes.load(Path("config/workloads.yaml"))["mnist_mlp"]
    # As many classes as samples, so that each has a label of its own.
    model = recipe["model"] | {"classes": SAMPLES}
    recipe |= {"epochs": 2, "batch_size": BATCH, "model": model}
    y = np.arange(SAMPLES, dtype=np.uint8)
    x = np.repeat(y[:, None].astype(np.float32), 784, axis=1)
    split, clock = models.Split(x, y, x, y), Clock(extent.of("full", recipe, SAMPLES, SAMPLES))
    clock.epochs = [Epoch(number) for number in range(1, done + 1)]
    try:
        framework.train(Task(recipe, models.load("mnist_mlp"), split, 1, settings), clock)
    except Begun:
        steps = -(-SAMPLES // BATCH)
        print(json.dumps([seen[n : n + steps] for n in range(0, len(seen), steps)]))


main()
