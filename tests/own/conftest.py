"""Scripts of a user, watched."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from epochcost import ROOT
from epochcost.own.watch import Limits, watch

FAKES = Path(__file__).parent / "fakes"


class Script:
    """A script in a folder of its own, and ways to run it."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder, self.path = folder, folder / "script.py"
        self.path.write_text(dedent(text))
        self.command = [sys.executable, "script.py"]

    def watch(self, stop_after="never", command=None, **limits):
        """What the watcher saw."""
        return watch(command or self.command, Limits(stop_after, **limits), self.folder)

    def run(self) -> subprocess.CompletedProcess:
        """The script by itself."""
        return subprocess.run(self.command, cwd=self.folder, capture_output=True, text=True)

    def files(self) -> dict[str, bytes]:
        """What the script left."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and path != self.path and "__pycache__" not in path.parts
        }


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Makes a script, which imports the fakes of frameworks."""
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    return lambda text: Script(tmp_path, text)


@pytest.fixture(scope="session")
def own_bin() -> Path:
    """The environment of real frameworks; skipped where `make own` did not make it."""
    folder = ROOT / ".venvs/own/bin"
    if not (folder.parent / "ready").exists():
        pytest.skip("the environment own is not made (make own makes it)")
    return folder


@pytest.fixture
def quiet(monkeypatch):
    """One thread, no network."""
    monkeypatch.setitem(os.environ, "HF_HUB_OFFLINE", "1")
    monkeypatch.setitem(os.environ, "OMP_NUM_THREADS", "1")
    monkeypatch.delenv("PYTHONPATH", raising=False)
