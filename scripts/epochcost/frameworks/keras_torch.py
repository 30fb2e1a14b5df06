"""Keras on PyTorch."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import torch

from epochcost.frameworks import keras_fit, pytorch_process
from epochcost.frameworks.choices import kind_of, memory_choices, of_device, thread_choices
from epochcost.frameworks.framework import Framework, Task
from epochcost.measure.clock import Clock


class KerasTorch(Framework):
    """Keras with PyTorch's tensors, eager."""

    VERSION = f"keras {keras_fit.keras.__version__}, torch {torch.__version__}"

    def choices(self, recipe: dict) -> dict[str, list]:
        """The settings.

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
        return of_device(self.device(), known)

    def train(self, task: Task, clock: Clock) -> keras_fit.Predict:
        pytorch_process.apply(task.settings)
        return keras_fit.train(task, clock)

    def device(self) -> str:
        """Keras chooses, and may be told (KERAS_TORCH_DEVICE)."""
        return kind_of(keras_fit.keras.ops.zeros(()).device.type)

    def threads(self) -> int:
        return torch.get_num_threads()
