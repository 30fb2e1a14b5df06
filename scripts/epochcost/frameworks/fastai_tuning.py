"""fastai's way of fine-tuning: the head alone, then the whole model, then averaged predictions.

Three parts are timed: an epoch with the body frozen and an epoch of the whole model, both with the
one-cycle schedule, and predictions with test-time augmentation, which give the accuracy.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from fastai.data.core import DataLoaders, Datasets
from fastai.data.transforms import IntToFloatTensor, Normalize
from fastai.learner import Learner
from fastai.metrics import accuracy
from fastai.optimizer import Adam
from fastai.torch_core import TensorCategory, TensorImage, set_seed
from fastai.vision.all import aug_transforms, imagenet_stats
from fastai.vision.learner import model_meta
from torchvision.models import resnet50

from epochcost.frameworks import pytorch, pytorch_recipe
from epochcost.frameworks.fastai_clock import ReadClock
from epochcost.frameworks.framework import Task
from epochcost.measure.clock import Clock
from epochcost.measure.extent import Extent
from epochcost.models import Split


def train(task: Task, clock: Clock) -> Callable[[np.ndarray], np.ndarray]:
    """Fine-tune a model; arguments and result as for `Framework.train`."""
    recipe, split, extent = task.recipe, task.split, clock.extent
    tuning = recipe["fine_tuning"]
    place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with clock.phase("data"):
        set_seed(task.seed + len(clock.epochs))
        loaders = loaders_of(split, extent, recipe, place)
    with clock.phase("build"):
        model = task.model.torch_model(split, recipe["model"])
        model.to(place)
        learner = _learner(recipe, model, loaders)
        learner.freeze()
    clock.synchronise = pytorch.synchronise_of(place)
    rate, read = recipe["optimizer"]["learning_rate"], ReadClock(clock, keeps=False)
    frozen = tuning["frozen_epochs"]
    clock.resume(lambda path: model.load_state_dict(torch.load(path, weights_only=True)))
    with learner.no_logging(), learner.no_bar():
        cycle = {"moms": tuning["momentum"], "wd": tuning["weight_decay"], "cbs": read}
        # A run resumes only between parts; within one, the learning-rate schedule would start over.
        if not clock.epochs:
            learner.fit_one_cycle(frozen, slice(rate), pct_start=tuning["warm_up"][0], **cycle)
            clock.checkpoint(partial(_save, model))
        learner.unfreeze()
        if len(clock.epochs) < recipe["epochs"]:
            rates, warm_up = slice(*tuning["unfrozen_rates"]), tuning["warm_up"][1]
            learner.fit_one_cycle(recipe["epochs"] - frozen, rates, pct_start=warm_up, **cycle)
            clock.checkpoint(partial(_save, model))
        with clock.phase("predict"):
            odds, labels = learner.tta(n=tuning["views"])
            clock.accuracy = accuracy(odds, labels).item()
    with clock.phase("measuring"):
        sample = torch.zeros(1, 3, *split.shape[:2], device=place)
        clock.multiply_adds = pytorch_recipe.multiply_adds(model, sample)
    pytorch.time_input(clock, lambda: loaders.train)
    return partial(pytorch.predict, model, place=place)


def _learner(recipe: dict, model: torch.nn.Module, loaders: DataLoaders) -> Learner:
    """The model with its loss, optimiser and accuracy metric; its head can be trained alone."""
    optimizer = recipe["optimizer"]
    momenta = {"mom": optimizer["beta_1"], "sqr_mom": optimizer["beta_2"]}
    return Learner(
        loaders,
        model,
        loss_func=pytorch_recipe.LOSSES[recipe["loss"]],
        opt_func=partial(Adam, **momenta, eps=optimizer["epsilon"]),
        splitter=model_meta[resnet50]["split"],
        metrics=accuracy,
    )


def _save(model: torch.nn.Module, path: Path) -> None:
    """Write what the next part starts from; fine-tuning resets the optimiser between its parts."""
    pytorch.write(model.state_dict(), path)


def loaders_of(split: Split, extent: Extent, recipe: dict, place: torch.device) -> DataLoaders:
    """Pictures from memory one by one, randomly augmented batch by batch."""
    tuning = recipe["fine_tuning"]
    samples, held_out = extent.samples, extent.evaluation_samples
    pictures = [split.x_train[:samples], split.x_validation[:held_out]]
    labels = [split.y_train[:samples], split.y_validation[:held_out]]
    border = len(pictures[0])

    def picture(number: int) -> TensorImage:
        part, index = (0, number) if number < border else (1, number - border)
        # The arrays may be memory-mapped files, which must not be written to: hence the copy.
        return TensorImage(torch.from_numpy(pictures[part][index].copy()).permute(2, 0, 1))

    def label(number: int) -> TensorCategory:
        part, index = (0, number) if number < border else (1, number - border)
        return TensorCategory(int(labels[part][index]))

    count = border + len(pictures[1])
    datasets = Datasets(
        range(count), [[picture], [label]], splits=[range(border), range(border, count)]
    )
    changes = aug_transforms(
        max_rotate=tuning["rotate"], max_zoom=tuning["zoom"],
        max_lighting=tuning["lighting"], max_warp=tuning["warp"],
    )  # fmt: skip
    return datasets.dataloaders(
        bs=recipe["batch_size"],
        num_workers=0,
        device=place,
        drop_last=False,
        after_batch=[IntToFloatTensor(), *changes, Normalize.from_stats(*imagenet_stats)],
    )
