"""The variants of a training: what each changes in a framework's default settings.

`default` changes nothing, `no_onednn` does without oneDNN's kernels, `bfloat16` computes with lower
precision, `devices_2` (3, 4, ...) trains on as many devices, `tuned` is what was found for the
machine, workload and framework (tuning.py).
"""

import re
from typing import Any

from epochcost.errors import InputError, nearest

DEFAULT, TUNED, NO_ONEDNN, BFLOAT16 = "default", "tuned", "no_onednn", "bfloat16"
# All of devices_2, devices_3, ...
DEVICES = "devices"
_FIXED = {DEFAULT: {}, NO_ONEDNN: {"onednn": False}, BFLOAT16: {"precision": "bfloat16"}}
_DEVICES = re.compile(r"devices_([2-9]|[1-9][0-9]+)")


def variant_of(text: str) -> str:
    """A variant as typed, if it is valid.

    Raises:
        InputError: there is no such variant.
    """
    known = [*_FIXED, TUNED, "devices_2"]
    if text in known or devices_of(text) > 1:
        return text
    raise InputError(f"unknown variant '{text}'; {nearest(text, known)}")


def devices_of(variant: str) -> int:
    """How many devices a variant trains on."""
    several = _DEVICES.fullmatch(variant)
    return int(several[1]) if several else 1


def settings_of(variant: str) -> dict[str, Any] | None:
    """What a variant changes; None for `tuned`, which differs between machines."""
    if (devices := devices_of(variant)) > 1:
        return {"devices": devices}
    return _FIXED.get(variant)
