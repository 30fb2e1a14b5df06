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
    check_that_dvc_loses_no_record(second, content, tmp_path)


def check_that_dvc_loses_no_record(clone, content: dict, tmp_path):
    """What DVC deletes comes back; what its user deletes does not."""
    # A colleague's record that no lock knows, beside the one made here, which was never pushed.
    content["seed"] += 1
    folder = tmp_path / "theirs/local/mnist_mlp/pytorch"
    folder.mkdir(parents=True)
    (folder / "default-1.json").write_text(json.dumps(content))
    assert "1 records merged" in clone.run("python", "scripts/merge.py", tmp_path / "theirs").stdout
    git(clone, "checkout", "--", "dvc.lock")
    before = clone.records()
    assert len(before) == 3

    stopped = clone.run("dvc", "pull", "--allow-missing", check=False)
    assert stopped.returncode != 0
    assert clone.records() == before
    for words in (["pull", "--allow-missing", "--force"], ["checkout", "--force"]):
        clone.run("dvc", *words)
        assert len(clone.records()) == 1, "DVC deletes what its lock does not know"
        dry = clone.snakemake("-n", "measure", check=False)
        assert (dry.returncode, len(clone.records())) == (1, 1)
        assert "epochcost: 2 records are gone from results/runs" in dry.stdout + dry.stderr
        said = clone.snakemake("--quiet", "all", "--", "measure").stderr
        assert said.count("was gone and is back from results/runs-kept/local/mnist_mlp/") == 2
        assert clone.records() == before

    # The way of the documentation.
    aside = clone.folder / "results/mine"
    aside.mkdir()
    for name in ("runs", "tuning"):
        (clone.folder / "results" / name).rename(aside / name)
    clone.run("dvc", "pull", "--allow-missing")
    clone.run("python", "scripts/merge.py", "results/mine/runs")
    assert sorted(clone.records().values()) == sorted(before.values())

    # Deleted on purpose.
    name = "local/mnist_mlp/pytorch/default-3.json"
    for place in ("runs", "runs-kept"):
        (clone.folder / "results" / place / name).unlink()
    clone.snakemake("--quiet", "all", "--", "measure")
    assert len(clone.records()) == 2
