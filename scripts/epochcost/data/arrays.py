"""Prepared arrays on disk: one .npy file per array, and a manifest that says what they are."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from epochcost import files
from epochcost.errors import InputError

MANIFEST = "manifest.json"
_MAPPED_BYTES = 2**30
_KEYS = {"dataset", "kind", "source", "inputs", "skipped", "arrays"}


@dataclass(frozen=True)
class Arrays:
    """A prepared data set.

    values: the arrays by name (`x_train`, `y_train`, ...), as stored.
    manifest: data set, kind, source, sha256 of the inputs, samples left out, shapes and types.
    """

    values: dict[str, np.ndarray]
    manifest: dict[str, Any]

    def __getitem__(self, name: str) -> np.ndarray:
        """The array of that name.

        Raises:
            InputError: there is none.
        """
        if name not in self.values:
            raise InputError(
                f"the prepared {self.manifest['dataset']} has no array {name}, but "
                f"{', '.join(self.values)}; another version of epochcost prepared it (then delete "
                "its folder in data/arrays), or `inputs` asks for what `prepare` does not give"
            )
        return self.values[name]


def save(
    folder: Path,
    values: dict[str, np.ndarray],
    dataset: str,
    kind: str,
    source: str,
    inputs: dict[str, str],
    skipped: dict[str, int],
) -> Path:
    """Write arrays, then the manifest that makes them readable.

    Args:
        inputs: sha256 of each file that the arrays were made from, by name.
        skipped: how many samples were left out as damaged, by reason.

    Returns:
        The path of the manifest.
    """
    described = {}
    for name, value in values.items():
        path = folder / f"{name}.npy"
        with files.atomic(path) as temporary:
            np.save(temporary, value)
        described[name] = {
            "shape": list(value.shape),
            "dtype": str(value.dtype),
            "sha256": files.sha256(path),
        }
    manifest = {
        "dataset": dataset,
        "kind": kind,
        "source": source,
        "inputs": inputs,
        "skipped": skipped,
        "arrays": described,
    }
    files.write_json(folder / MANIFEST, manifest)
    return folder / MANIFEST


def manifest_of(folder: Path) -> dict[str, Any]:
    """What the prepared data in `folder` are.

    Raises:
        InputError: the folder holds none.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"{folder} holds no prepared data (no {MANIFEST}); run: snakemake data")
    manifest = files.read_json(path)
    if not isinstance(manifest, dict) or _KEYS - manifest.keys():
        raise InputError(f"{path} is not what scripts/prepare.py writes; delete {folder}")
    return manifest


def load(folder: Path, manifest: dict[str, Any] | None = None) -> Arrays:
    """Read the arrays in `folder`.

    Args:
        manifest: what they are, where that is known (`manifest_of`).

    Raises:
        InputError: the folder holds no prepared data, or an array is damaged.
    """
    manifest = manifest or manifest_of(folder)
    values = {}
    for name, described in manifest["arrays"].items():
        array = files.below(folder, f"{name}.npy")
        if not array.is_file() or files.sha256(array) != described["sha256"]:
            raise InputError(f"{array} is missing or damaged; delete {folder} and run again")
        # Large arrays stay on disk; the system caches what fits in memory.
        mapped = "r" if array.stat().st_size > _MAPPED_BYTES else None
        values[name] = np.load(array, mmap_mode=mapped, allow_pickle=False)
    return Arrays(values, manifest)
