"""Keras on JAX."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import jax

from epochcost.frameworks import keras_fit

VERSION = f"keras {keras_fit.keras.__version__}, jax {jax.__version__}"
# What a training can fail with, beside a loss that is no number.
FAILURES = (RuntimeError, MemoryError, ArithmeticError)
train = keras_fit.train


def choices(recipe: dict) -> dict[str, list]:
    """Settings that leave the mathematics as they are, the framework's own choice first.

    steps_per_execution: training steps in one call of JAX.
    """
    return {"steps_per_execution": [1, 10]}


def device() -> str:
    """What the model trains on."""
    return "gpu" if jax.default_backend() == "gpu" else "cpu"


def threads() -> int:
    """0: JAX takes all cores that it may use, and does not say how many."""
    return 0
