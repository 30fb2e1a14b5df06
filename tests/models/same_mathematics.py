"""Print, as JSON, what the two definitions of each workload make of the same weights and batch.

Runs in the torch environment, where Keras has PyTorch as its backend. Dropout is off and pictures
are not moved, as in validation. Arguments: shape of a sample and vocabulary by workload, as JSON;
and the folder where the weights and the batch of each go, for Keras's other backends
(tests/models/on_backend.py).
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch
import yaml
from torch.utils.flop_counter import FlopCounterMode

from epochcost import models
from epochcost.frameworks import keras_recipe, pytorch_recipe

STEPS = 5
# Of gradients: one that is usual, and one at which the epsilon counts.
SCALES = [0.1, 1e-8]
PICTURES = 2_000


def pairs(theirs, ours):
    """(Keras variable, PyTorch parameter, how the first becomes the second) of each weight."""
    sources = [source for layer in theirs.layers for source in parts(layer)]
    targets = [target for module in ours.modules() for target in torch_parts(module)]
    channels = None
    for source, (weight, recurrent, bias) in zip(sources, targets, strict=True):
        if isinstance(source, keras.layers.Embedding):
            yield source.embeddings, weight, np.asarray
            continue
        if source.kernel.ndim == 4:
            yield source.kernel, weight, lambda kernel: kernel.transpose(3, 2, 0, 1)
            channels = source.kernel.shape[3]
        else:
            yield source.kernel, weight, lambda kernel, planes=channels: dense(kernel, planes)
            channels = None
        if recurrent is not None:
            yield source.recurrent_kernel, recurrent, np.transpose
        yield source.bias, bias, np.asarray


def parts(layer):
    """What of a Keras layer has a kernel or vectors."""
    if isinstance(layer, keras.layers.Bidirectional):
        return [layer.forward_layer.cell, layer.backward_layer.cell]
    if isinstance(layer, keras.layers.LSTM):
        return [layer.cell]
    return [layer] if layer.weights and not layer.name.startswith("random") else []


def torch_parts(module):
    """(weight, recurrent weight, bias) of what a PyTorch module has."""
    if isinstance(module, torch.nn.LSTM):
        return [
            [getattr(module, f"{name}_l0{side}") for name in ("weight_ih", "weight_hh", "bias_ih")]
            for side in ("", "_reverse")[: 1 + module.bidirectional]
        ]
    if isinstance(module, torch.nn.Embedding | torch.nn.EmbeddingBag):
        return [(module.weight, None, None)]
    if isinstance(module, torch.nn.Linear | torch.nn.Conv2d):
        return [(module.weight, None, module.bias)]
    return []


def dense(kernel, channels):
    """A dense kernel; of flattened pictures Keras has channels last, PyTorch first."""
    if channels:
        side = round((len(kernel) / channels) ** 0.5)
        kernel = kernel.reshape(side, side, channels, -1).transpose(2, 0, 1, 3)
        kernel = kernel.reshape(channels * side * side, -1)
    return kernel.T


def initial(theirs, ours) -> list[dict]:
    """Mean, spread and largest value of each weight as it starts, in both.

    Of the recurrent weights of an LSTM also how far they are from being orthogonal.
    """
    found = []
    for variable, parameter, _ in pairs(theirs, ours):
        both = {"keras": variable.value.detach(), "torch": parameter.detach()}
        described = {
            name: [float(w.mean()), float(w.std(correction=0)), float(w.abs().max())]
            for name, w in both.items()
        }
        if "recurrent_kernel" in variable.path:
            described["off_orthogonal"] = [off_orthogonal(w) for w in both.values()]
        found.append({"weight": variable.path, "size": parameter.numel(), **described})
    return found


def off_orthogonal(matrix) -> float:
    """The largest difference between the products of its short sides and those of a rotation."""
    wide = matrix if matrix.shape[0] < matrix.shape[1] else matrix.T
    return float((wide @ wide.T - torch.eye(len(wide))).abs().max())


def copy_weights(theirs, ours) -> None:
    """Give the PyTorch model the weights of the Keras model."""
    with torch.no_grad():
        for variable, parameter, change in pairs(theirs, ours):
            values = change(keras.ops.convert_to_numpy(variable))
            parameter.copy_(torch.tensor(np.ascontiguousarray(values)))


def loss_and_gradient(loss, weights) -> list[float]:
    """The loss, and the norm of its gradient for each weight."""
    gradients = torch.autograd.grad(loss, weights)
    return [loss.item(), *(float(gradient.double().norm()) for gradient in gradients)]


def dropped(theirs, ours) -> dict[str, list[float]]:
    """The shares that dropout takes, layer by layer."""
    return {
        "keras": [layer.rate for layer in theirs.layers if isinstance(layer, keras.layers.Dropout)],
        "torch": [module.p for module in ours.modules() if isinstance(module, torch.nn.Dropout)],
    }


def moved(name: str, theirs, ours, side: int) -> dict[str, dict] | None:
    """What the layers that change pictures in training do to them; None where there are none."""
    if name != "cifar10_cnn":
        return None
    # Each pixel has a value of its own, so that one sees where it has come from.
    picture = np.arange(side * side, dtype=np.float32).reshape(side, side)
    batch = np.repeat(picture[None, :, :, None], PICTURES, axis=0)

    def by_keras(training: bool):
        values = torch.tensor(batch)
        for layer in theirs.layers[:2]:
            values = layer(values, training=training)
        return values[..., 0].numpy()

    def by_torch(training: bool):
        layer = ours[0].train(training)
        return layer(torch.tensor(batch).permute(0, 3, 1, 2))[:, 0].numpy()

    ways = {"keras": by_keras, "torch": by_torch}
    return {which: seen(way(True), way(False), picture) for which, way in ways.items()}


def seen(pictures, in_validation, picture) -> dict:
    """How often pictures were shifted by how much, mirrored, or changed in another way."""
    side, counts = len(picture), {"down": Counter(), "right": Counter()}
    mirrored = unknown = 0
    reach = range(-4, 5)
    candidates = {}
    for mirror in (False, True):
        for down in reach:
            for right in reach:
                rows = np.clip(np.arange(side) - down, 0, side - 1)
                columns = np.clip(np.arange(side) - right, 0, side - 1)
                shifted = picture[np.ix_(rows, columns)]
                shifted = shifted[:, ::-1] if mirror else shifted
                candidates[shifted.tobytes()] = (down, right, mirror)
    for changed in pictures:
        found = candidates.get(np.ascontiguousarray(changed).tobytes())
        if found is None:
            unknown += 1 / len(pictures)
            continue
        counts["down"][found[0]] += 1 / len(pictures)
        counts["right"][found[1]] += 1 / len(pictures)
        mirrored += found[2] / len(pictures)
    return {
        "unmoved_in_validation": bool((in_validation == picture).all()),
        "unknown": unknown,
        "mirrored": mirrored,
        **counts,
    }


def steps(settings: dict, scale: float) -> dict[str, list[float]]:
    """Where the optimisers take some numbers when both are given the same gradients.

    tests/models/test_definitions.py draws the same, and does the sums.
    """
    rng = np.random.default_rng(9)
    start = np.zeros(100, np.float32)
    theirs = keras.Variable(start)
    keras_optimizer = keras_recipe.optimizer_of(settings)
    ours, torch_optimizers = {}, []
    for name, options in {"torch": {}, "torch_fused": {"fused_optimizer": True}}.items():
        ours[name] = torch.nn.Parameter(torch.tensor(start))
        model = torch.nn.ParameterList([ours[name]])
        torch_optimizers.append(pytorch_recipe.optimizer_of(settings, model, options))
    for _ in range(STEPS):
        gradient = torch.tensor(rng.normal(scale=scale, size=100).astype(np.float32))
        keras_optimizer.apply([gradient], [theirs])
        for optimizer, weight in zip(torch_optimizers, ours.values(), strict=True):
            weight.grad = gradient.clone()
            optimizer.step()
    moved = {"keras": theirs.value} | ours
    return {name: (end.detach() - torch.tensor(start)).tolist() for name, end in moved.items()}


def accuracies(loss: str) -> dict[str, float]:
    """The accuracy of the same logits, of which some lie between 0 and 0.5."""
    rng = np.random.default_rng(11)
    binary = loss == "binary_crossentropy"
    logits = rng.uniform(-1, 1, (500, 1 if binary else 4)).astype(np.float32)
    labels = rng.integers(0, 2 if binary else 4, 500)
    metric, ours = keras_recipe.accuracy_of(loss), pytorch_recipe.LOSSES[loss]
    metric.update_state(torch.tensor(labels), torch.tensor(logits))
    classes = ours.classes(torch.tensor(logits))
    by_hand = logits[:, 0] > 0 if binary else logits.argmax(1)
    return {
        "keras": float(metric.result()),
        "torch": float((classes == torch.tensor(labels, dtype=ours.label_type)).float().mean()),
        "by_hand": float((by_hand == labels).mean()),
    }


def main() -> None:
    sizes, folder = json.loads(sys.argv[1]), Path(sys.argv[2])
    print(json.dumps({name: compared(name, *size, folder) for name, size in sizes.items()}))


def batch(recipe: dict, shape: list[int], vocabulary: int) -> models.Split:
    """A batch at random, of the size of a recipe."""
    rng = np.random.default_rng(7)
    size = (recipe["batch_size"], *shape)
    x = rng.integers(0, vocabulary, size) if vocabulary else rng.random(size, np.float32)
    classes = recipe["model"].get("classes") or (
        2 if recipe["loss"] == "binary_crossentropy" else vocabulary
    )
    y = rng.integers(0, classes, recipe["batch_size"])
    return models.Split(x, y, vocabulary=vocabulary)


def compared(name: str, shape: list[int], vocabulary: int, folder: Path) -> dict:
    """What both definitions of a workload make of the same."""
    with open("config/workloads.yaml") as file:
        recipe = yaml.safe_load(file)[name]
    split = batch(recipe, shape, vocabulary)
    x, y = split.x_train, split.y_train
    keras.utils.set_random_seed(7)
    theirs = models.load(name).keras_model(split, recipe["model"])
    ours = models.load(name).torch_model(split, recipe["model"]).eval()
    ours.apply(pytorch_recipe.initialise)
    result = {"initial": initial(theirs, ours)}
    copy_weights(theirs, ours)
    weights = [variable.numpy() for variable in theirs.trainable_variables]
    named = {f"weights_{number}": value for number, value in enumerate(weights)}
    np.savez(folder / f"{name}.npz", x=x, y=y, vocabulary=vocabulary, **named)

    entropy = keras_recipe.loss_of(recipe["loss"])
    result["keras"] = loss_and_gradient(
        entropy(torch.tensor(y), theirs(torch.tensor(x), training=False)),
        [variable.value for variable, _, _ in pairs(theirs, ours)],
    )
    loss = pytorch_recipe.LOSSES[recipe["loss"]]
    inputs, labels = pytorch_recipe.tensors(x, y, loss, torch.device("cpu"))
    trained = [weight for weight in ours.parameters() if weight.requires_grad]
    result["torch"] = loss_and_gradient(
        loss(ours(inputs), labels), [parameter for _, parameter, _ in pairs(theirs, ours)]
    )
    result["multiply_adds"] = [
        keras_recipe.multiply_adds(theirs),
        pytorch_recipe.multiply_adds(ours, inputs[:1]),
    ]
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        ours(inputs[:1])
    result["counted_by_torch"] = counter.get_total_flops() // 2
    result["steps"] = {scale: steps(recipe["optimizer"], scale) for scale in SCALES}
    result["accuracies"] = accuracies(recipe["loss"])
    result["dropped"] = dropped(theirs, ours)
    result["moved"] = moved(name, theirs, ours, shape[0])
    result["parameters"] = [theirs.count_params(), sum(weight.numel() for weight in trained)]
    return result


if __name__ == "__main__":
    main()
