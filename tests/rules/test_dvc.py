"""`dvc repro` on one machine, on the same again, and on another."""

import json
import shutil
import subprocess
from pathlib import Path

import measured as shipped
import pytest
from clones import BIN, Clone, commit, git, make_clone

pytestmark = pytest.mark.slow

SHIPPED = sorted((shipped.folder() / "local/mnist_mlp/pytorch").glob("default-?@*.json"))
# Any call of the workflow that starts no training.
CALL = ("--quiet", "all", "--", "estimate")


def with_dvc(folder: Path, origin: Clone | None = None) -> Clone:
    """A clone under git and DVC; of `origin`, a clone that pulled what was pushed there."""
    clone = make_clone(folder)
    if origin:
        shutil.rmtree(folder)
        subprocess.run(["git", "clone", "-q", origin.folder, folder], check=True)
    # DVC finds the workflow's commands in .venv, as a user has them.
    (folder / ".venv").symlink_to(BIN.parent)
    if origin:
        clone.run("dvc", "pull", "--allow-missing")
        return clone
    data = {"source": "synthetic", "mirror": ""}
    clone.configure(workloads=["mnist_mlp"], frameworks=["pytorch"], data=data)
    commit(folder)
    return clone


def push(clone: Clone, *what: str) -> None:
    """Send results to a store beside the clone, and commit their lock."""
    store = str(clone.folder.with_name("store"))
    clone.run("dvc", "remote", "add", "--default", "store", store)
    clone.run("dvc", "push", *what)
    commit(clone.folder)


def test_dvc_measures_a_machine_once_and_keeps_the_others_records(tmp_path, pythons):
    measured = with_dvc(tmp_path / "first")
    measured.run("dvc", "repro")
    before = measured.records()
    assert list(before) == ["local/mnist_mlp/pytorch/default-1"]
    again = measured.run("dvc", "repro").stdout
    for stage in ("data", "measure", "analyse"):
        assert f"Stage '{stage}' didn't change, skipping" in again
    assert measured.records() == before

    # The first machine's records become another machine's, are pushed, and pulled by a second
    # clone; to that clone this machine is new.
    path = measured.record("local/mnist_mlp/pytorch/default-1")
    content = json.loads(path.read_text())
    other = path.name.replace(content["machine"]["id"], "0123456789ab")
    content["machine"]["id"] = "0123456789ab"
    path.with_name(other).write_text(json.dumps(content))
    path.unlink()
    search = "results/tuning/0123456789ab/mnist_mlp/pytorch/1.json"
    (measured.folder / search).parent.mkdir(parents=True)
    (measured.folder / search).write_text("{}")
    machine = measured.folder / "results/machine.json"
    machine.write_text(machine.read_text().replace(json.loads(machine.read_text())["id"], "0" * 12))
    measured.run("dvc", "commit", "--force")
    push(measured)
    theirs = measured.records()

    second = with_dvc(tmp_path / "second", measured)
    assert second.records() == theirs
    assert (second.folder / search).read_text() == "{}"
    second.run("dvc", "repro", "measure")
    after = second.records()
    assert set(after) - set(theirs) == {"local/mnist_mlp/pytorch/default-2"}
    assert {path: after[path] for path in theirs} == theirs


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, pythons):
    """A clone that pulled its records with DVC, beside records that no lock knows."""
    tmp_path = tmp_path_factory.mktemp("dvc")
    first = with_dvc(tmp_path / "first")
    folder = first.folder / "results/runs/local/mnist_mlp/pytorch"
    for path in (folder, first.folder / "results/tuning", first.folder / "data/arrays"):
        path.mkdir(parents=True)
    shutil.copy(SHIPPED[0], folder)
    first.run("dvc", "repro", "machine")
    first.run("dvc", "commit", "--force", "measure")
    push(first, "measure")
    second = with_dvc(tmp_path / "second", first)
    for path in SHIPPED[1:3]:
        second.run("python", "scripts/merge.py", str(path))
    assert len(second.records()) == 3
    return second


@pytest.fixture
def pulled(prepared, tmp_path):
    """A copy of it."""
    shutil.copytree(prepared.folder, tmp_path / "pulled", symlinks=True)
    return Clone(tmp_path / "pulled")


@pytest.mark.parametrize("command", ["pull", "checkout"])
def test_what_dvc_deletes_comes_back_with_the_next_call(pulled, command):
    before = pulled.records()
    stopped = pulled.run("dvc", command, "--allow-missing", check=False)
    assert stopped.returncode != 0, "DVC stops at what its lock does not know"
    assert pulled.records() == before
    pulled.run("dvc", command, "--allow-missing", "--force")
    assert len(pulled.records()) == 1, "or deletes it"
    dry = pulled.snakemake("-n", "measure", check=False)
    assert (dry.returncode, len(pulled.records())) == (1, 1), "a dry run changes nothing"
    assert "epochcost: 2 records are gone from results/runs" in dry.stdout + dry.stderr
    said = pulled.snakemake(*CALL).stderr
    assert said.count("was gone and is back from results/runs-kept/local/mnist_mlp/") == 2
    assert pulled.records() == before
    assert "is back from" not in pulled.snakemake(*CALL).stderr


def test_an_older_lock_costs_no_record_either(pulled):
    pulled.run("dvc", "repro", "machine")
    (pulled.folder / "data/arrays").mkdir(parents=True, exist_ok=True)
    (pulled.folder / "results/tuning").mkdir(parents=True, exist_ok=True)
    pulled.run("dvc", "commit", "--force", "measure")
    before = pulled.records()
    git(pulled.folder, "checkout", "--", "dvc.lock")
    pulled.run("dvc", "checkout", "--allow-missing", "--force")
    assert len(pulled.records()) == 1
    pulled.run("python", "scripts/merge.py", str(SHIPPED[0]))
    assert pulled.records() == before


def test_records_moved_aside_are_merged_after_a_pull(pulled):
    """Which needs no --force."""
    before = pulled.records()
    aside = pulled.folder / "results/mine"
    aside.mkdir()
    for name in ("runs", "tuning"):
        if (there := pulled.folder / "results" / name).exists():
            there.rename(aside / name)
    pulled.run("dvc", "pull", "--allow-missing")
    pulled.run("python", "scripts/merge.py", "results/mine/runs")
    assert pulled.records() == before


def test_who_deletes_a_record_in_both_places_is_rid_of_it(pulled):
    name = pulled.record(sorted(pulled.records())[-1]).name
    for place in ("runs", "runs-kept"):
        (pulled.folder / "results" / place / "local/mnist_mlp/pytorch" / name).unlink()
    assert "is back from" not in pulled.snakemake(*CALL).stderr
    assert len(pulled.records()) == 2
