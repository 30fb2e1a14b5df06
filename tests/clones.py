"""A copy of the repository in a folder of its own, and commands run in it."""

import compileall
import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from epochcost import ROOT
from epochcost.measure import machine
from epochcost.record.names import RunName

BIN = Path(sys.executable).parent


def git(folder: Path, *words: str) -> str:
    """What git says in a folder."""
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    command = ["git", *identity, *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


def commit(folder: Path) -> str:
    """Make a git repository of a folder, with all that is in it; returns the commit."""
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        git(folder, *words)
    return git(folder, "rev-parse", "HEAD")


class Clone:
    """A copy of the repository's files in a folder of its own, and commands run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            key: value
            for key, value in os.environ.items()
            if key not in ("EPOCHCOST_MIRROR", "SNAKEMAKE_PROFILE")
        }

    def run(self, *command: str, check: bool = True, inside: str = "", **environment: str):
        """Run a command of the workflow's environment in the clone, or in a folder inside it."""
        done = subprocess.run(
            [str(BIN / command[0]), *command[1:]],
            cwd=self.folder / inside,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=600,
        )
        if check and done.returncode:
            raise AssertionError(f"{command} ended with {done.returncode}\n{done.stderr[-4000:]}")
        return done

    def snakemake(self, *words: str, check: bool = True, **environment: str):
        """Run Snakemake in the clone."""
        return self.run("snakemake", *words, check=check, **environment)

    @property
    def cores(self) -> int:
        """The cores that trainings have here."""
        return len(os.sched_getaffinity(0))

    def commit(self) -> str:
        """Make a git repository of the clone; returns the commit."""
        return commit(self.folder)

    def copy(self, folder: Path) -> "Clone":
        """The clone as it is, in another folder, with its environment."""
        shutil.copytree(self.folder, folder, symlinks=True)
        made = Clone(folder)
        made.environment = self.environment
        return made

    def configure(self, **settings) -> None:
        """Set keys of config/config.yaml."""
        path = self.folder / "config/config.yaml"
        path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | settings))

    def records(self) -> dict[str, str]:
        """The records in the clone: name of the run (file, of further ones) -> content."""
        found: dict[str, str] = {}
        for path in sorted((self.folder / "results/runs").rglob("*.json")):
            name = str(RunName.at(path))
            found[str(path) if name in found else name] = path.read_text()
        return found

    def record(self, run: str) -> Path:
        """The only record of a run, named local/mnist_mlp/pytorch/default-1."""
        (path,) = (self.folder / "results/runs").glob(f"{run}[.@]*")
        return path


def make_clone(folder: Path, whole: bool = False) -> Clone:
    """Copy the files that git tracks, or would, to `folder`.

    Args:
        whole: with the measurements that came with it, and figures of all workloads; without them
            an analysis takes a third of the time.
    """
    listed = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    for name in listed:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            shutil.copy2(ROOT / name, target, follow_symlinks=False)
    # Compiled once, which the first command in each clone would do again.
    compileall.compile_dir(ROOT / "scripts", quiet=2)
    for compiled in (ROOT / "scripts").rglob("__pycache__"):
        shutil.copytree(compiled, folder / compiled.relative_to(ROOT), dirs_exist_ok=True)
    clone = Clone(folder)
    # The environments of this checkout, as Pythons of one's own: never to be made anew.
    families = {
        name: ROOT / f".venvs/{name}-cpu/bin/python" for name in ("tensorflow", "torch", "jax")
    }
    clone.configure(python={name: str(path) for name, path in families.items()})
    _ignore_load(folder)
    # What was shipped of this very machine would count as measured here.
    for path in (folder / "data/measured").glob(f"*{machine.facts().id}*"):
        path.unlink()
    if not whole:
        _trim(folder)
    return clone


def _trim(folder: Path) -> None:
    """Leave out what makes an analysis long: shipped measurements, and most figures."""
    for path in (folder / "data/measured").glob("*.jsonl"):
        path.unlink()
    path = folder / "data/published/baselines.csv"
    head, *rows = path.read_text().splitlines(keepends=True)
    path.write_text("".join([head, *(row for row in rows if "mnist_mlp" in row)]))


def _ignore_load(folder: Path) -> None:
    """Let no training count as unusable: other tests run beside those of a clone."""
    path = folder / "scripts/epochcost/record/usable.py"
    text = path.read_text()
    assert text.count("MOST_TAKEN = 0.3\n") == 1
    path.write_text(text.replace("MOST_TAKEN = 0.3\n", "MOST_TAKEN = 1.0\n"))
