"""A training that is killed goes on after its last checkpoint, and its record adds up."""

import json
import random
import resource
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import jsonschema
import pytest
from expect import wait_until
from trainings import SCHEMA, answer, train

from epochcost import ROOT, files
from epochcost.measure.checkpoints import MOST_STARTS
from epochcost.record.names import RunName

pytestmark = pytest.mark.alone


@dataclass
class Killed:
    """A full training that is started, killed, and started again.

    epochs: how many it trains; None for those of its recipe.
    """

    python: Path
    framework: str
    data: Path
    folder: Path
    options: tuple = ()
    workload: str = "mnist_mlp"
    variant: str = "default"
    epochs: int | None = 4
    lived_s: float = 0.0
    seen: list[dict] = field(default_factory=list)
    _process: subprocess.Popen | None = None
    _begun: float = 0.0
    _began_at: float = 0.0

    @property
    def record(self) -> Path:
        run = RunName("local", self.workload, self.framework, self.variant, 1)
        root = self.folder / "results/runs"
        return next(iter(run.records(root)), run.path(root))

    def start(self, *options, **more) -> subprocess.Popen:
        command = [
            *(self.python, ROOT / "scripts/train.py", self.workload, self.framework),
            *("--data", self.data, "--variant", self.variant, "--scale", "full", *self.options),
        ]
        if self.epochs:
            command += ["--epochs", str(self.epochs)]
        self._begun, self._began_at = time.monotonic(), time.time()
        self._process = subprocess.Popen(
            [*command, *options], cwd=self.folder, stderr=subprocess.PIPE, text=True, **more
        )
        return self._process

    def state(self) -> dict:
        """What its checkpoint says; {} where there is none."""
        for path in self._folders():
            if (path / "state.json").exists():
                return json.loads((path / "state.json").read_text())
        return {}

    def _folders(self) -> list[Path]:
        return list((self.folder / "results/checkpoints").glob("*/*/*/*"))

    def wait_for(self, sign) -> None:
        """Wait until its checkpoint satisfies `sign`, or it has ended."""
        wait_until(
            lambda: self._process.poll() is not None or sign(self.state()),
            "a sign of its checkpoint",
            every_s=0.005,
        )

    def wait_for_begin(self) -> None:
        """Wait until it has taken its checkpoint over."""
        self.wait_for(lambda state: state.get("since", 0) > self._began_at - 0.05)

    def end(self, by: int = signal.SIGKILL) -> bool:
        """End it; returns whether it was still there. Every epoch seen before must be there."""
        there = self._process.poll() is None
        self._process.send_signal(by)
        self._process.wait(30)
        self.lived_s += time.monotonic() - self._begun
        if not self.record.exists():
            epochs = self.state().get("epochs", [])
            assert epochs[: len(self.seen)] == self.seen, "an epoch was lost"
            self.seen = epochs
        return there

    def finish(self) -> dict:
        """Let it end by itself; the record, checked against what was seen from outside."""
        process = self.start()
        _, said = process.communicate(timeout=300)
        self.lived_s += time.monotonic() - self._begun
        assert process.returncode == 0, said
        return self.check()

    def check(self) -> dict:
        content = files.read_json(self.record)
        jsonschema.Draft202012Validator(SCHEMA).validate(content)
        assert content["status"] == "ok"
        assert [epoch["epoch"] for epoch in content["epochs"]] == list(range(1, self.epochs + 1))
        for seen, kept in zip(self.seen, content["epochs"], strict=False):
            assert [kept[key] for key in ("train_s", "eval_s", "loss")] == [
                seen[key] for key in ("train_s", "eval_s", "loss")
            ]
        phases = content["phases"]
        assert sum(value or 0 for value in phases.values()) == pytest.approx(content["wall_s"])
        assert -0.05 < phases["other"] < 0.05 * content["wall_s"] + 0.3
        # As the process sees itself from its start, without starting and ending it.
        assert self.lived_s * 0.7 - 1 < content["wall_s"] < self.lived_s + 0.1
        assert not self._folders()
        return content


