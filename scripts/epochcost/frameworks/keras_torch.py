"""Keras on PyTorch."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import torch

from epochcost.frameworks import (
    keras_fit,
    kind_of,
    memory_choices,
    of_device,
    pytorch_process,
    thread_choices,
)

VERSION = f"keras {keras_fit.keras.__version__}, torch {torch.__version__}"
# How training can fail, besides a non-finite loss.
FAILURES = (RuntimeError, MemoryError, ArithmeticError)


def choices(recipe: dict) -> dict[str, list]:
    """Settings that do not change the mathematics, the framework's own choice first.

    jit_compile: whether torch.compile compiles the training step.
    onednn: whether oneDNN's kernels are used.
    flush_denormal: whether the processor flushes denormal numbers to 0.
    """
    known = memory_choices() | {
        "jit_compile": ["auto", True],
        "onednn": [True, False],
        **pytorch_process.flush_choices(),
        **thread_choices(pytorch_process.DEFAULT_THREADS),
    }
    return of_device(device(), known)


def train(recipe: dict, definition, split, clock, seed: int, settings: dict):
    """Train a workload; arguments and result as for `keras_fit.train`."""
    pytorch_process.apply(settings)
    return keras_fit.train(recipe, definition, split, clock, seed, settings)


def device() -> str:
    """What the model trains on: Keras chooses, and may be told (KERAS_TORCH_DEVICE)."""
    return kind_of(keras_fit.keras.ops.zeros(()).device.type)


def threads() -> int:
    """Threads within one operation."""
    return torch.get_num_threads()
