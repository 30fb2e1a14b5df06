"""Make one of the pinned environments of envs/ with uv.

In: envs/<name>.txt. Out: a virtual environment in .venvs/<name>. On a machine without an NVIDIA
GPU, PyTorch's own CPU build is preferred where available: it is a tenth of the size.
"""

import os
import subprocess
import sys
from pathlib import Path

from epochcost import errors

ROOT = Path(__file__).resolve().parents[1]
_SUPPORTED = ">=3.11,<3.14"
# What uv says if a server does not answer, or if it must not ask one.
_UNREACHABLE = ("Failed to fetch", "Network connectivity is disabled", "403 Forbidden")
# Settings of uv that choose other versions than the pins, or another place than the environment.
_NOT_FOR_PINS = (
    *("UV_BUILD_CONSTRAINT", "UV_CONSTRAINT", "UV_EXCLUDE", "UV_EXCLUDE_NEWER", "UV_OVERRIDE"),
    *("UV_REQUIRE_HASHES", "UV_SYSTEM_PYTHON", "UV_TORCH_BACKEND", "PYTHONPATH", "PYTHONHOME"),
)


class UnreachableError(errors.InputError):
    """A package index cannot be reached."""


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    names = sorted(path.stem for path in (ROOT / "envs").glob("*.txt"))
    parser.add_argument("name", choices=names, help="a file of envs/, without .txt")
    parser.add_argument("--output", type=Path, help="folder; default: .venvs/<name>")
    arguments = parser.parse_args()
    make(arguments.name, arguments.output or ROOT / ".venvs" / arguments.name)


def make(name: str, folder: Path) -> None:
    """Make the environment from scratch.

    Raises:
        InputError: uv cannot make it; its output is above.
    """
    inside = (3, 11) <= sys.version_info[:2] < (3, 14)
    python = sys.executable if inside else _SUPPORTED
    _uv("venv", "--quiet", "--clear", "--python", python, str(folder))
    install = ["pip", "install", "--python", str(folder / "bin/python")]
    requirements = ["-r", str(ROOT / "envs" / f"{name}.txt")]
    if name == "torch-cpu" and not os.environ.get("PIP_FIND_LINKS"):
        try:
            _uv(*install, "--torch-backend", "cpu", *requirements)
            return
        except UnreachableError:
            print("PyTorch's CPU builds cannot be reached; taking the package index's build")
    _uv(*install, *requirements)


def _uv(*words: str) -> None:
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
        kind = UnreachableError if unreachable else errors.InputError
        raise kind(f"uv {' '.join(words[:2])} failed")


if __name__ == "__main__":
    errors.run(main)
