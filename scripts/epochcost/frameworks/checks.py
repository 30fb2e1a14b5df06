"""Whether a framework, as installed here, can do what a training run asks of it."""

from importlib import metadata
from typing import Any

from epochcost.errors import InputError
from epochcost.frameworks import tuning, variants
from epochcost.frameworks.framework import Framework
from epochcost.measure import gpus
from epochcost.record.types import Machine

# From cuDNN 9.11 on, and with all of CUDA 13, GPUs older than this (T4, RTX 20) are not supported.
_OLDEST = (7, 5)
_LAST_FOR_OLDER = (9, 10)
# TensorFlow's own builds end the process on Blackwell (compute capability 10 and newer), as their
# compiler stops at PTX 8.5 (https://github.com/tensorflow/tensorflow/issues/111958).
_TOO_NEW_FOR_TENSORFLOW = (10, 0)


def check(
    framework: Framework,
    name: str,
    recipe: dict[str, Any],
    variant: str,
    settings: dict[str, Any],
    here: Machine,
) -> None:
    """Refuse what cannot be done before anything is trained.

    Args:
        framework: the one called `name`.
        settings: what the variant changes in the framework's own settings.
        here: facts about the machine (`machine.facts`).

    Raises:
        InputError: the framework does not see the GPU or the devices, or does not know a setting.
    """
    _check_device(framework, here)
    if name == "keras-tensorflow" and here.gpus:
        _check_tensorflow(framework, here)
    if variant == variants.TUNED:
        tuning.check(settings, framework.choices(recipe), name)
    elif "devices" in settings and settings["devices"] > framework.devices():
        raise InputError(
            f"{settings['devices']} devices are wanted, {framework.VERSION} sees "
            f"{framework.devices()}"
        )


def _check_device(framework: Framework, here: Machine) -> None:
    """Refuse a GPU that the framework cannot use, and another device than the record would name.

    Raises:
        InputError: the framework sees no GPU, though one may be used; its CUDA is too new for the
            driver or the GPU; or it sees a GPU that the driver's library does not.
    """
    own = "name a Python with older libraries (`python:` in config/config.yaml)"
    if not here.gpus:
        if framework.device() == "gpu":
            raise InputError(
                f"{framework.VERSION} sees a GPU, but NVML, the driver's library, does not, so the "
                "record could not say which"
            )
        return
    name, cuda = here.gpus[0].name, here.cuda_driver
    if cuda and _version("nvidia-cudnn-cu13") and int(cuda.split(".")[0]) < 13:
        raise InputError(
            f"{framework.VERSION} is built for CUDA 13, which needs driver 580 or newer; driver "
            f"{here.driver} of {name} has CUDA {cuda}: {own}"
        )
    if _needs_newer_gpus() and any(one < _OLDEST for one in gpus.compute_capabilities()):
        raise InputError(
            f"{framework.VERSION} is built for GPUs of compute capability 7.5 (T4) or newer, and "
            f"{name} is older: {own}"
        )
    if framework.device() == "cpu":
        raise InputError(
            f"{framework.VERSION} does not see {name}; "
            "set CUDA_VISIBLE_DEVICES to an empty text to measure the processor"
        )


def _check_tensorflow(framework: Framework, here: Machine) -> None:
    """Refuse a GPU that TensorFlow's own builds, which bring their CUDA, cannot compile for."""
    too_new = any(one >= _TOO_NEW_FOR_TENSORFLOW for one in gpus.compute_capabilities())
    if too_new and _version("nvidia-cudnn-cu12"):
        raise InputError(
            f"{framework.VERSION} cannot compile for {here.gpus[0].name} (compute capability "
            "10 or newer); name a Python with a build that can, such as NVIDIA's (`python:` in "
            "config/config.yaml)"
        )


def _needs_newer_gpus() -> bool:
    """Whether the CUDA libraries beside the framework have left older GPUs behind."""
    cudnn = _version("nvidia-cudnn-cu12")
    return _version("nvidia-cudnn-cu13") is not None or bool(cudnn and cudnn > _LAST_FOR_OLDER)


def _version(package: str) -> tuple[int, int] | None:
    """Major and minor version of an installed package; None without it."""
    try:
        major, minor = metadata.version(package).split(".")[:2]
    except metadata.PackageNotFoundError:
        return None
    return int(major), int(minor)
