"""Clones of one machine and of another, a bare repository and a store: no record is ever lost."""

import csv
import os
import random
import shutil
import subprocess
from dataclasses import replace
from datetime import datetime, timedelta

import measured as shipped
import pytest
from clones import BIN, Clone, commit, git, make_clone

from epochcost.measure import machine
from epochcost.record import names, place
from epochcost.record import shipped as files_of_records
from epochcost.record.types import encoded

# The first and the third clone are on one machine.
MACHINES = ("aaaaaaaaaaaa", "bbbbbbbbbbbb", "aaaaaaaaaaaa")
ORDERS = 6
LENGTH = 9


@pytest.fixture(scope="module")
def template():
    """A record of this framework and workload that passes every check."""
    return next(
        one
        for one in shipped.read()
        if (one.run.workload, one.run.framework, one.run.scale) == ("mnist_mlp", "pytorch", "quick")
    )


class World:
    """Three clones of a bare repository, and the records that they measured."""

    def __init__(self, folder, template) -> None:
        self.template, self.made, self.folder = template, {}, folder
        (folder / "store").mkdir()
        first = make_clone(folder / "first")
        first.configure(
            workloads=["mnist_mlp"],
            frameworks=["pytorch"],
            data={"source": "synthetic", "mirror": ""},
        )
        first.run("dvc", "remote", "add", "-d", "store", str(folder / "store"))
        commit(first.folder)
        git(folder, "clone", "-q", "--bare", "first", "origin")
        shutil.rmtree(first.folder)
        self.clones = [self._clone(number) for number in range(len(MACHINES))]

    def _clone(self, number: int) -> Clone:
        place = self.folder / f"clone{number}"
        git(self.folder, "clone", "-q", "origin", place.name)
        for key in ("name", "email"):
            git(place, "config", f"user.{key}", f"x{number}@example.org")
        # DVC finds the workflow's commands in .venv, as a user has them.
        (place / ".venv").symlink_to(BIN.parent)
        clone = Clone(place)
        clone.run("snakemake", "--quiet", "all", "--", "data")
        return clone

    def measure(self, number: int) -> None:
        """A record as a training leaves it."""
        began = datetime.fromisoformat("2026-11-24T10:00:00+00:00")
        began += timedelta(minutes=len(self.made))
        run = replace(
            self.template.run,
            started_at=began.isoformat(),
            finished_at=(began + timedelta(minutes=1)).isoformat(),
            trial=1,
        )
        facts = replace(self.template.machine, id=MACHINES[number])
        run = replace(run, id=str(names.RunName.of(run)))
        one = replace(self.template, run=run, machine=facts)
        place.add(self.clones[number].folder / "results/runs", one, encoded(one))
        self.made[one.identity] = encoded(one)

    def share(self, number: int) -> None:
        self.clones[number].run("python", "scripts/share.py")

    def pull(self, number: int) -> None:
        """What people do by hand, conflicts and all."""
        clone = self.clones[number]
        git_try(clone, "pull", "-q", "--no-rebase", "--no-edit")
        if (clone.folder / ".git/MERGE_HEAD").exists():
            git_try(clone, "checkout", "--theirs", "dvc.lock")
            git_try(clone, "add", "-A")
            git_try(clone, "commit", "-q", "--no-edit")
        clone.run("dvc", "pull", "--allow-missing", "--force", check=False)

    def push_half(self, number: int) -> None:
        """A commit of the records without what the analysis makes of them, and no push of data."""
        clone = self.clones[number]
        clone.run("python", "scripts/bundle.py", "--machine", "all", check=False)
        git_try(clone, "add", "-A", "data/measured")
        git_try(clone, "commit", "-qm", "by hand")
        git_try(clone, "push", "-q")

    def repro(self, number: int) -> None:
        """What `dvc repro` leaves after a training: a lock that nobody has committed."""
        clone = self.clones[number]
        clone.run("python", "scripts/bundle.py", "--machine", "all", check=False)
        clone.run("dvc", "commit", "--force", "measure", check=False)

    def take_away(self, number: int) -> None:
        """Half of what git knows of another machine, uncommitted."""
        for path in (self.clones[number].folder / "data/measured").glob("*.jsonl"):
            lines = path.read_text().splitlines(keepends=True)
            path.write_text("".join(lines[: 1 + len(lines) // 2]))

    def collect(self, number: int) -> None:
        """Garbage, here and in the store."""
        self.clones[number].run("dvc", "gc", "-w", "-c", "-f", check=False)

    def go_back(self, number: int) -> None:
        """An older lock."""
        clone = self.clones[number]
        git_try(clone, "checkout", "HEAD~1", "--", "dvc.lock")
        clone.run("dvc", "checkout", "--force", "--allow-missing", check=False)
        git_try(clone, "checkout", "HEAD", "--", "dvc.lock")

    def reset(self, number: int) -> None:
        """Everything that git and DVC know, as it was committed."""
        clone = self.clones[number]
        git_try(clone, "reset", "-q", "--hard")
        clone.run("dvc", "checkout", "--force", "--allow-missing", check=False)


def git_try(clone: Clone, *words: str) -> None:
    subprocess.run(["git", *words], cwd=clone.folder, capture_output=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, ORDERS))]
)
def test_in_every_order_all_records_are_there_at_the_end(tmp_path, template, pythons, seed):
    world, dice = World(tmp_path, template), random.Random(seed)
    steps = [world.measure, world.share, world.pull, world.push_half, world.collect]
    steps += [world.go_back, world.reset, world.repro, world.take_away]
    for number in range(len(MACHINES)):
        world.measure(number)
    order = []
    for _ in range(LENGTH):
        step, number = dice.choice(steps), dice.randrange(len(MACHINES))
        order.append((step.__name__, number))
        step(number)
    for number in (0, 1, 2, 0, 1):
        world.share(number)
    for number, clone in enumerate(world.clones):
        there = {
            one.identity: encoded(one)
            for _, one in files_of_records.read_all(clone.folder / "data/measured", {})
        }
        assert there == world.made, (number, order)
        assert git(clone.folder, "status", "--porcelain", "--untracked-files=no") == ""
        with (clone.folder / "results/tables/runs.csv").open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["machine_id"] in MACHINES]
        assert len(rows) == len(world.made), (number, order)
        assert "changed" not in clone.run("dvc", "status", "analyse").stdout, (number, order)
    assert len({git(clone.folder, "rev-parse", "HEAD") for clone in world.clones[:2]}) == 1


