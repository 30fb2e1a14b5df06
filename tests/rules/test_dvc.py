"""`dvc repro` on one machine, on the same again, on another, and after it was killed."""

import http.server
import json
import os
import shutil
import signal
import subprocess
import threading
from functools import partial

import pytest
from clones import BIN, Clone, commit, git, make_clone
from expect import wait_until

pytestmark = pytest.mark.slow

RUN = "local/mnist_mlp/pytorch/default-1"


def with_dvc(folder) -> Clone:
    """A clone under git and DVC, with a store beside it."""
    clone = make_clone(folder)
    # DVC finds the workflow's commands in .venv, as a user has them.
    (folder / ".venv").symlink_to(BIN.parent)
    data = {"source": "synthetic", "mirror": ""}
    clone.configure(workloads=["mnist_mlp"], frameworks=["pytorch"], data=data)
    store = folder.with_name("store")
    store.mkdir()
    clone.run("dvc", "remote", "add", "--default", "store", str(store))
    commit(folder)
    return clone


def clone_of(origin: Clone, folder) -> Clone:
    """A fresh clone of another one."""
    subprocess.run(["git", "clone", "-q", origin.folder, folder], check=True)
    (folder / ".venv").symlink_to(BIN.parent)
    return Clone(folder)


@pytest.fixture(scope="module")
def measured(tmp_path_factory, pythons):
    """A clone that was measured by DVC, and what that printed; all is committed and pushed."""
    clone = with_dvc(tmp_path_factory.mktemp("dvc") / "first")
    dry = clone.run("dvc", "repro", "--dry").stdout
    assert all(f"Running stage '{stage}'" in dry for stage in ("data", "measure", "analyse"))
    clone.run("dvc", "repro")
    assert list(clone.records()) == [RUN]
    clone.run("dvc", "push")
    commit(clone.folder)
    return clone


def test_a_second_call_trains_nothing_and_leaves_the_lock(measured):
    before, lock = measured.records(), (measured.folder / "dvc.lock").read_bytes()
    again = measured.run("dvc", "repro").stdout
    for stage in ("data", "analyse"):
        assert f"Stage '{stage}' didn't change, skipping" in again
    assert "Training" not in again and measured.records() == before
    assert (measured.folder / "dvc.lock").read_bytes() == lock
    assert git(measured.folder, "status", "--porcelain") == ""
    assert json.loads(next(iter(before.values())))["git"]["dirty"] is False


def test_a_fresh_clone_of_the_machine_trains_nothing_and_another_machine_adds_its_records(
    measured, tmp_path
):
    here = clone_of(measured, tmp_path / "here")
    here.run("dvc", "pull", "--allow-missing")
    assert "Training" not in here.run("dvc", "repro").stdout
    assert list(here.records()) == [RUN]
    # The records become another machine's: to this clone the machine at hand is new.
    there = clone_of(measured, tmp_path / "there")
    (path,) = (there.folder / "data/measured").glob("*.jsonl")
    name = path.stem.removeprefix("local-")
    theirs = path.read_text().replace(name, "0123456789ab")
    path.unlink()
    (path.parent / "local-0123456789ab.jsonl").write_text(theirs)
    there.run("dvc", "repro")
    assert list(there.records()) == [RUN]
    files = sorted((there.folder / "data/measured").glob("*.jsonl"))
    assert [file.stem for file in files] == sorted([f"local-{name}", "local-0123456789ab"])
    assert (path.parent / "local-0123456789ab.jsonl").read_text() == theirs


def test_what_dvc_users_ask_for_is_there(measured, tmp_path):
    shown = json.loads(measured.run("dvc", "metrics", "show", "--json").stdout)
    (there,) = shown.values()
    values = there["data"]["results/metrics.json"]["data"]["mnist_mlp"]["pytorch"]
    assert values["time_s"] > 0
    page = tmp_path / "plots"
    measured.run("dvc", "plots", "show", "--out", str(page))
    assert "mnist_mlp-machines.svg" in (page / "index.html").read_text()
    assert "http" not in (page / "index.html").read_text().replace("http://www.w3.org", "")
    table = tmp_path / "relative.csv"
    wanted = "results/tables/relative.csv"
    measured.run("dvc", "get", str(measured.folder), wanted, "-o", str(table))
    assert table.read_bytes() == (measured.folder / wanted).read_bytes()
    experiment = measured.copy(tmp_path / "experiment")
    experiment.run("dvc", "exp", "run", "-S", "config/config.yaml:batch_size=256", "-n", "big")
    assert len(experiment.records()) == 2
    changed = experiment.run("dvc", "params", "diff").stdout
    assert "batch_size" in changed and "256" in changed
    assert "time_s" in experiment.run("dvc", "metrics", "diff").stdout
    git(experiment.folder, "reset", "-q", "--hard")
    experiment.run("dvc", "checkout", "--force")
    assert len(experiment.records()) == 2, "a record is none of what DVC takes back"
    experiment.run("dvc", "exp", "apply", "big")
    (file,) = (experiment.folder / "data/measured").glob("*.jsonl")
    assert len(file.read_text().splitlines()) == 3


def test_a_store_can_be_read_over_http(measured, tmp_path):
    handler = partial(
        http.server.SimpleHTTPRequestHandler, directory=measured.folder.parent / "store"
    )
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        clone = clone_of(measured, tmp_path / "reader")
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        clone.run("dvc", "remote", "add", "web", address)
        clone.run("dvc", "pull", "-r", "web", "--allow-missing")
        server.shutdown()
    report = (clone.folder / "results/report.html").read_bytes()
    assert report == (measured.folder / "results/report.html").read_bytes()
    assert clone.records() == {} and list((clone.folder / "data/measured").glob("*.jsonl"))


def test_after_a_kill_the_next_call_goes_on(measured, tmp_path):
    clone = clone_of(measured, tmp_path / "killed")
    for path in (clone.folder / "data/measured").glob("*.jsonl"):
        path.unlink()
    process = subprocess.Popen(
        [str(BIN / "dvc"), "repro"],
        cwd=clone.folder,
        env=clone.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    locks, folder = clone.folder / ".snakemake/locks", clone.folder / "results/runs"
    wait_until(
        lambda: list(locks.glob("*")) and folder.exists(),
        "it can be killed",
        lambda: process.poll() is not None,
    )
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    clone.run("dvc", "repro")
    assert list(clone.records()) == [RUN]
    assert (clone.folder / "results/report.html").exists()


def test_what_changed_in_the_store_is_refused(measured, tmp_path):
    world = tmp_path / "first"
    shutil.copytree(measured.folder, world, symlinks=True)
    shutil.copytree(measured.folder.parent / "store", tmp_path / "store")
    clone = Clone(world)
    clone.run("dvc", "remote", "modify", "store", "url", str(tmp_path / "store"))
    clone.run("dvc", "remote", "modify", "store", "verify", "true")
    shutil.rmtree(world / ".dvc/cache")
    report = (world / "results/report.html").read_bytes()
    (found,) = [
        path
        for path in (tmp_path / "store").rglob("*")
        if path.is_file() and path.read_bytes() == report
    ]
    found.chmod(0o644)
    found.write_bytes(report + b"<script>")
    (world / "results/report.html").unlink()
    done = clone.run("dvc", "pull", "results/report.html", check=False)
    assert done.returncode and not (world / "results/report.html").exists()
