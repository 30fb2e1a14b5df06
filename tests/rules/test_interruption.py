"""A run that is killed: the next one goes on, and nothing half-written is read."""

import os
import shutil
import signal
import subprocess

import pytest
from clones import BIN, make_clone
from expect import wait_until

pytestmark = pytest.mark.slow


def test_a_killed_run_is_continued(tmp_path, pythons):
    clone = make_clone(tmp_path / "epochcost")
    clone.configure(
        workloads=["mnist_mlp"],
        frameworks=["pytorch"],
        data={"source": "synthetic", "mirror": ""},
    )
    process = subprocess.Popen(
        [BIN / "snakemake", "--quiet", "all", "--", "measure"],
        cwd=clone.folder,
        env=clone.environment,
        start_new_session=True,
    )
    folder = clone.folder / "results/runs/local/mnist_mlp/pytorch"
    begun = folder / ".default-1.json.part"
    wait_until(begun.exists, "the training starts", lambda: process.poll() is not None)
    os.killpg(process.pid, signal.SIGSTOP)
    # While it runs, another run is kept out, and its lock is not taken away.
    assert clone.run("python", "scripts/unlock.py").stdout == ""
    assert clone.snakemake("measure", check=False).returncode == 1
    # A call that has nothing to do with it ends, and Snakemake's own locks are gone.
    locks = clone.folder / ".snakemake/locks"
    shutil.copytree(locks, tmp_path / "locks")
    clone.snakemake("estimate")
    assert not locks.exists()
    other = clone.snakemake("measure", "--config", "frameworks=keras-torch", check=False)
    assert other.returncode == 1
    assert "epochcost: another call in this folder trains on local" in other.stderr + other.stdout
    shutil.copytree(tmp_path / "locks", locks, dirs_exist_ok=True)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert clone.records() == {}
    assert "resuming where it stopped" in clone.run("python", "scripts/unlock.py").stdout
    clone.snakemake("--quiet", "all", "--", "measure")
    assert list(clone.records()) == ["local/mnist_mlp/pytorch/default-1"]
    assert len(list(folder.iterdir())) == 1