@pytest.mark.slow
def test_a_share_removes_nothing_and_ends_no_work_of_the_users(tmp_path, template, pythons):
    world = World(tmp_path, template)
    first, clone = world.clones[0], world.clones[1]
    for number in (0, 1):
        world.measure(number)
        world.share(number)
    theirs = clone.folder / f"data/measured/local-{MACHINES[0]}.jsonl"
    whole = theirs.read_text()

    # Others shared since, and `dvc repro` has changed the lock, which nobody committed.
    world.measure(0)
    world.share(0)
    world.measure(1)
    clone.run("python", "scripts/bundle.py", "--machine", "all")
    clone.run("dvc", "commit", "--force", "measure")
    assert "dvc.lock" in git(clone.folder, "status", "--porcelain")
    world.share(1)
    assert len(theirs.read_text().splitlines()) == 3
    whole = theirs.read_text()

    # A line, or a file, that is gone comes back; also where a commit took it away.
    theirs.write_text("".join(whole.splitlines(keepends=True)[:2]))
    world.share(1)
    assert theirs.read_text() == whole
    theirs.unlink()
    world.share(1)
    assert theirs.read_text() == whole
    assert (
        whole
        == git(clone.folder, "show", f"@{{upstream}}:{theirs.relative_to(clone.folder)}") + "\n"
    )

    # What cannot be read is refused before anything is committed.
    tip = git(clone.folder, "rev-parse", "HEAD")
    for damage in ("", "\x00\xff", whole.partition("\n")[2]):
        theirs.write_text(damage, encoding="latin-1")
        done = clone.run("python", "scripts/share.py", check=False)
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and theirs.name in done.stderr
    theirs.write_text(whole)
    assert git(clone.folder, "rev-parse", "HEAD") == tip

    # A merge of the user's stays as it is.
    git_try(clone, "checkout", "-q", "-b", "side", "HEAD~1")
    (clone.folder / "README.md").write_text("side\n")
    git_try(clone, "commit", "-qam", "side")
    git_try(clone, "checkout", "-q", "-")
    (clone.folder / "README.md").write_text("here\n")
    git_try(clone, "commit", "-qam", "here")
    git_try(clone, "merge", "-q", "side")
    (clone.folder / "README.md").write_text("solved by hand\n")
    done = clone.run("python", "scripts/share.py", check=False)
    assert done.returncode == 1 and "in the middle of something (MERGE_HEAD)" in done.stderr
    assert (clone.folder / "README.md").read_text() == "solved by hand\n"
    assert git(clone.folder, "rev-parse", "--verify", "MERGE_HEAD")
    assert first.records()


def test_a_record_of_this_machine_comes_back_from_data_measured(tmp_path, template, pythons):
    clone = make_clone(tmp_path / "clone")
    facts = machine.facts()
    other = replace(facts, kernel="0.1", product=None, boot="0" * 12)
    one, of_same_image = (replace(template, machine=which) for which in (facts, other))
    later = replace(of_same_image.run, started_at="2026-11-20T10:00:00+00:00")
    of_same_image = replace(of_same_image, run=later)
    files_of_records.write([one, of_same_image], clone.folder / "data/measured")
    tree = clone.records()
    dry = clone.snakemake("-n", "report", check=False)
    assert "1 records of this machine are in data/measured alone" in dry.stderr + dry.stdout
    assert clone.records() == tree == {}
    said = clone.snakemake("--quiet", "all", "--", "runs").stderr
    assert said.count("is back from data/measured") == 1
    assert [text.encode() for text in clone.records().values()] == [encoded(one)]


@pytest.mark.slow
def test_an_experiment_outside_of_the_workspace_trains_nothing(tmp_path, template, pythons):
    clone = World(tmp_path, template).clones[0]
    experiment = ("dvc", "exp", "run", "--temp", "-S", "config/config.yaml:batch_size=256")
    # As with an activated environment: there is no .venv in a folder of DVC's.
    done = clone.run(*experiment, check=False, PATH=f"{BIN}:{os.environ['PATH']}")
    assert done.returncode and "keeps its records nowhere else" in done.stderr + done.stdout
    assert "Training" not in done.stdout


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("s3://bucket/x", "needs a package more: .venv/bin/uv pip install"),
        ("gs://bucket/x", "dvc[gs]=="),
        ("ssh://host/x", "dvc[ssh]=="),
        ("/nowhere/at/all", "is not there; mount it, or make that folder"),
    ],
)
def test_a_store_that_cannot_be_used_is_said_before_a_training(tmp_path, pythons, store, said):
    clone = make_clone(tmp_path / "clone")
    (clone.folder / ".venv").symlink_to(BIN.parent)
    clone.run("dvc", "remote", "add", "-d", "store", store)
    for command in (["python", "scripts/share.py", "--check"], ["python", "scripts/share.py"]):
        done = clone.run(*command, check=False)
        assert done.returncode == 1 and said in done.stderr and done.stderr.count("\n") == 1
    assert clone.records() == {}