@pytest.fixture
def killed(pythons, little, tmp_path):
    def make(framework: str, *options) -> Killed:
        return Killed(pythons[framework], framework, little, tmp_path, options)

    return make


@pytest.mark.parametrize(
    "framework", ["pytorch", pytest.param("keras-jax", marks=pytest.mark.full)]
)
def test_a_killed_training_goes_on_and_learns_the_same(
    killed, pythons, little, tmp_path, framework
):
    run = killed(framework)
    run.epochs = 8
    for epochs in (2, 5):
        run.start()
        run.wait_for(lambda state, epochs=epochs: len(state.get("epochs", [])) >= epochs)
        time.sleep(0.05)
        assert run.end()
        time.sleep(1.5)  # in which nobody works, and which nobody is charged for
    record = run.finish()
    assert record["interruptions"] == 2
    assert record["phases"]["lost"] > 0
    assert record["phases"]["save"] > 0
    whole = train(
        pythons[framework], "mnist_mlp", framework, little, tmp_path / "whole.json",
        *("--scale", "full", "--epochs", "8"),
    )  # fmt: skip
    losses, theirs = ([epoch["loss"] for epoch in one["epochs"]] for one in (record, whole))
    # PyTorch goes on with the very numbers; Keras draws another order of the samples.
    assert losses == pytest.approx(theirs, rel=1e-6 if framework == "pytorch" else 0.15)
    assert whole["interruptions"] == 0
    assert whole["phases"]["lost"] is None


@pytest.mark.parametrize("backend", ["tensorflow", "torch", "jax"])
def test_all_that_changes_in_keras_is_kept(pythons, backend):
    script = ROOT / "tests/frameworks/restores.py"
    counts = answer(pythons[f"keras-{backend}"], script, backend)
    # Six weights, as many means of their squares, steps, and what dropout draws from.
    assert counts["same"] == counts["variables"] >= 15
    assert counts["moved"] >= 13


def kill_at_random(run: Killed, kills: int, dice: random.Random) -> int:
    """Start and kill a training at random moments, often in its first seconds; how often."""
    done, in_vain = 0, 0
    while done < kills and not run.record.exists():
        before = len(run.seen)
        run.start()
        if in_vain == MOST_STARTS - 1:  # once more, and it would be given up
            run.wait_for(lambda state, before=before: len(state.get("epochs", [])) > before)
        time.sleep(dice.uniform(0, 0.3 if in_vain == MOST_STARTS - 1 else 6))
        done += run.end()
        # A kill in the middle of the epoch after the last whole one is in vain, too.
        in_vain = 1 if len(run.seen) > before else in_vain + 1
    return done


def test_kills_at_random_moments_lose_no_epoch_and_no_record(killed):
    run = killed("keras-tensorflow")
    run.epochs = 20
    kills = kill_at_random(run, 3, random.Random(1))
    record = run.check() if run.record.exists() else run.finish()
    assert record["interruptions"] <= kills


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("framework", ["pytorch", "keras-tensorflow"])
def test_many_kills(killed, framework, seed):
    run = killed(framework)
    run.epochs = 20
    kills = kill_at_random(run, 5, random.Random(100 + seed))
    record = run.check() if run.record.exists() else run.finish()
    print(f"{framework}: {kills} kills, {record['interruptions']} interruptions")


def test_fine_tuning_from_random_weights_goes_on_between_its_parts(killed, few_pictures):
    run = killed("fastai")
    run.workload, run.epochs, run.data = "catsdogs_resnet50", None, few_pictures
    run.start()
    run.wait_for(lambda state: state.get("epochs"))
    assert run.end()
    run.start().communicate()
    content = files.read_json(run.record)
    assert content["interruptions"] == 1
    assert [epoch["epoch"] for epoch in content["epochs"]] == [1, 2]
    assert content["phases"]["predict"] > 0
    assert content["weights"] == {"name": "resnet50-imagenet", "source": "random", "sha256": None}


