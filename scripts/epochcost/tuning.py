"""config/tuned.yaml: the fastest settings found, by machine, workload and framework."""

from pathlib import Path
from typing import Any

import yaml

from epochcost import files, variants
from epochcost.errors import InputError, nearest

_HEAD = """\
# Settings of the variant `tuned`: machine and cores -> workload -> framework. Each was the fastest
# of a small search there (scripts/tune.py); {} means that nothing beat the defaults.
"""


def place_of(machine: dict[str, Any]) -> str:
    """What settings are tuned for: a machine, and how many of its cores may be used."""
    return f"{machine['id']}-{machine['usable_cores']}-cores"


def settings_of(
    variant: str, path: Path, place: str, workload: str, framework: str
) -> dict[str, Any] | None:
    """What a variant changes in a framework's default settings; None where it was not tuned.

    Args:
        path: config/tuned.yaml.
        place: of the machine at hand (`place_of`).
    """
    if variant != variants.TUNED:
        return variants.settings_of(variant)
    return load(path).get(place, {}).get(workload, {}).get(framework)


def needed(variant: str, path: Path, place: str, workload: str, framework: str) -> dict[str, Any]:
    """What a variant changes (`settings_of`), where that must be known.

    Raises:
        InputError: nothing was tuned for this place, workload and framework.
    """
    found = settings_of(variant, path, place, workload, framework)
    if found is None:
        raise InputError(
            f"{workload} with {framework} is not tuned for this machine ({place}); "
            f"run: snakemake tune --config workloads={workload} frameworks={framework}"
        )
    if variant == variants.TUNED:
        refuse_devices(found)
    return found


def load(path: Path) -> dict[str, Any]:
    """All tuned settings; none if the file does not exist."""
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
    """Put settings into the file, replacing any earlier ones for the same."""
    content = load(path)
    content.setdefault(place, {}).setdefault(workload, {})[framework] = settings
    files.write_text(path, _HEAD + yaml.safe_dump(content, sort_keys=True))


def refuse_devices(settings: dict[str, Any]) -> None:
    """Refuse a number of devices: `frameworks.load` would act on it before `check` is reached."""
    if "devices" in settings:
        raise InputError("devices are no setting to tune; use the variant devices_2 (3, 4, ...)")


def check(settings: dict[str, Any], choices: dict[str, list], framework: str) -> None:
    """Refuse settings that a framework does not have for a recipe.

    Args:
        choices: those it has: allowed values by name.
    """
    for name, value in settings.items():
        if name not in choices:
            raise InputError(f"{framework} has no setting '{name}' here; {nearest(name, choices)}")
        # To Python 1 is True, and 10.0 is 10; to a framework they may not be.
        if not any(value == one and type(value) is type(one) for one in choices[name]):
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
