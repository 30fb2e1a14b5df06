"""config/tuned.yaml: the fastest settings found, by machine, workload and framework."""

from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from epochcost import files
from epochcost.errors import InputError, nearest
from epochcost.frameworks import variants
from epochcost.record.types import Machine

_HEAD = """\
# Settings of the variant `tuned`: machine and cores -> workload -> framework. Each was the fastest
# of a small search there (scripts/tune.py), with that version of the framework, for one recipe and
# kind of data; {} means that nothing beat the defaults.
"""


class Case(NamedTuple):
    """What settings are searched for.

    place: a machine, and how many of its cores may be used (`place_of`).
    recipe: what is trained (`record.recipe_id`).
    data: complete, subset or synthetic.
    """

    place: str
    workload: str
    framework: str
    recipe: str
    data: str

    @property
    def what(self) -> str:
        """The recipe and the data in one word."""
        return f"{self.recipe}-{self.data}"

    def marker(self, number: int) -> Path:
        """The file below results/tuning that says that a search was made; the first is 1."""
        name = f"tuned-{self.what}" + (f"-{number}" if number > 1 else "")
        return Path(self.place, self.workload, self.framework, name)


_KEYS = {"settings", "version"}


def place_of(machine: Machine) -> str:
    """What settings are tuned for: a machine, and how many of its cores may be used."""
    return f"{machine.id}-{machine.usable_cores}-cores"


class Tuned(NamedTuple):
    """The fastest settings found, and the version of the framework that they were found with."""

    settings: dict[str, Any]
    version: str | None


def find(path: Path, case: Case) -> Tuned | None:
    """What was found for a case; None if nothing.

    Args:
        path: config/tuned.yaml.
    """
    known = load(path)
    for key in (case.place, case.workload, case.framework):
        known = known.get(key, {})
    entry = known.get(case.what)
    return entry and Tuned(entry["settings"], entry["version"])


def settings_of(variant: str, path: Path, case: Case) -> dict[str, Any] | None:
    """What a variant changes in a framework's default settings; None where it was not tuned."""
    if variant != variants.TUNED:
        return variants.settings_of(variant)
    found = find(path, case)
    return found and found.settings


def needed(path: Path, case: Case) -> Tuned:
    """What was found for a case that must be known.

    Raises:
        InputError: nothing was tuned for it.
    """
    found = find(path, case)
    if found is None:
        raise InputError(
            f"{case.workload} with {case.framework} is not tuned for this machine, recipe and "
            f"data ({case.place}, {case.data}); run: snakemake tune --config "
            f"workloads={case.workload} frameworks={case.framework}"
        )
    refuse_devices(found.settings)
    return found


def load(path: Path) -> dict[str, Any]:
    """All tuned settings; none if the file does not exist."""
    if not path.is_file():
        return {}
    try:
        content = files.read_yaml(path) or {}
        found = content.values()
        for _ in range(3):  # to the workloads, the frameworks, the recipes and data
            found = [one for several in found for one in several.values()]
        if all(isinstance(entry["settings"], dict) and entry.keys() == _KEYS for entry in found):
            return content
    except (InputError, AttributeError, KeyError, TypeError):
        pass
    raise InputError(f"{path} is not what scripts/tune.py writes; delete it and tune again")


def save(path: Path, case: Case, settings: dict[str, Any], version: str) -> None:
    """Put settings into the file, replacing any earlier ones for the same.

    Args:
        version: of the framework.
    """
    content = entries = load(path)
    for key in (case.place, case.workload, case.framework):
        entries = entries.setdefault(key, {})
    entries[case.what] = {"settings": settings, "version": version}
    files.write_text(path, _HEAD + yaml.safe_dump(content, sort_keys=True))


def refuse_devices(settings: dict[str, Any]) -> None:
    """Refuse a number of devices: `framework.prepare` would act on it before `check` is reached."""
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


def marker(case: Case, path: Path, folder: Path) -> Path:
    """The file that says that a case was searched; a new one where its result is gone.

    Args:
        path: config/tuned.yaml.
        folder: results/tuning, which has the markers.
    """
    made = next(n for n in count() if not (folder / case.marker(n + 1)).exists())
    return folder / case.marker(made + 1 if find(path, case) is None else max(made, 1))
