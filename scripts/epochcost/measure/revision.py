"""Which revision of epochcost this is."""

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Any

from epochcost.errors import one_line, printable

# The environment variable that tells this to another machine, whose sources have no git history.
COMMIT = "EPOCHCOST_COMMIT"
# What a call of the workflow changes itself.
_WRITTEN = (":(exclude)dvc.lock", ":(exclude)data/measured")
# The variables by which git takes another repository for this one, as in its hooks.
_OF_OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR")


def code(root: Path) -> str:
    """A short hash of the scripts' contents, with or without git; equal for equal scripts."""
    content = hashlib.sha256()
    for path in sorted((root / "scripts").rglob("*.py")):
        content.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return content.hexdigest()[:12]


def commit(root: Path) -> dict[str, Any] | None:
    """The commit of the clone, and whether it was changed since, but for records and their lock.

    What COMMIT says, if anything; None outside git without that.
    """
    told, _, changed = os.environ.get(COMMIT, "").partition(",")
    if told:
        return {"commit": told, "dirty": bool(changed)}
    try:
        changes = _git(root, "status", "--porcelain", "--untracked-files=no", "--", ".", *_WRITTEN)
        return {"commit": _git(root, "rev-parse", "HEAD"), "dirty": bool(changes)}
    except (OSError, subprocess.CalledProcessError):
        return None


def why_unknown(root: Path) -> str | None:
    """Why the commit of a clone cannot be told; None if it can, or if this is no clone."""
    if not (root / ".git").exists() or commit(root):
        return None
    try:
        _git(root, "rev-parse", "HEAD")
    except subprocess.CalledProcessError as error:
        return printable(error.stderr.decode(errors="replace"))
    except OSError as error:
        return one_line(error)
    return "git status failed"


def ask_git(root: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Ask git about the clone of this code, whoever owns it, and whatever the shell has set.

    Raises:
        CalledProcessError: git fails.
        OSError: there is no git.
    """
    # git leaves the clones of other users alone, as their settings may name programs. What is asked
    # of this one starts none, and its code runs already.
    trusted = ["-c", "safe.directory=*", "-c", "core.fsmonitor=false"]
    command = ["git", *trusted, "-C", str(root), "--no-optional-locks", *words]
    environment = {key: value for key, value in os.environ.items() if key not in _OF_OTHERS}
    return subprocess.run(command, env=environment, capture_output=True, check=True)


def to_send(root: Path) -> str:
    """The value for COMMIT elsewhere: the commit, with `,changed` if it was; or empty."""
    known = commit(root)
    return "" if known is None else known["commit"] + (",changed" if known["dirty"] else "")


def _git(root: Path, *words: str) -> str:
    return ask_git(root, *words).stdout.decode(errors="replace").strip()
