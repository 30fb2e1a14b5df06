"""Which revision of epochcost this is."""

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Any

# The environment variable that tells this to another machine, whose sources have no git history.
COMMIT = "EPOCHCOST_COMMIT"


def code(root: Path) -> str:
    """A short hash of the scripts' contents, with or without git; equal for equal scripts."""
    content = hashlib.sha256()
    for path in sorted((root / "scripts").rglob("*.py")):
        content.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return content.hexdigest()[:12]


def commit(root: Path) -> dict[str, Any] | None:
    """The commit of the code, and whether the code was changed since.

    What COMMIT says, if anything; None outside git without that.
    """
    told, _, changed = os.environ.get(COMMIT, "").partition(",")
    if told:
        return {"commit": told, "dirty": bool(changed)}
    try:
        changes = _git(root, "status", "--porcelain", "--untracked-files=no")
        return {"commit": _git(root, "rev-parse", "HEAD"), "dirty": bool(changes)}
    except (OSError, subprocess.CalledProcessError):
        return None


def to_send(root: Path) -> str:
    """The value for COMMIT elsewhere: the commit, with `,changed` if it was; or empty."""
    known = commit(root)
    return "" if known is None else known["commit"] + (",changed" if known["dirty"] else "")


def _git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), "--no-optional-locks", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