def test_fastai_goes_on_too(killed, pythons, little_pictures, tmp_path):
    options, data = ("--batch-size", "20"), little_pictures("mnist_cnn")
    run = killed("fastai", *options)
    run.workload, run.epochs, run.data = "mnist_cnn", 3, data
    run.start()
    run.wait_for(lambda state: state.get("epochs"))
    run.end()
    record = run.finish()
    assert record["interruptions"] == 1
    whole = train(
        pythons["fastai"], "mnist_cnn", "fastai", data, tmp_path / "whole.json",
        *("--scale", "full", "--epochs", "3", *options),
    )  # fmt: skip
    losses, theirs = ([epoch["loss"] for epoch in one["epochs"]] for one in (record, whole))
    assert losses[0] == pytest.approx(theirs[0])
    assert losses == pytest.approx(theirs, rel=0.15)


@pytest.mark.full
def test_two_devices_go_on_too(killed):
    run = killed("pytorch")
    run.variant = "devices_2"
    run.start()
    run.wait_for(lambda state: len(state.get("epochs", [])) >= 2)
    run.end()
    assert run.finish()["interruptions"] == 1


def test_a_notice_to_end_is_followed_within_seconds_and_the_next_start_goes_on(killed):
    run = killed("pytorch")
    for ends in range(MOST_STARTS + 1):  # an orderly end is no failure, however often it happens
        process = run.start()
        run.wait_for_begin()
        assert run.state()["interruptions"] == ends
        noticed = time.monotonic()
        run.end(signal.SIGTERM)
        assert time.monotonic() - noticed < 10
        assert process.returncode == 128 + signal.SIGTERM
        assert "told to end" in process.stderr.read()
        assert not run.record.exists()
    assert run.finish()["interruptions"] == MOST_STARTS + 1


def test_a_training_that_is_killed_each_time_is_a_failed_run(killed):
    run = killed("pytorch")
    for kills in range(MOST_STARTS):
        run.start()
        run.wait_for_begin()
        assert run.state()["interruptions"] == kills
        assert run.end()
    run.start().communicate()
    content = files.read_json(run.record)
    jsonschema.Draft202012Validator(SCHEMA).validate(content)
    assert content["status"] == "failed"
    assert "killed 3 times since its last checkpoint" in content["failure"]["reason"]
    assert content["failure"]["phase"] == "train"
    assert content["interruptions"] == MOST_STARTS


def test_a_time_limit_makes_a_failed_run(killed):
    run = killed("pytorch")
    run.epochs = 1_000
    _, said = run.start("--time-limit", "3").communicate()
    content = files.read_json(run.record)
    assert content["status"] == "failed"
    assert content["failure"]["reason"] == "not done within its time limit of 3 s"
    assert "(recorded)" in said


def test_another_training_leaves_a_checkpoint_alone_and_begins_anew(killed):
    run = killed("pytorch")
    run.start()
    run.wait_for(lambda state: state.get("epochs"))
    run.end()
    kept = run.state()
    run.options = ("--seed", "9")
    assert run.start().wait() == 0
    assert files.read_json(run.record)["interruptions"] == 0
    assert run.state() == kept


def test_a_damaged_checkpoint_is_named_and_left_where_it_is(killed):
    run = killed("pytorch")
    run.start()
    run.wait_for(lambda state: state.get("epochs"))
    run.end()
    (folder,) = run._folders()
    path = folder / run.state()["file"]
    path.write_bytes(path.read_bytes()[:1000])
    process = run.start()
    _, said = process.communicate()
    assert process.returncode == 1
    assert f"cannot resume from {path.relative_to(run.folder)}" in said
    assert "to start over" in said
    assert path.exists()
    assert not run.record.exists()


@pytest.mark.parametrize("framework", ["pytorch", "keras-tensorflow"])
def test_a_full_disk_costs_the_checkpoint_and_not_the_run(killed, framework):
    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    run = killed(framework)
    _, said = run.start(preexec_fn=little_room).communicate()
    assert files.read_json(run.record)["status"] == "ok", said
    assert said.count("no more checkpoints") == 1
