"""torchvision with the CPU build of PyTorch.

The package index has torchvision for the CUDA build only; with the CPU build its compiled part
cannot be loaded, and importing it fails because two of its operators (for object detection, which
nothing here uses) do not exist. Declaring them is enough: models and transforms are Python.
"""

import importlib.util
from pathlib import Path

import torch

_OPERATORS = ("nms", "qnms")
_declared = []


def complete() -> None:
    """Make torchvision importable; does nothing if its compiled part can be loaded."""
    if importlib.util.find_spec("torchvision") is None:
        raise ImportError("torchvision is not installed")
    compiled = Path(importlib.util.find_spec("torchvision").origin).with_name("_C.so")
    try:
        torch.ops.load_library(str(compiled))
    except OSError:
        library = torch.library.Library("torchvision", "DEF")
        for name in _OPERATORS:
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _declared.append(library)  # the declarations live as long as this object
