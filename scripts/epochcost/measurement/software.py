"""Which software trains, and how it is set, as a record holds it."""

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from epochcost import __version__
from epochcost.measurement import machine

_PACKAGES = (
    "tensorflow",
    "tensorflow-cpu",
    "keras",
    "torch",
    "torchvision",
    "fastai",
    "jax",
    "jaxlib",
    "jax-cuda13-plugin",
    "numpy",
    # What GPUs are reached through, as far as it is installed with the framework.
    "nvidia-cuda-runtime",
    "nvidia-cuda-runtime-cu12",
    "nvidia-cudnn-cu12",
    "nvidia-cudnn-cu13",
    "nvidia-nccl-cu12",
    "nvidia-nccl-cu13",
)


def describe(framework: ModuleType, settings: dict[str, Any]) -> dict[str, Any]:
    """What of a record says which software trained, and how it was set.

    Args:
        framework: the loaded framework (`frameworks.load`).
        settings: what differs from the framework's own.
    """
    about = {
        "python": platform.python_version(),
        "epochcost": __version__,
        "framework_version": framework.VERSION,
        "packages": _versions(),
        "device": framework.device(),
        "threads": machine.allowed_cores() if framework.threads() == 0 else framework.threads(),
        "settings": settings,
        "environment": _environment(),
    }
    return about | getattr(framework, "SOFTWARE", {})  # of one in a Python of its own


def _environment() -> str:
    """Where this interpreter's packages come from."""
    if container := os.environ.get("EPOCHCOST_CONTAINER"):  # envs/Dockerfile, envs/apptainer.def
        return container
    if Path(sys.prefix, "conda-meta").is_dir():
        return "conda"
    return "venv" if sys.prefix != sys.base_prefix else "system"


def _versions() -> dict[str, str]:
    """The installed versions of the packages that decide speed."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
