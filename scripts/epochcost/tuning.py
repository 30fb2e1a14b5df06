"""What a variant changes of a framework's own settings.

`default` changes nothing, `no_onednn` does without oneDNN's kernels, `bfloat16` computes with fewer
digits, `devices_2` (3, 4, ...) trains on as many devices, `tuned` is what config/tuned.yaml has for
the machine, workload and framework.
"""

import re
from pathlib import Path
from typing import Any

import yaml

from epochcost import files
from epochcost.errors import InputError, nearest
from epochcost.frameworks import FRAMEWORKS

DEFAULT, TUNED, NO_ONEDNN, BFLOAT16 = "default", "tuned", "no_onednn", "bfloat16"
_FIXED = {DEFAULT: {}, NO_ONEDNN: {"onednn": False}, BFLOAT16: {"precision": "bfloat16"}}
_DEVICES = re.compile(r"devices_([2-9]|[1-9][0-9]+)")
_HEAD = """\
# Settings of the variant `tuned`: machine and cores -> workload -> framework. Each was the fastest
# of a small search there (scripts/tune.py); {} means that nothing beat the defaults.
"""


def variant_of(text: str) -> str:
    """A variant as it was typed.

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


def frameworks_of(variant: str, frameworks: list[str]) -> list[str]:
    """Those of the frameworks that have the variant."""
    if variant == NO_ONEDNN:
        return [name for name in frameworks if FRAMEWORKS[name].onednn]
    if variant == BFLOAT16:
        return [name for name in frameworks if FRAMEWORKS[name].bfloat16]
    if devices_of(variant) > 1:
        return [name for name in frameworks if FRAMEWORKS[name].devices]
    return frameworks


def place_of(machine: dict[str, Any]) -> str:
    """What settings are tuned for: a machine, and how many of its cores may be used."""
    return f"{machine['id']}-{machine['usable_cores']}-cores"


def settings_of(
    variant: str, path: Path, place: str, workload: str, framework: str
) -> dict[str, Any] | None:
    """What a variant changes of a framework's own settings; None where it was not tuned.

    Args:
        path: config/tuned.yaml.
        place: of the machine at hand (`place_of`).
    """
    if variant in _FIXED:
        return _FIXED[variant]
    if (devices := devices_of(variant)) > 1:
        return {"devices": devices}
    return load(path).get(place, {}).get(workload, {}).get(framework)


def needed(variant: str, path: Path, place: str, workload: str, framework: str) -> dict[str, Any]:
    """The same, where it must be there.

    Raises:
        InputError: nothing was tuned for this place, workload and framework.
    """
    found = settings_of(variant, path, place, workload, framework)
    if found is None:
        raise InputError(
            f"{workload} with {framework} is not tuned for this machine ({place}); "
            f"run: snakemake tune --config workloads={workload} frameworks={framework}"
        )
    return found


def load(path: Path) -> dict[str, Any]:
    """All tuned settings; none where the file is not there."""
    if not path.is_file():
        return {}
    try:
        content = files.read_yaml(path) or {}
        found = [s for place in content.values() for w in place.values() for s in w.values()]
        if all(isinstance(settings, dict) for settings in found):
            return content
    except (InputError, AttributeError):
        pass
    raise InputError(f"{path} is not what scripts/tune.py writes; delete it and tune again")


def save(path: Path, place: str, workload: str, framework: str, settings: dict[str, Any]) -> None:
    """Put settings into the file, in place of earlier ones of the same."""
    content = load(path)
    content.setdefault(place, {}).setdefault(workload, {})[framework] = settings
    files.write_text(path, _HEAD + yaml.safe_dump(content, sort_keys=True))


def check(settings: dict[str, Any], choices: dict[str, list], framework: str) -> None:
    """Refuse settings that a framework does not have for a recipe.

    Args:
        choices: what it has: allowed values by name.
    """
    for name, value in settings.items():
        if name not in choices:
            raise InputError(f"{framework} has no setting '{name}' here; {nearest(name, choices)}")
        if value not in choices[name]:
            allowed = ", ".join(str(choice) for choice in choices[name])
            raise InputError(f"{framework}: {name} cannot be {value}; it can be {allowed}")


def drop_stale_markers(path: Path, folder: Path) -> None:
    """Remove the markers of searches whose result is gone, so that they are made again.

    Args:
        path: config/tuned.yaml.
        folder: results/tuning, which has `<place>/<workload>/<framework>/tuned`.
    """
    known = load(path)
    for marker in folder.glob("*/*/*/tuned"):
        place, workload, framework = marker.parts[-4:-1]
        if framework not in known.get(place, {}).get(workload, {}):
            marker.unlink()
