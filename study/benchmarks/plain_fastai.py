"""Train one recipe in plain fastai: loaders, Learner, fit. Prints its times as one line of JSON."""

import argparse
import json
from functools import partial
from pathlib import Path

import numpy as np
import plain_data
import plain_pytorch
import torch
from torch.utils.data import TensorDataset

try:
    import torchvision  # noqa: F401
except RuntimeError:
    # Beside the CPU build of PyTorch the compiled part of torchvision's CUDA build cannot be
    # loaded, and its import fails for want of these operators, which nothing here uses.
    MISSING = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        MISSING.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

from fastai.vision.all import (
    Callback,
    CategoryBlock,
    CrossEntropyLossFlat,
    DataBlock,
    DataLoader,
    DataLoaders,
    ImageBlock,
    IndexSplitter,
    Learner,
    Normalize,
    OptimWrapper,
    accuracy,
    aug_transforms,
    imagenet_stats,
    resnet50,
    set_seed,
    vision_learner,
)

BATCH = {"mnist_cnn": 128, "cifar10_cnn": 32, "catsdogs_resnet50": 64}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload", choices=BATCH)
    parser.add_argument("--data", type=Path, required=True, help="folder of prepared arrays")
    parser.add_argument(
        "--steps", type=int, help="of an epoch, and of a validation pass; default: all"
    )
    parser.add_argument(
        "--epochs", type=int, default=1, help="(1); catsdogs_resnet50 always has two"
    )
    parser.add_argument("--seed", type=int, help="of the weights and the order; default: random")
    print(json.dumps(train(parser.parse_args())))


def train(arguments: argparse.Namespace) -> dict:
    """Train, and give the times: seconds by epoch."""
    workload, steps = arguments.workload, arguments.steps
    if arguments.seed is not None:
        set_seed(arguments.seed)
    stopwatch = Stopwatch()
    if workload == "catsdogs_resnet50":
        fine_tune(arguments.data, steps, stopwatch)
    else:
        learner = learner_of(workload, arguments.data, steps)
        with learner.no_logging(), learner.no_bar():
            learner.fit(arguments.epochs, lr=learner.opt.hypers[0]["lr"], cbs=stopwatch)
    return stopwatch.times


class Stopwatch(Callback):
    """Seconds of each epoch's training and validation, and its mean training loss."""

    def __init__(self) -> None:
        self.times: dict = {"train_s": [], "eval_s": [], "loss": []}

    def before_train(self):
        self.losses, self.samples = 0.0, 0
        self.begin = plain_pytorch.now()

    def after_batch(self):
        if self.training:
            self.losses += self.learn.loss.detach() * len(self.yb[0])
            self.samples += len(self.yb[0])

    def after_train(self):
        self.train_end = plain_pytorch.now()
        self.times["train_s"].append(self.train_end - self.begin)

    def after_epoch(self):
        self.times["eval_s"].append(plain_pytorch.now() - self.train_end)
        self.times["loss"].append((self.losses / self.samples).item())


def learner_of(workload: str, folder: Path, steps: int | None) -> Learner:
    """The PyTorch model and optimiser of a recipe, with fastai's loaders over tensors."""
    data, batch = plain_data.read(workload, folder), BATCH[workload]
    loaders = []
    for x, y in ((data.x, data.y), (data.x_validation, data.y_validation)):
        count = plain_data.short(len(y), batch, steps)
        pairs = TensorDataset(
            plain_pytorch.tensor(x[:count]), plain_pytorch.labels(workload, y[:count])
        )
        loaders.append(DataLoader(pairs, bs=batch, shuffle=not loaders))
    model = plain_pytorch.model_of(workload, data.vocabulary)
    model.apply(plain_pytorch.initialise)
    learner = Learner(
        DataLoaders(*loaders, device=plain_pytorch.DEVICE),
        model.to(plain_pytorch.DEVICE),
        loss_func=CrossEntropyLossFlat(),
        opt_func=lambda weights, lr: OptimWrapper(opt=plain_pytorch.optimizer_of(workload, model)),
        metrics=accuracy,
    )
    learner.create_opt()
    return learner


def fine_tune(folder: Path, steps: int | None, stopwatch: Stopwatch) -> None:
    """An epoch of the head alone, then one of the whole ResNet50, from random weights."""
    batch = BATCH["catsdogs_resnet50"]
    pictures, labels, counts = [], [], []
    for part in ("train", "validation"):
        y = np.load(folder / f"y_{part}.npy")
        counts.append(plain_data.short(len(y), batch, steps))
        pictures.extend(np.load(folder / f"x_{part}.npy", mmap_mode="r")[: counts[-1]])
        labels.extend(y[: counts[-1]].tolist())
    changes = aug_transforms(max_rotate=10, max_zoom=1.1, max_lighting=0.2, max_warp=0.2)
    loaders = DataBlock(
        blocks=(ImageBlock, CategoryBlock(vocab=[0, 1])),
        get_x=lambda number: pictures[number],
        get_y=lambda number: labels[number],
        splitter=IndexSplitter(list(range(counts[0], sum(counts)))),
        batch_tfms=[*changes, Normalize.from_stats(*imagenet_stats)],
    ).dataloaders(
        range(sum(counts)),
        bs=batch,
        num_workers=0,
        drop_last=False,
        device=torch.device(plain_pytorch.DEVICE),
    )
    learner = vision_learner(loaders, resnet50, pretrained=False, metrics=accuracy)
    fit = partial(learner.fit_one_cycle, 1, cbs=stopwatch)
    with learner.no_logging(), learner.no_bar():
        learner.freeze()
        fit(slice(0.003), pct_start=0.3)
        learner.unfreeze()
        fit(slice(1e-5, 3e-4), pct_start=0.05)


if __name__ == "__main__":
    main()
