"""The file of weights that a training run starts from, where a recipe names one."""

from pathlib import Path
from typing import Any

from epochcost import files
from epochcost.data import fetched
from epochcost.errors import InputError


def find(name: str, description: Path | None) -> tuple[dict[str, Any], Path | None]:
    """What the record says about the initial weights, and their file, verified.

    Args:
        name: of the weights, an entry of config/datasets.yaml.
        description: what scripts/fetch.py wrote beside the file; None: random weights.

    Raises:
        InputError: the description is of other weights, or the file is missing or damaged.
    """
    if description is None:
        return {"name": name, "source": "random", "sha256": None}, None
    about = fetched.read(description)
    if about.dataset != name:
        raise InputError(f"{description} describes {about.dataset}, not {name}")
    file, checksum = next(iter(about.checksums.items()))
    path = files.below(description.parent, file)
    if not path.is_file() or files.sha256(path) != checksum:
        raise InputError(f"{path} is missing or damaged; delete {description} and run again")
    return {"name": name, "source": about.source, "sha256": checksum}, path
