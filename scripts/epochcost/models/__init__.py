"""The reference workloads: one file each, with a `Model`; and two templates to copy."""

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from epochcost import plugins
from epochcost.errors import InputError, blamed
from epochcost.models.split import Split, check_outputs, check_split, from_zero_to_one

__all__ = ["Model", "Split", "check", "check_outputs", "check_split", "from_zero_to_one", "load"]


class Model:
    """A workload's model, once for Keras and once for PyTorch.

    To add one, copy the folder `models/template` (or `template_torch`: any module, with its own
    loss and optimiser) under the name of the workload: it holds a class like this one, and the
    workload's entry. Override what is needed: `keras_model` where Keras
    trains it, `torch_model` where PyTorch or fastai does. Import a framework inside of these.

    `hyper` is the `model` part of the entry (config/workloads.yaml). Mistakes may raise anything:
    they are reported with the line of the file.
    """

    def inputs(self, arrays: dict[str, np.ndarray], hyper: dict[str, Any]) -> Split:
        """What is trained and validated on, of the data set's arrays (`data.DataSet`)."""
        raise NotImplementedError

    def keras_model(self, split: Split, hyper: dict[str, Any]):
        """A `keras.Model` that gives logits; pictures have their channels last."""
        raise NotImplementedError

    def torch_model(self, split: Split, hyper: dict[str, Any]):
        """A `torch.nn.Module` that gives logits, or what `torch_loss` takes.

        Pictures have their channels first.
        """
        raise NotImplementedError

    def torch_loss(self, hyper: dict[str, Any]):
        """For `loss: own`: (outputs, labels) -> the mean loss of a batch, a scalar tensor.

        Labels are as `inputs` gives them, of any shape: float32, or int64 where they are whole.
        """
        raise NotImplementedError

    def torch_optimizer(self, model, hyper: dict[str, Any], steps: int):
        """For `optimizer: {name: own}`: a `torch.optim.Optimizer`; or it and its schedule.

        A schedule is stepped after each of the `steps` of a whole training.
        """
        raise NotImplementedError

    def sample(
        self, predict: Callable[[np.ndarray], np.ndarray], split: Split, hyper: dict, seed: int
    ) -> str:
        """Text that the trained model writes, for a recipe that ends with more than training.

        Args:
            predict: samples -> logits.
        """
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The workload that it is the model of: its module's name."""
        return type(self).__module__.rpartition(".")[2]

    def has(self, method: str) -> bool:
        """Whether this model has a method of its own."""
        return getattr(type(self), method, None) is not getattr(Model, method)


def check(name: str) -> str:
    """The path of the module of workload `name`, which is not imported.

    Raises:
        InputError: there is none.
    """
    found = importlib.util.find_spec(f"epochcost.models.{name}")
    if found is None or found.origin is None:
        raise InputError(f"there is no scripts/epochcost/models/{name}.py with the model")
    return found.origin


def load(name: str, needs: tuple[str, ...] = ()) -> Model:
    """The model of workload `name`.

    Args:
        needs: the methods that it must have.

    Raises:
        InputError: there is no such module, it cannot be imported, or it lacks a method.
    """
    path = check(name)
    with blamed(path):
        model = plugins.the_one(importlib.import_module(f"epochcost.models.{name}"), Model)
    for method in needs:
        if not model.has(method):
            raise InputError(
                f"{path} has no {method}; docs/how-to/own-workload.md says what it needs"
            )
    return model
