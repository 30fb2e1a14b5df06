"""Prepared arrays on a node's own disk: copied once, before any clock runs."""

import shutil
import tempfile
from pathlib import Path

from epochcost import files
from epochcost.errors import InputError

_MANIFEST = "manifest.json"


def stage(folder: Path, root: Path) -> Path:
    """Copy prepared arrays to a disk of this node, if they are not there yet; returns where.

    The copy is named after what is in it, so changed data are another copy. Each array is checked
    against its sha256, here and again when a training reads it.

    Args:
        folder: the prepared arrays, perhaps on a disk that several nodes share.
        root: a folder on this node's own disk.

    Raises:
        InputError: an array is damaged.
    """
    manifest = folder / _MANIFEST
    target = root / "epochcost-arrays" / f"{folder.parent.name}-{files.sha256(manifest)[:16]}"
    if (target / _MANIFEST).is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        copy = Path(temporary, "copy")
        copy.mkdir()
        for name, about in files.read_json(manifest)["arrays"].items():
            path = Path(shutil.copy(folder / f"{name}.npy", copy))
            if files.sha256(path) != about["sha256"]:
                raise InputError(f"{folder / path.name} is damaged, or was while it was copied")
        shutil.copy(manifest, copy)
        try:
            copy.rename(target)
        except OSError:
            # Another job on this node was faster.
            if not (target / _MANIFEST).is_file():
                raise
    return target
