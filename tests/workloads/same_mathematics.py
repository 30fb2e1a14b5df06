"""Print, as JSON, what the two definitions of a workload make of the same weights and batch.

Runs in the torch environment, where Keras has PyTorch as its backend. Dropout is off and pictures
are not moved, as in validation.
"""

import json
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch
import yaml

from epochcost import workloads


def copy_weights(source, target) -> None:
    """Give the PyTorch model the weights of the Keras model, layer by layer."""
    kinds = (torch.nn.Linear, torch.nn.Conv2d)
    layers = [layer for layer in target.modules() if isinstance(layer, kinds)]
    weighted = [layer for layer in source.layers if layer.weights and hasattr(layer, "kernel")]
    channels, side = None, None
    for ours, theirs in zip(layers, weighted, strict=True):
        kernel = keras.ops.convert_to_numpy(theirs.kernel)
        if kernel.ndim == 4:
            weight = kernel.transpose(3, 2, 0, 1)
            channels = kernel.shape[3]
        else:
            if channels:
                # Flattened pictures: Keras has channels last, PyTorch first.
                side = round((len(kernel) / channels) ** 0.5)
                kernel = kernel.reshape(side, side, channels, -1).transpose(2, 0, 1, 3)
                kernel = kernel.reshape(channels * side * side, -1)
                channels = None
            weight = kernel.T
        with torch.no_grad():
            ours.weight.copy_(torch.tensor(np.ascontiguousarray(weight)))
            ours.bias.copy_(torch.tensor(keras.ops.convert_to_numpy(theirs.bias)))


def loss_and_gradient(loss, parameters) -> list[float]:
    gradients = torch.autograd.grad(loss, parameters)
    return [loss.item(), float(torch.sqrt(sum((g.double() ** 2).sum() for g in gradients)))]


def main() -> None:
    name = sys.argv[1]
    with open("config/workloads.yaml") as file:
        recipe = yaml.safe_load(file)[name]
    shape = tuple(json.loads(sys.argv[2]))
    rng = np.random.default_rng(7)
    x = rng.random((recipe["batch_size"], *shape), np.float32)
    y = rng.integers(0, recipe["model"]["classes"], recipe["batch_size"])
    keras.utils.set_random_seed(7)
    theirs = workloads.load(name).keras_model(shape, recipe["model"])
    ours = workloads.load(name).torch_model(shape, recipe["model"]).eval()
    copy_weights(theirs, ours)
    labels = torch.tensor(y)
    pictures = torch.tensor(np.moveaxis(x, -1, 1).copy() if x.ndim == 4 else x)
    entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    weights = [variable.value for variable in theirs.trainable_variables]
    print(
        json.dumps(
            {
                "keras": loss_and_gradient(
                    entropy(labels, theirs(torch.tensor(x), training=False)), weights
                ),
                "torch": loss_and_gradient(
                    torch.nn.functional.cross_entropy(ours(pictures), labels),
                    list(ours.parameters()),
                ),
                "parameters": [theirs.count_params(), sum(p.numel() for p in ours.parameters())],
            }
        )
    )


if __name__ == "__main__":
    main()
