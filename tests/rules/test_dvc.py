"""`dvc repro` on one machine, on the same again, and on another."""

import json
import re
import shutil
import subprocess

import measured as shipped
import pytest
from clones import BIN, Clone, make_clone

from epochcost.configuration import ROOT


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
    assert set(after) - set(theirs) == {"local/mnist_mlp/pytorch/default-2"}
    assert {path: after[path] for path in theirs} == theirs


SHIPPED = sorted((shipped.folder() / "local/mnist_mlp/pytorch").glob("default-?@*.json"))
# Any call of the workflow that starts no training.
CALL = ("--quiet", "all", "--", "estimate")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A clone that pulled its records with DVC, beside records that no lock knows."""
    tmp_path = tmp_path_factory.mktemp("dvc")
    first = make_clone(tmp_path / "first")
    (first.folder / ".venv").symlink_to(BIN.parent)
    first.configure(
        workloads=["mnist_mlp"], frameworks=["pytorch"], data={"source": "synthetic", "mirror": ""}
    )
    git(first, "init", "-q")
    folder = first.folder / "results/runs/local/mnist_mlp/pytorch"
    for path in (folder, first.folder / "results/tuning", first.folder / "data/arrays"):
        path.mkdir(parents=True)
    shutil.copy(SHIPPED[0], folder)
    first.run("dvc", "repro", "machine")
    first.run("dvc", "commit", "--force", "measure")
    first.run("dvc", "remote", "add", "--default", "store", str(tmp_path / "store"))
    first.run("dvc", "push", "measure")
    git(first, "add", "-A")
    git(first, "commit", "-qm", "measured")

    second = make_clone(tmp_path / "second")
    shutil.rmtree(second.folder)
    subprocess.run(["git", "clone", "-q", first.folder, second.folder], check=True)
    (second.folder / ".venv").symlink_to(BIN.parent)
    second.run("dvc", "pull", "--allow-missing")
    for path in SHIPPED[1:3]:
        second.run("python", "scripts/merge.py", str(path))
    assert len(second.records()) == 3
    return second


@pytest.fixture
def pulled(prepared, tmp_path):
    """A copy of it."""
    shutil.copytree(prepared.folder, tmp_path / "pulled", symlinks=True)
    return Clone(tmp_path / "pulled")


@pytest.mark.parametrize(
    "words", [["pull", "--allow-missing", "--force"], ["checkout", "--allow-missing", "--force"]]
)
def test_what_dvc_deletes_comes_back_with_the_next_call(pulled, words):
    before = pulled.records()
    stopped = pulled.run("dvc", *words[:-1], check=False)
    assert stopped.returncode != 0, "DVC stops at what its lock does not know"
    assert pulled.records() == before
    pulled.run("dvc", *words)
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
    git(pulled, "checkout", "--", "dvc.lock")
    pulled.run("dvc", "checkout", "--allow-missing", "--force")
    assert len(pulled.records()) == 1
    pulled.run("python", "scripts/merge.py", str(SHIPPED[0]))
    assert pulled.records() == before


def test_the_way_of_the_documentation_needs_no_force(pulled):
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


def test_no_line_of_the_documentation_tells_dvc_to_delete():
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        assert not re.search(r"dvc (pull|checkout)[^\n]* (--force|-f)\b", path.read_text()), path
