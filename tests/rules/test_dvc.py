"""`dvc repro` on one machine, on the same again, and on another."""

import json
import shutil
import subprocess

import pytest
from clones import BIN, make_clone


@pytest.fixture
def measured(tmp_path, pythons):
    """A clone under git and DVC that was measured with `dvc repro`."""
    clone = make_clone(tmp_path / "first")
    # DVC needs git, and finds the workflow's commands in .venv as a user has them.
    (clone.folder / ".venv").symlink_to(BIN.parent)
    clone.configure(
        workloads=["mnist_mlp"], frameworks=["pytorch"], data={"source": "synthetic", "mirror": ""}
    )
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
        git(clone, *command)
    clone.run("dvc", "repro")
    return clone


def git(clone, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *words], cwd=clone.folder, check=True, capture_output=True)


def test_dvc_measures_a_machine_once_and_keeps_the_others_records(measured, tmp_path):
    before = measured.records()
    assert list(before) == ["local/mnist_mlp/pytorch/default-1.json"]
    again = measured.run("dvc", "repro").stdout
    for stage in ("data", "measure", "analyse"):
        assert f"Stage '{stage}' didn't change, skipping" in again
    assert measured.records() == before

    # The first machine's records become another machine's, are pushed, and pulled by a second
    # clone; to that clone this machine is new.
    path = measured.folder / "results/runs" / next(iter(before))
    content = json.loads(path.read_text())
    content["machine"]["id"] = "0123456789ab"
    path.chmod(0o644)
    path.write_text(json.dumps(content))
    search = "results/tuning/0123456789ab/mnist_mlp/pytorch/1.json"
    (measured.folder / search).parent.mkdir(parents=True)
    (measured.folder / search).write_text("{}")
    machine = measured.folder / "results/machine.json"
    machine.write_text(machine.read_text().replace(json.loads(machine.read_text())["id"], "0" * 12))
    measured.run("dvc", "commit", "--force")
    measured.run("dvc", "remote", "add", "--default", "store", str(tmp_path / "store"))
    measured.run("dvc", "push")
    git(measured, "add", "-A")
    git(measured, "commit", "-qm", "measured")
    theirs = measured.records()

    second = make_clone(tmp_path / "second")
    shutil.rmtree(second.folder)
    subprocess.run(
        ["git", "clone", "-q", measured.folder, second.folder], check=True, capture_output=True
    )
    (second.folder / ".venv").symlink_to(BIN.parent)
    second.run("dvc", "pull", "--allow-missing")
    assert second.records() == theirs
    assert (second.folder / search).read_text() == "{}"
    second.run("dvc", "repro", "measure")
    after = second.records()
    assert set(after) - set(theirs) == {"local/mnist_mlp/pytorch/default-2.json"}
    assert {path: after[path] for path in theirs} == theirs
