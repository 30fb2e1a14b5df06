"""The workloads: one module each, with the model once for Keras and once for PyTorch.

A workload's module has

    inputs(arrays)                      -> Split, float32 inputs (channels last) and labels
    keras_model(shape, hyper)           -> keras.Model that gives logits
    torch_model(shape, hyper)           -> torch.nn.Module that gives logits (channels first)

`hyper` is the `model` entry of config/workloads.yaml; `shape` is one sample's, channels last.
"""

import importlib
from dataclasses import dataclass
from types import ModuleType

import numpy as np


@dataclass(frozen=True)
class Split:
    """What a model trains on and is judged by; labels are class numbers."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_validation: np.ndarray
    y_validation: np.ndarray


def load(name: str) -> ModuleType:
    """The module of workload `name`."""
    return importlib.import_module(f"epochcost.workloads.{name}")
