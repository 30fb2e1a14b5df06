"""Print, as JSON, the loss of each Keras model and the norms of its gradient on a backend.

Arguments: framework, and the folder with a file of weights and batch for each workload
(tests/models/same_mathematics.py). Dropout is off and pictures are not moved, as in validation.
"""

import json
import sys
from pathlib import Path

import numpy as np

from epochcost import models
from epochcost.frameworks.framework import load
from epochcost.models import recipes


def main() -> None:
    framework, folder = sys.argv[1], Path(sys.argv[2])
    load(framework)
    print(json.dumps({given.stem: found(framework, given) for given in folder.glob("*.npz")}))


def found(framework: str, given: Path) -> list[float]:
    """The loss, and the norm of its gradient for each weight."""
    from epochcost.frameworks import keras_recipe

    name = given.stem
    recipe = recipes.load(Path("config/workloads.yaml"))[name]
    with np.load(given) as values:
        x, y, vocabulary = values["x"], values["y"], int(values["vocabulary"])
        weights = [values[f"weights_{number}"] for number in range(len(values) - 3)]
    split = models.Split(x, y, vocabulary=vocabulary)
    model = models.load(name).keras_model(split, recipe["model"])
    for variable, value in zip(model.trainable_variables, weights, strict=True):
        variable.assign(value)
    entropy = keras_recipe.loss_of(recipe["loss"])
    gradient_of = {"keras-tensorflow": by_tensorflow, "keras-jax": by_jax}[framework]
    loss, gradients = gradient_of(model, entropy, x, y)
    norms = [float(np.linalg.norm(np.asarray(one, np.float64))) for one in gradients]
    return [float(loss), *norms]


def by_tensorflow(model, entropy, x, y):
    import tensorflow as tf

    with tf.GradientTape() as tape:
        loss = entropy(y, model(x, training=False))
    variables = [variable.value for variable in model.trainable_variables]
    return loss, [tf.convert_to_tensor(one) for one in tape.gradient(loss, variables)]


def by_jax(model, entropy, x, y):
    import jax

    others = [variable.value for variable in model.non_trainable_variables]

    def loss_of(weights):
        logits, _ = model.stateless_call(weights, others, x, training=False)
        return entropy(y, logits)

    weights = [variable.value for variable in model.trainable_variables]
    return jax.value_and_grad(loss_of)(weights)


if __name__ == "__main__":
    main()
