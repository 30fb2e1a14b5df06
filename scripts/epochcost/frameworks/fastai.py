"""fastai: a Learner over arrays in memory, with the recipe's own optimiser and `fit`.

Batches are cut from whole arrays, while fastai's own loaders assemble them sample by sample;
weights are initialised as in the PyTorch framework.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from epochcost.errors import InputError
from epochcost.frameworks import pytorch, pytorch_process, pytorch_recipe, torchvision_on_cpu
from epochcost.frameworks.framework import Task
from epochcost.frameworks.pytorch import PyTorch
from epochcost.measure.clock import Clock
from epochcost.measure.extent import Extent

torchvision_on_cpu.complete()
# ruff: noqa: E402 - fastai imports torchvision, which must be complete by then

import fastai
from fastai.data.core import DataLoaders
from fastai.data.load import DataLoader
from fastai.learner import Learner
from fastai.optimizer import OptimWrapper
from fastai.torch_core import set_seed

from epochcost.frameworks.fastai_clock import ReadClock


class FastAi(PyTorch):
    """PyTorch, with fastai's Learner around it."""

    VERSION = f"fastai {fastai.__version__}, {PyTorch.VERSION}"

    def choices(self, recipe: dict) -> dict[str, list]:
        """Those of PyTorch that fastai has."""
        left_out = {"compile"}
        if "fine_tuning" in recipe:
            left_out |= {"channels_last", "fused_optimizer"}  # fastai's own loaders and optimiser
        known = super().choices(recipe)
        return {name: values for name, values in known.items() if name not in left_out}

    def train(self, task: Task, clock: Clock) -> Callable[[np.ndarray], np.ndarray]:
        pytorch_process.apply(task.settings)
        if "fine_tuning" in task.recipe:
            # Only here: fastai.vision would make every start slower.
            from epochcost.frameworks import fastai_tuning

            return fastai_tuning.train(task, clock)
        return _fit(task, clock)


def _fit(task: Task, clock: Clock) -> Callable[[np.ndarray], np.ndarray]:
    """Train with fastai's `fit`; result as for `Framework.train`."""
    if task.split.x_validation is None:
        raise InputError("fastai trains only recipes with validation data")
    extent = clock.extent
    place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with clock.phase("data"):
        # The loaders draw their shuffling seed when created; a resumed run draws a new one.
        set_seed(task.seed + len(clock.epochs))
        loaders = _loaders(task, extent, place)
    with clock.phase("build"):
        set_seed(task.seed)
        learner = _learner(task, loaders, place)
        model = learner.model
    clock.synchronise = pytorch.synchronise_of(place)
    with learner.no_logging():
        rate, done = task.recipe["optimizer"]["learning_rate"], len(clock.epochs)
        clock.resume(partial(pytorch.restore, model, learner.opt, None))
        if done < extent.epochs:
            learner.fit(extent.epochs - done, lr=rate, cbs=ReadClock(clock))
    with clock.phase("measuring"):
        clock.multiply_adds = pytorch_recipe.multiply_adds(model, loaders.train.tensors[0][:1])
    pytorch.time_input(clock, lambda: loaders.train)
    return partial(pytorch.predict, model, place=place)


def _loaders(task: Task, extent: Extent, place: torch.device) -> DataLoaders:
    """Batches of a run's training data, shuffled, and of its validation data."""
    split, batch = task.split, task.recipe["batch_size"]
    loss = pytorch_recipe.LOSSES[task.recipe["loss"]]
    samples, held_out = extent.samples, extent.evaluation_samples
    training = split.x_train[:samples], split.y_train[:samples]
    validation = split.x_validation[:held_out], split.y_validation[:held_out]
    return DataLoaders(
        Batches(*training, loss, place, batch, shuffle=True),
        Batches(*validation, loss, place, batch, shuffle=False),
        device=place,
    )


def _learner(task: Task, loaders: DataLoaders, place: torch.device) -> Learner:
    """The model of a recipe, with its loss, optimiser and accuracy metric."""
    recipe, settings = task.recipe, task.settings
    loss = pytorch_recipe.LOSSES[recipe["loss"]]
    model = task.model.torch_model(task.split, recipe["model"])
    pytorch_recipe.check_logits(model)
    if task.split.weights is None:
        model.apply(pytorch_recipe.initialise)
    model.to(place)
    loaders.train.tensors, loaders.valid.tensors = pytorch.arrange(
        model, loaders.train.tensors, loaders.valid.tensors, settings
    )
    learner = Learner(
        loaders,
        model,
        loss_func=loss,
        opt_func=partial(_optimizer, recipe["optimizer"], model, settings),
        metrics=partial(_accuracy, loss),
    )
    learner.create_opt()
    return learner


class Batches(DataLoader):
    """Batches of arrays that are entirely in memory."""

    def __init__(self, inputs, labels, loss, place, batch: int, shuffle: bool) -> None:
        self.tensors = pytorch_recipe.tensors(inputs, labels, loss, place)
        super().__init__(self.tensors[1], bs=batch, shuffle=shuffle)

    def create_batches(self, samps):
        inputs, labels = self.tensors
        for chosen in torch.tensor(list(samps), device=labels.device).split(self.bs):
            yield inputs[chosen], labels[chosen]


def _accuracy(loss, logits, labels) -> torch.Tensor:
    """Held-out accuracy of a batch, a fraction."""
    return (loss.classes(logits) == labels).float().mean()


def _optimizer(optimizer: dict, model, settings: dict, params, lr: float) -> OptimWrapper:
    return OptimWrapper(opt=pytorch_recipe.optimizer_of(optimizer, model, settings))
