"""Looking at the workflow changes nothing, and asks nobody."""

import hashlib
import shutil
import subprocess
import sys

import pytest
from clones import make_clone

from epochcost import ROOT

LOOKS = [
    ["-n"],
    ["-n", "estimate", "advise", "tune"],
    ["--lint"],
    ["--dag"],
    ["--summary"],
    ["--list-rules"],
]
# With the environment that has its executor.
PROFILES = {
    "slurm": (".venv", ["-n", "--profile", "slurm"]),
    "gce-k80": (".venv", ["-n", "--profile", "gce-k80"]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A clone with records, with a marker whose record is gone, and with one that has no copy."""
    clone = make_clone(tmp_path_factory.mktemp("pure") / "epochcost")
    clone.configure(data={"source": "synthetic", "mirror": ""})
    clone.commit()
    return clone


def tree(folder) -> dict[str, tuple]:
    """Content and date of each file, but Snakemake's own notes and compiled Python."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(folder.rglob("*"))
        if not {"__pycache__", ".snakemake", ".git", ".venvs"}.intersection(
            path.relative_to(folder).parts
        )
        # A folder's date changes with the notes in it.
        and (path.is_file() or path.is_symlink())
    }


def looked_at(folder, words, snakemake, **environment) -> None:
    """Look, and compare what is there, and what git says, before and after."""

    def state():
        said = subprocess.run(
            ["git", "status", "--porcelain"], cwd=folder.folder, capture_output=True, text=True
        )
        locks = sorted((folder.folder / ".snakemake").glob("epochcost*"))
        return tree(folder.folder), said.stdout, locks

    before = state()
    done = subprocess.run(
        [snakemake, "--cores", "1", *words],
        cwd=folder.folder, capture_output=True, text=True, env=folder.environment | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert state() == before


@pytest.mark.parametrize("words", LOOKS, ids=" ".join)
def test_looking_changes_nothing(folder, words):
    looked_at(folder, words, ROOT / ".venv/bin/snakemake")


@pytest.mark.parametrize("words", LOOKS[:4], ids=" ".join)
def test_looking_changes_nothing_where_there_are_records(folder, words, tmp_path):
    place = folder.folder / "results/runs/local/mnist_mlp/pytorch"
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "tests/record/quick.json", place / "default-1.json")
    stale = folder.folder / "results/made/local/mnist_mlp/keras-tensorflow/default-1"
    stale.parent.mkdir(parents=True, exist_ok=True)
    stale.touch()
    searched = folder.folder / "results/tuning/here-2-cores/mnist_mlp/pytorch/tuned-01234567-subset"
    searched.parent.mkdir(parents=True, exist_ok=True)
    searched.touch()
    looked_at(folder, words, ROOT / ".venv/bin/snakemake")


@pytest.mark.parametrize("profile", PROFILES)
def test_looking_at_what_a_profile_would_send_changes_nothing(folder, profile):
    environment, words = PROFILES[profile]
    snakemake = ROOT / environment / "bin/snakemake"
    if not snakemake.exists():
        pytest.skip("the cloud executors are not installed: make cloud")
    looked_at(folder, words, snakemake)


def test_looking_asks_no_server(tmp_path):
    """A call that looks and has no data yet assumes what a call that runs jobs would ask for."""
    (tmp_path / "sitecustomize.py").write_text(
        "import socket\n"
        "def asked(*_, **__): raise SystemExit('a server was asked')\n"
        "socket.create_connection = socket.getaddrinfo = asked\n"
    )
    clone = make_clone(tmp_path / "epochcost")
    clone.configure(data={"source": "auto", "mirror": ""})
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--cores", "1"],
        cwd=clone.folder, capture_output=True, text=True,
        env=clone.environment | {"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "mnist: its server is asked when jobs run" in done.stderr


def test_looking_during_a_run_is_not_held_up_by_it(folder):
    """Snakemake would say that the folder cannot be locked, as an error, and end well."""
    locks = folder.folder / ".snakemake/locks"
    locks.mkdir(parents=True, exist_ok=True)
    (locks / "0.output.lock").write_text(f"{folder.folder}/results/report.html\n")
    try:
        done = folder.snakemake("-n")
    finally:
        shutil.rmtree(locks)
    assert "locked" not in done.stdout + done.stderr
