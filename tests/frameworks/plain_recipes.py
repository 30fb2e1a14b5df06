"""Print, as JSON, what should be equal in our recipes and the plain scripts of study/benchmarks/.

Runs in the torch environment, where Keras has PyTorch as its backend. Arguments: shape of a sample
and vocabulary by workload, as JSON; and a folder of prepared arrays for each.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

os.environ["KERAS_BACKEND"] = "torch"
sys.path.insert(0, "study/benchmarks")
sys.path.insert(0, "tests/models")

import numpy as np
import plain_data
import plain_fastai
import plain_keras
import plain_pytorch
import same_mathematics
import torch
from torch.nn import functional

from epochcost import models
from epochcost.data import arrays
from epochcost.frameworks import keras_recipe, pytorch_recipe
from epochcost.models import recipes


def main() -> None:
    sizes, folders = json.loads(sys.argv[1]), json.loads(sys.argv[2])
    print(json.dumps({name: both(name, *size, folders[name]) for name, size in sizes.items()}))


def both(name: str, shape: list[int], vocabulary: int, folder: str) -> dict[str, list]:
    """What should be equal, as pairs of ours and the plain script's."""
    recipe = recipes.load(Path("config/workloads.yaml"))[name]
    split = same_mathematics.batch(recipe, shape, vocabulary)
    batches = [plain_keras.BATCH, plain_pytorch.BATCH, plain_fastai.BATCH]
    return {
        "batch": [recipe["batch_size"], *(of[name] for of in batches if name in of)],
        **in_keras(name, recipe, split),
        **in_pytorch(name, recipe, split),
        **data(name, recipe, Path(folder)),
    }


def in_keras(name: str, recipe: dict, split) -> dict[str, list]:
    """Layers, loss and optimiser; and what the model makes of the same weights."""
    ours = models.load(name).keras_model(split, recipe["model"])
    plain = plain_keras.compiled_model(name, split.vocabulary, split.shape[0])
    optimizer = keras_recipe.optimizer_of(recipe["optimizer"])
    plain.set_weights(ours.get_weights())
    logits = [model(torch.tensor(split.x_train), training=False) for model in (ours, plain)]
    return {
        "keras_layers": [layers(model) for model in (ours, plain)],
        "keras_loss": [settings(one) for one in (keras_recipe.loss_of(recipe["loss"]), plain.loss)],
        "keras_optimizer": [settings(one) for one in (optimizer, plain.optimizer)],
        "keras_logits": [float(one.detach().double().norm()) for one in logits],
    }


def layers(model) -> list:
    return [settings(layer) for layer in model.layers]


def settings(part) -> list:
    """Kind and settings of a part of a Keras model, without names and seeds."""
    return [type(part).__name__, without(part.get_config())]


def without(config):
    """A configuration without what differs from one object to the next; numbers to six digits."""
    if isinstance(config, float):
        return float(f"{config:.6g}")
    if isinstance(config, dict):
        left_out = ("name", "seed", "build_config", "shared_object_id")
        return {key: without(value) for key, value in config.items() if key not in left_out}
    return [without(one) for one in config] if isinstance(config, list | tuple) else config


def in_pytorch(name: str, recipe: dict, split) -> dict[str, list]:
    """Layers, initial weights and optimiser; and the loss of the same weights and batch."""
    ours = models.load(name).torch_model(split, recipe["model"])
    plain = plain_pytorch.model_of(name, split.vocabulary)
    for model, initialise in ((ours, pytorch_recipe.initialise), (plain, plain_pytorch.initialise)):
        torch.manual_seed(7)
        model.apply(initialise).eval()
    optimizers = [
        pytorch_recipe.optimizer_of(recipe["optimizer"], ours, {}),
        plain_pytorch.optimizer_of(name, plain),
    ]
    if name == "cifar10_cnn":
        moved = [moved_pictures(model[0], split.x_train) for model in (ours, plain)]
    else:
        moved = [None, None]
    loss = pytorch_recipe.LOSSES[recipe["loss"]]
    inputs, labels = pytorch_recipe.tensors(split.x_train, split.y_train, loss, torch.device("cpu"))
    binary = name in plain_pytorch.BINARY
    plain_loss = plain_pytorch.binary_loss if binary else functional.cross_entropy
    plain_labels = plain_pytorch.labels(name, split.y_train)
    return {
        "torch_layers": [[str(part) for part in model.children()] for model in (ours, plain)],
        "torch_moved": moved,
        "torch_weights": [weights(model) for model in (ours, plain)],
        "torch_optimizer": [[type(one).__name__, repr(one)] for one in optimizers],
        "torch_loss": [
            float(loss(ours(inputs), labels)),
            float(plain_loss(plain(plain_pytorch.tensor(split.x_train)), plain_labels)),
        ],
    }


def moved_pictures(layer, pictures: np.ndarray) -> list:
    """What a layer that shifts and mirrors makes of pictures in training."""
    torch.manual_seed(7)
    moved = layer.train()(pytorch_recipe.inputs_of(pictures)).numpy()
    layer.eval()
    return digest(moved)


def weights(model) -> list:
    """What each weight starts with, and whether it is trained."""
    return [[digest(one.detach().numpy()), one.requires_grad] for one in model.parameters()]


def data(name: str, recipe: dict, folder: Path) -> dict[str, list]:
    """What is trained and validated on; None where there is nothing."""
    ours = models.load(name).inputs(arrays.load(folder), recipe["model"])
    plain = plain_data.read(name, folder)
    pairs = {
        "x": (ours.x_train, plain.x),
        "y": (ours.y_train, plain.y),
        "x_validation": (ours.x_validation, plain.x_validation),
        "y_validation": (ours.y_validation, plain.y_validation),
    }
    found = {part: [digest(values) for values in two] for part, two in pairs.items()}
    return found | {"vocabulary": [ours.vocabulary, plain.vocabulary]}


def digest(values: np.ndarray | None) -> list | None:
    """Shape and checksum; the same numbers have the same one, whatever their type."""
    if values is None:
        return None
    return [list(values.shape), hashlib.sha256(values.astype(np.float64).tobytes()).hexdigest()]


if __name__ == "__main__":
    main()
