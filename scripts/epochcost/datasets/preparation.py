"""From verified files, or from nothing at all, to arrays."""

import importlib
from collections import Counter
from pathlib import Path

import numpy as np

from epochcost import files
from epochcost.datasets import arrays, download
from epochcost.errors import InputError

# Data sets that can be prepared, and the module of this package that does it.
MODULES = {
    "mnist": "mnist",
    "cifar10": "cifar10",
    "imdb": "imdb",
    "twitter": "twitter",
    "nietzsche": "nietzsche",
}
_SYNTHETIC_SEED = 20171128


def prepare(name: str, kind: str, raw: Path, folder: Path) -> Path:
    """Prepare data set `name` into `folder`; the same files always give the same arrays.

    Args:
        kind: complete or subset (from the files of `raw/name`), or synthetic (generated).

    Returns:
        The path of the manifest.

    Raises:
        InputError: the data set cannot be prepared yet, or a file is missing or damaged.
    """
    if name not in MODULES:
        raise InputError(
            f"{name} cannot be prepared yet; data sets that can: {', '.join(sorted(MODULES))}"
        )
    module = importlib.import_module(f"epochcost.datasets.{MODULES[name]}")
    if kind == "synthetic":
        values = module.synthetic(np.random.default_rng(_SYNTHETIC_SEED))
        return arrays.save(folder, values, name, kind, "synthetic", {}, {})
    fetched = files.read_json(raw / name / f"{kind}.json")
    inputs = {file["name"]: file["sha256"] for file in fetched["files"]}
    paths = {}
    for file_name, checksum in inputs.items():
        path = raw / name / file_name
        if not path.is_file():
            raise InputError(f"{path} is missing; delete {raw / name / kind}.json and run again")
        paths[file_name] = download.verified(path, checksum)
    skipped: Counter[str] = Counter()
    values = module.prepare(paths, skipped)
    return arrays.save(folder, values, name, kind, fetched["source"], inputs, dict(skipped))
