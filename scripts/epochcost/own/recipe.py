"""What is trained by an own training: its command, and the code that it runs."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from epochcost import files

# More files than these are no longer read: the folder is then that of more than one training.
_MOST_FILES = 2000
# Folders of other people's code.
_NOT_OWN = {"site-packages", "node_modules", "__pycache__", "venv", "env"}


def of(command: list[str], folder: Path) -> dict[str, Any]:
    """The recipe of an own training, as its record has it.

    `code` is a checksum of the Python files below the folder, and of what the command names. Two
    trainings with one command and other code are other trainings.

    Args:
        command: its words.
        folder: where it is run.
    """
    return {"command": list(command), "code": _checksum(command, folder)}


def name_of(command: list[str]) -> str:
    """What a training is called that has no entry: its script or module; `training` for none."""
    for before, word in zip(["", *command], command, strict=False):
        stem = word.rpartition(".")[2] if before == "-m" else Path(word).stem
        if word.endswith(".py") or before == "-m":
            name = "".join(sign if sign.isalnum() else "_" for sign in stem.lower()).strip("_")
            if name.isascii() and name[:1].isalpha():
                return name[:100]
    return "training"


def _checksum(command: list[str], folder: Path) -> str:
    named = [folder / word for word in command if (folder / word).is_file()]
    below = list(_python_files(folder))
    paths = named + (below if len(below) <= _MOST_FILES else [])
    digest = hashlib.sha256()
    for path in sorted({path.resolve() for path in paths}):
        content = files.code(path) if path.suffix == ".py" else path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:8]


def _python_files(folder: Path) -> Iterator[Path]:
    """The Python files below a folder that are the user's own; one more than are read."""
    count = 0
    for place, inner, names in os.walk(folder):
        inner[:] = sorted(
            name
            for name in inner
            if not name.startswith(".")
            and name not in _NOT_OWN
            and not Path(place, name, "pyvenv.cfg").exists()
        )
        for name in sorted(names):
            if name.endswith(".py"):
                yield Path(place, name)
                count += 1
        if count > _MOST_FILES:
            return
