"""Which software trains, and with which settings, as a record holds it."""

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from epochcost import __version__
from epochcost.measure import machine

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
    # The libraries for GPUs, if installed with the framework.
    "nvidia-cuda-runtime",
    "nvidia-cuda-runtime-cu12",
    "nvidia-cudnn-cu12",
    "nvidia-cudnn-cu13",
    "nvidia-nccl-cu12",
    "nvidia-nccl-cu13",
)


def versions(
    framework_version: str, device: str, threads: int | None, settings: dict[str, Any]
) -> dict[str, Any]:
    """The part of a record on which software trained, and with which settings.

    Args:
        framework_version, device, threads: of the framework (`frameworks.framework.Framework`).
        settings: those that differ from the framework's own.
    """
    return {
        "python": platform.python_version(),
        "epochcost": __version__,
        "framework_version": framework_version,
        "packages": _versions(),
        "device": device,
        "threads": machine.allowed_cores() if threads == 0 else threads,
        "settings": settings,
        "environment": _environment(),
    }


def _environment() -> str:
    """Where this interpreter's packages come from."""
    if container := os.environ.get("EPOCHCOST_CONTAINER"):  # envs/Dockerfile, envs/apptainer.def
        return container
    if Path(sys.prefix, "conda-meta").is_dir():
        return "conda"
    return "venv" if sys.prefix != sys.base_prefix else "system"


def _versions() -> dict[str, str]:
    """The installed versions of the packages that determine speed."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
