"""What a variant changes of a framework's own settings.

`default` changes nothing, `no_onednn` does without oneDNN's kernels, `tuned` is what
config/tuned.yaml has for the machine, workload and framework.
"""

from pathlib import Path
from typing import Any

import yaml

from epochcost import files
from epochcost.errors import InputError, nearest

DEFAULT, TUNED, NO_ONEDNN = "default", "tuned", "no_onednn"
VARIANTS = (DEFAULT, TUNED, NO_ONEDNN)
_FIXED = {DEFAULT: {}, NO_ONEDNN: {"onednn": False}}
_HEAD = """\
# Settings of the variant `tuned`: machine id -> workload -> framework. Each was the fastest of a
# small search on that machine (scripts/tune.py); {} means that nothing beat the defaults.
"""


def settings_of(
    variant: str, path: Path, machine_id: str, workload: str, framework: str
) -> dict[str, Any]:
    """What a variant changes of a framework's own settings.

    Raises:
        InputError: nothing was tuned for this machine, workload and framework.
    """
    if variant in _FIXED:
        return _FIXED[variant]
    found = load(path).get(machine_id, {}).get(workload, {}).get(framework)
    if found is None:
        raise InputError(
            f"{workload} with {framework} is not tuned for this machine ({machine_id}); "
            f"run: snakemake tune --config workloads={workload} frameworks={framework}"
        )
    return found


def load(path: Path) -> dict[str, Any]:
    """All tuned settings; none where the file is not there."""
    if not path.is_file():
        return {}
    return yaml.safe_load(path.read_text(encoding="utf-8")) or {}


def save(
    path: Path, machine_id: str, workload: str, framework: str, settings: dict[str, Any]
) -> None:
    """Put settings into the file, in place of earlier ones of the same."""
    content = load(path)
    content.setdefault(machine_id, {}).setdefault(workload, {})[framework] = settings
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
