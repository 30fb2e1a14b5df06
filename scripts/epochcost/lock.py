"""Snakemake's lock on a folder, and whether the run that holds it is still alive.

Snakemake leaves its lock behind when it is killed. Its owner is noted here when a run starts, so
that the next run can tell a stale lock from one that is held.
"""

import os
import platform
from pathlib import Path

import psutil

from epochcost import files
from epochcost.errors import InputError

_OWNER = "epochcost-owner.json"


def claim(folder: Path) -> None:
    """Note in `folder` (.snakemake) that this process runs the workflow."""
    files.write_json(
        folder / _OWNER,
        {"host": platform.node(), "pid": os.getpid(), "started": _started(os.getpid())},
    )


def is_stale(folder: Path) -> bool:
    """Whether `folder` is locked by a run on this host that is no longer alive.

    False when it is not locked, and when that cannot be determined (another host, no note).
    """
    if not any((folder / "locks").glob("*")):
        return False
    try:
        owner = files.read_json(folder / _OWNER)
    except (OSError, InputError):
        return False
    return owner["host"] == platform.node() and _started(owner["pid"]) != owner["started"]


def _started(pid: int) -> float | None:
    try:
        return psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        return None
