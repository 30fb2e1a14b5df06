"""Whether a framework, as installed here, can do what a training run asks of it."""

import os
from types import ModuleType
from typing import Any

from epochcost import tuning, variants
from epochcost.errors import InputError
from epochcost.measurement import machine


def check(
    framework: ModuleType,
    name: str,
    recipe: dict[str, Any],
    variant: str,
    settings: dict[str, Any],
    here: dict[str, Any],
) -> None:
    """Refuse what cannot be done before anything is trained.

    Args:
        framework: the module of the framework called `name`.
        settings: what the variant changes in the framework's own settings.
        here: facts about the machine (`machine.describe`).

    Raises:
        InputError: the framework does not see the GPU or the devices, does not know a setting, or
            the machine lacks bfloat16.
    """
    _check_device(framework, here)
    if variant == variants.BFLOAT16 and not machine.has_bfloat16(framework.device()):
        raise InputError("this machine has no arithmetic for bfloat16")
    if variant == variants.TUNED:
        tuning.check(settings, framework.choices(recipe), name)
    elif "devices" in settings and settings["devices"] > framework.devices():
        raise InputError(
            f"{settings['devices']} devices are wanted, {framework.VERSION} sees "
            f"{framework.devices()}"
        )


def _check_device(framework: ModuleType, here: dict[str, Any]) -> None:
    """Refuse to train on the processor by mistake, where there is a GPU.

    Raises:
        InputError: the framework sees no GPU, and nobody has hidden it on purpose.
    """
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    if here["gpus"] and framework.device() == "cpu" and not hidden:
        raise InputError(
            f"{framework.VERSION} does not see {here['gpus'][0]['name']}; "
            "set CUDA_VISIBLE_DEVICES to an empty text to measure the processor"
        )
