"""Make one of the pinned environments of envs/ with uv.

On a machine without an NVIDIA GPU, PyTorch's own CPU build is preferred where available: it is a
tenth of the size.
"""

import os
import subprocess
import sys
from pathlib import Path

from epochcost.errors import InputError

ROOT = Path(__file__).resolve().parents[3]
_SUPPORTED = ">=3.11,<3.14"
# With PyTorch's own CPU build, where it can be reached.
_CPU_BUILDS = ("torch-cpu", "own")
# What uv says if a server does not answer, or if it must not ask one.
_UNREACHABLE = ("Failed to fetch", "Network connectivity is disabled", "403 Forbidden")
# Settings of uv that choose other versions than the pins, or another place than the environment.
_NOT_FOR_PINS = (
    *("UV_BUILD_CONSTRAINT", "UV_CONSTRAINT", "UV_EXCLUDE", "UV_EXCLUDE_NEWER", "UV_OVERRIDE"),
    *("UV_REQUIRE_HASHES", "UV_SYSTEM_PYTHON", "UV_TORCH_BACKEND", "PYTHONPATH", "PYTHONHOME"),
)


class UnreachableError(InputError):
    """A package index cannot be reached."""


def make(name: str, folder: Path) -> None:
    """Make the environment from scratch.

    Raises:
        InputError: uv cannot make it; its output is above.
    """
    inside = (3, 11) <= sys.version_info[:2] < (3, 14)
    python = sys.executable if inside else _SUPPORTED
    uv("venv", "--quiet", "--clear", "--python", python, str(folder))
    install = ["pip", "install", "--python", str(folder / "bin/python")]
    requirements = ["-r", str(ROOT / "envs" / f"{name}.txt")]
    if name in _CPU_BUILDS and not os.environ.get("PIP_FIND_LINKS"):
        try:
            uv(*install, "--torch-backend", "cpu", *requirements)
            return
        except UnreachableError:
            print("PyTorch's CPU builds cannot be reached; taking the package index's build")
    uv(*install, *requirements)


def uv(*words: str) -> None:
    """Run uv on an environment.

    Raises:
        UnreachableError: it cannot reach a package index.
        InputError: it fails for another reason; its output is above.
    """
    # What is pinned is installed as it is, whatever the user has set for other projects.
    environment = {key: value for key, value in os.environ.items() if key not in _NOT_FOR_PINS}
    environment["UV_COMPILE_BYTECODE"] = "1"
    # uv does not read pip's setting for a folder of wheels.
    if links := environment.get("PIP_FIND_LINKS"):
        environment.setdefault("UV_FIND_LINKS", links)
    command = [sys.executable, "-m", "uv", *words]
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True)
    print(done.stderr, end="", file=sys.stderr)
    if done.returncode:
        # Another index is no help with a full disk or with pins that contradict each other.
        unreachable = any(words in done.stderr for words in _UNREACHABLE)
        kind = UnreachableError if unreachable else InputError
        raise kind(f"uv {' '.join(words[:2])} failed")
