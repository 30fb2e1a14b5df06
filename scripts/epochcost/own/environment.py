"""The Python environment of an own training, made of its requirements file."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from epochcost import ROOT
from epochcost.errors import InputError

_READY = "ready"


def made_of(requirements: Path) -> Path:
    """The folder of the programs of an environment with these packages; made if it is not there.

    It is one of .venvs/own-*, one for each content of the file, and outlives the training.

    Raises:
        InputError: there is no such file, or it cannot be installed; the reason is above.
    """
    if not requirements.is_file():
        raise InputError(f"{requirements} is no requirements file")
    content = hashlib.sha256(requirements.read_bytes()).hexdigest()[:8]
    folder = ROOT / f".venvs/own-{content}"
    if not (folder / _READY).exists():
        uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
        made = [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)]
        python = ["--python", str(folder / "bin/python")]
        install = [uv, "pip", "install", "--quiet", *python, "-r", str(requirements)]
        for command in (made, install):
            if subprocess.run(command, stdout=sys.stderr).returncode:
                raise InputError(f"{requirements} cannot be installed; the reason is above")
        (folder / _READY).touch()
    return folder / "bin"


def search_first(folders: tuple[Path, ...]) -> None:
    """Let this process and those that it starts find programs in these folders first."""
    if folders:
        found = [*map(str, folders), os.environ.get("PATH", "")]
        os.environ["PATH"] = os.pathsep.join(found)
