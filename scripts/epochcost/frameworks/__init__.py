"""What trains a model: one module per framework, each imported only in its own environment."""

import importlib
import os
from dataclasses import dataclass
from types import ModuleType


@dataclass(frozen=True)
class Framework:
    """A framework that epochcost can train with.

    module: the module of this package that drives it.
    environment: the family of environments in envs/ that holds it.
    """

    module: str
    environment: str


FRAMEWORKS = {
    "keras-tensorflow": Framework("keras_tensorflow", "tensorflow"),
    "keras-torch": Framework("keras_torch", "torch"),
    "keras-jax": Framework("keras_jax", "jax"),
    "pytorch": Framework("pytorch", "torch"),
    "fastai": Framework("fastai", "torch"),
}


def load(name: str, settings: dict | None = None) -> ModuleType:
    """Import the module that drives framework `name` (slow: it imports the framework).

    Args:
        settings: those that a framework reads when it is imported are made known to it.
    """
    if settings and not settings.get("onednn", True):
        os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    return importlib.import_module(f"epochcost.frameworks.{FRAMEWORKS[name].module}")
