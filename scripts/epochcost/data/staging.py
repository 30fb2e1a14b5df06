"""Prepared arrays on a node's own disk: copied once, before any clock runs."""

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from epochcost import files
from epochcost.errors import InputError

_MANIFEST = "manifest.json"


def stage(folder: Path, root: Path) -> Path:
    """Copy prepared arrays to a disk of this node, if they are not there yet; returns where.

    The copy is named after its contents, so changed data get another copy. Each array is checked
    against its sha256, here and again when a training run reads it.

    Args:
        folder: the prepared arrays, perhaps on a disk that several nodes share.
        root: a folder on this node's own disk.

    Raises:
        InputError: an array is damaged.
    """
    manifest = folder / _MANIFEST
    described = files.read_json(manifest)["arrays"]
    # A folder for each user: others may not write to it.
    own = root / f"epochcost-arrays-{os.getuid()}"
    target = own / f"{folder.parent.name}-{files.sha256(manifest)[:16]}"
    if _is_whole(target, described):
        return target
    # A clean-up job on the node may have removed a part of it.
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        copy = Path(temporary, "copy")
        copy.mkdir()
        for name, about in described.items():
            path = Path(shutil.copy(files.below(folder, f"{name}.npy"), copy))
            if files.sha256(path) != about["sha256"]:
                raise InputError(f"{folder / path.name} is damaged, or was while it was copied")
        shutil.copy(manifest, copy)
        try:
            copy.rename(target)
        except OSError:
            # Another job on this node was faster.
            if not _is_whole(target, described):
                raise
    return target


def _is_whole(folder: Path, described: Iterable[str]) -> bool:
    names = [_MANIFEST, *(f"{name}.npy" for name in described)]
    return all((folder / name).is_file() for name in names)
