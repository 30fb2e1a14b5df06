"""Which revision of epochcost this is."""

import os
import subprocess
from pathlib import Path
from typing import Any

# The environment variable that tells a rented machine: it gets the sources without git's history.
COMMIT = "EPOCHCOST_COMMIT"


def code(root: Path) -> str | None:
    """What the code is, whatever else of the repository was changed; None outside of git."""
    try:
        tree = _git(root, "rev-parse", "HEAD:scripts")
        changes = _git(root, "diff", "HEAD", "--name-only", "--", "scripts")
    except (OSError, subprocess.CalledProcessError):
        return None
    return tree + (", changed" if changes else "")


def commit(root: Path) -> dict[str, Any] | None:
    """The commit of the code, and whether it was changed since.

    Outside of git it is what COMMIT says; None without that.
    """
    try:
        changes = _git(root, "status", "--porcelain", "--untracked-files=no")
        return {"commit": _git(root, "rev-parse", "HEAD"), "dirty": bool(changes)}
    except (OSError, subprocess.CalledProcessError):
        told, _, changed = os.environ.get(COMMIT, "").partition(",")
        return {"commit": told, "dirty": bool(changed)} if told else None


def to_send(root: Path) -> str:
    """What COMMIT is to be elsewhere: the commit, with `,changed` where it was; or empty."""
    known = commit(root)
    return "" if known is None else known["commit"] + (",changed" if known["dirty"] else "")


def _git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), "--no-optional-locks", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
