"""Keras on PyTorch."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import torch

from epochcost.frameworks import keras_fit

VERSION = f"keras {keras_fit.keras.__version__}, torch {torch.__version__}"
# What a training can fail with, beside a loss that is no number.
FAILURES = (RuntimeError, MemoryError, ArithmeticError)
train = keras_fit.train


def device() -> str:
    """What the model trains on."""
    return "gpu" if torch.cuda.is_available() else "cpu"


def threads() -> int:
    """Threads within one operation."""
    return torch.get_num_threads()
