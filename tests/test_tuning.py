import argparse
import functools
import json
import subprocess
import sys

import pytest
from trainings import refused, train

from epochcost import files, tuning
from epochcost.configuration import ROOT
from epochcost.errors import InputError
from epochcost.frameworks import memory
from epochcost.measurement import machine

sys.path.insert(0, str(ROOT / "scripts"))
import tune

HERE = "0123456789ab"
HALF = machine.usable_cores() // 2
# What there is of these depends on the machine.
FEWER = {"threads": HALF} if HALF else {}
KEPT = {"keep_memory": True} if memory.can_be_kept() else {}


def test_settings_are_kept_by_machine_workload_and_framework(tmp_path):
    path = tmp_path / "tuned.yaml"
    tuning.save(path, HERE, "mnist_mlp", "pytorch", {"flush_denormal": True})
    tuning.save(path, HERE, "mnist_mlp", "keras-jax", {})
    tuning.save(path, "another", "mnist_mlp", "pytorch", {"compile": True})
    tuning.save(path, HERE, "mnist_mlp", "pytorch", {"compile": False})
    assert tuning.load(path) == {
        HERE: {"mnist_mlp": {"pytorch": {"compile": False}, "keras-jax": {}}},
        "another": {"mnist_mlp": {"pytorch": {"compile": True}}},
    }
    assert path.read_text().startswith("# Settings of the variant")
    assert tuning.needed("tuned", path, HERE, "mnist_mlp", "keras-jax") == {}
    assert tuning.settings_of("tuned", path, HERE, "mnist_cnn", "keras-jax") is None


def test_what_was_not_tuned_is_said_with_the_command_that_does_it(tmp_path):
    assert tuning.needed("default", tmp_path / "none", HERE, "mnist_mlp", "pytorch") == {}
    with pytest.raises(InputError, match="run: snakemake tune --config workloads=mnist_mlp fram"):
        tuning.needed("tuned", tmp_path / "none", HERE, "mnist_mlp", "pytorch")


def test_unknown_settings_are_refused_with_the_nearest_right_one():
    choices = {"compile": [False, True]}
    tuning.check({"compile": True}, choices, "pytorch")
    with pytest.raises(InputError, match="no setting 'compil' here; did you mean 'compile'"):
        tuning.check({"compil": True}, choices, "pytorch")
    with pytest.raises(InputError, match="compile cannot be 3; it can be False, True"):
        tuning.check({"compile": 3}, choices, "pytorch")


class FakeRuns:
    """Stands in for runs: seconds and quality by settings; None for a run that fails.

    late: seconds of whole epochs, where they differ from those that quick runs predict.
    """

    def __init__(self, times, late=None, quality=None):
        self.times, self.late, self.quality = times, late or {}, quality or {}
        self.made, self.last = [], "r.json"

    def choices(self):
        return {"a": [False, True], "b": [1, 2, 3], "c": [False, True]}

    def run(self, settings, epochs=None):
        self.made.append((settings, epochs))
        key = tuple(sorted(settings.items()))
        seconds = self.late.get(key, self.times[key]) if epochs else self.times[key]
        if seconds is None:
            return None
        quality = self.quality.get(key, 0.9) if epochs else None
        return tune.Outcome(seconds, 10, "val_accuracy", quality, fine_tuning=False)


TIMES = {
    (): 100.0,
    (("a", True),): 98.0,  # no gain worth having
    (("b", 2),): 80.0,
    (("b", 3),): None,  # fails
    (("b", 2), ("c", True)): 70.0,
}
NAMED = {"workload": "w", "framework": "pytorch"}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, {"b": 2, "c": True}),
        ({(("b", 2), ("c", True)): None}, {"b": 2}),
        ({(("b", 2),): 99.0, (("c", True),): 99.0}, {}),
    ],
)
def test_a_setting_is_kept_where_it_gains_and_a_failed_run_is_no_gain(
    monkeypatch, tmp_path, change, found
):
    runs = FakeRuns(TIMES | change)
    monkeypatch.setattr(tune, "Runs", lambda *_: runs)
    path = tmp_path / "tuned.yaml"
    tune.tune(argparse.Namespace(**NAMED, output=path))
    (places,) = tuning.load(path).values()
    assert places == {"w": {"pytorch": found}}
    # What was found ran in turn with the defaults, over whole epochs: a minute is six of ten.
    whole = [run for run in runs.made if run[1]]
    assert whole == ([({}, 6), (found, 6)] * 4 if found else [])


@pytest.mark.parametrize(
    ("framework", "name", "values"),
    [
        ("keras-tensorflow", "input_autotuning", [True, False]),
        ("pytorch", "keep_memory", [False, True]),
    ],
)
def test_what_quick_runs_may_misjudge_is_tried_in_whole_epochs(
    monkeypatch, tmp_path, framework, name, values
):
    late = ((name, values[1]),)
    times = {(): 100.0, (("a", True),): 99.0, (("b", 2),): 99.0, (("b", 3),): 99.0}
    times |= {(("c", True),): 99.0, late: 101.0}
    runs = FakeRuns(times, late={(): 150.0})
    runs.choices = lambda: {"a": [False, True], name: values}
    monkeypatch.setattr(tune, "Runs", lambda *_: runs)
    path = tmp_path / "tuned.yaml"
    tune.tune(argparse.Namespace(workload="w", framework=framework, output=path))
    (places,) = tuning.load(path).values()
    assert places == {"w": {framework: {name: values[1]}}}


@pytest.mark.parametrize(
    ("seconds", "quality", "found"),
    [
        (101.0, 0.9, {}),
        (98.0, 0.9, {}),  # no gain worth having
        (80.0, 0.9, {"b": 2}),
        (80.0, 0.88, {}),  # it learns less
        (None, 0.9, {}),
    ],
)
def test_what_does_not_win_in_turn_at_equal_quality_is_not_kept(seconds, quality, found):
    key = (("b", 2),)
    runs = FakeRuns({(): 100.0, key: 80.0}, late={key: seconds}, quality={key: quality})
    chosen, ratio = tune._confirmed(runs, [{"b": 2}], 3)
    assert chosen == found
    assert ratio == (0.8 if found else 1.0)


@pytest.mark.parametrize(
    ("metric", "plain", "tuned", "as_good"),
    [
        ("loss", 1.40, 1.42, True),
        ("loss", 1.40, 1.43, False),
        ("loss", 1.40, 1.20, True),
        ("val_accuracy", 0.9, 0.895, True),
        ("val_accuracy", 0.9, 0.885, False),
        ("val_accuracy", 0.9, 0.95, True),
    ],
)
def test_less_loss_and_more_accuracy_are_as_good(metric, plain, tuned, as_good):
    outcomes = (tune.Outcome(1.0, 10, metric, quality, False) for quality in (plain, tuned))
    assert tune._as_good(*outcomes) is as_good


def test_who_loses_one_round_is_out():
    runs = FakeRuns({})
    seconds = iter([80.0, 80.0, 80.0, 101.0])
    runs.run = lambda settings, epochs: tune.Outcome(
        next(seconds) if settings else 100.0, 10, "val_accuracy", 0.9, fine_tuning=False
    )
    assert tune._confirmed(runs, [{"b": 2}], 3) == ({}, 1.0)


def test_whole_epochs_decide_where_they_take_minutes_and_quick_runs_where_hours():
    def epochs(seconds, fine_tuning=False):
        return tune._epochs_to_confirm(tune.Outcome(seconds, 10, "loss", None, fine_tuning))

    assert [epochs(40), epochs(150), epochs(1400), epochs(1600)] == [10, 4, 2, None]
    assert epochs(40, fine_tuning=True) is None


def test_defaults_that_fail_end_the_search(monkeypatch, tmp_path):
    monkeypatch.setattr(tune, "Runs", lambda *_: FakeRuns({(): None}))
    with pytest.raises(
        InputError, match=r"w with pytorch fails with the defaults already; see r\.json"
    ):
        tune.tune(argparse.Namespace(**NAMED, output=tmp_path / "t.yaml"))


def test_a_setting_that_takes_far_too_long_or_dies_is_a_failed_one(monkeypatch, tmp_path, capsys):
    python = tmp_path / "python"
    python.write_text(
        f"""#!{sys.executable}
import json, os, signal, sys
settings, record = (sys.argv[sys.argv.index(o) + 1] for o in ("--settings", "--record"))
if "deadly" in settings:
    os.kill(os.getpid(), signal.SIGKILL)
content = json.load(open({str(ROOT / "tests/records/quick.json")!r}))
if "slow" in settings and float(sys.argv[sys.argv.index("--time-limit") + 1]) < 100:
    content["status"] = "failed"
os.makedirs(os.path.dirname(record), exist_ok=True)
content["noise"]["flags"] = ["load from others"] if "disturbed" in settings else []
json.dump(content | {{"wall_s": 20}}, open(record, "w"))
"""
    )
    python.chmod(0o755)
    arguments = argparse.Namespace(
        workload="mnist_mlp", framework="pytorch", python=str(python), data=tmp_path,
        weights=None, records=tmp_path,
    )  # fmt: skip
    monkeypatch.setattr(tune, "_PATIENCE_SECONDS", 1)  # and four times 20 s
    runs = tune.Runs(arguments, HERE)
    assert runs.run({}).epochs == 20
    assert runs.run({"slow": True}) is None
    assert runs.run({"deadly": True}) is None
    assert runs.run({}).quality is None
    capsys.readouterr()
    assert runs.run({"disturbed": True}).epochs == 20
    first, again = capsys.readouterr().out.splitlines()
    assert first == again
    assert first.endswith(" s load from others")
    assert len(list(tmp_path.rglob("[0-9]*.json"))) == 5  # the deadly one left none


def test_a_damaged_file_and_a_lost_entry_are_cared_for(tmp_path):
    path, marker = tmp_path / "tuned.yaml", tmp_path / "tuning/here/w/f/tuned"
    marker.parent.mkdir(parents=True)
    marker.touch()
    for damaged in ("a: [", "a: 3", "a: {b: {c: 3}}"):
        path.write_text(damaged)
        with pytest.raises(InputError, match=r"is not what scripts/tune\.py writes; delete it"):
            tuning.load(path)
    tuning.save(path.with_name("other.yaml"), "here", "w", "f", {})
    tuning.drop_stale_markers(path.with_name("other.yaml"), tmp_path / "tuning")
    assert marker.exists()
    path.unlink()
    tuning.drop_stale_markers(path, tmp_path / "tuning")
    assert not marker.exists()


def test_a_search_leaves_its_runs_and_an_entry_that_a_tuned_training_uses(
    pythons, little, tmp_path
):
    """A whole search on little data; what wins is not asserted, that depends on the machine."""
    output, records = tmp_path / "tuned.yaml", tmp_path / "tuning"
    done = subprocess.run(
        [
            *(sys.executable, ROOT / "scripts/tune.py", "mnist_mlp", "keras-jax"),
            *("--python", pythons["keras-jax"], "--data", little),
            *("--output", output, "--records", records),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (machine_id,) = tuning.load(output)
    settings = tuning.load(output)[machine_id]["mnist_mlp"]["keras-jax"]
    made = [
        files.read_json(path) for path in sorted(records.rglob("*.json"), key=lambda p: int(p.stem))
    ]
    assert made[0]["software"]["settings"] == {}
    tried = {name for r in made for name in r["software"]["settings"]}
    assert tried == {"steps_per_execution", *KEPT}
    assert all(r["run"]["variant"] == "tuned" for r in made)
    # Who is kept has won whole epochs, and four rounds of them.
    whole = [r["software"]["settings"] for r in made if r["run"]["scale"] == "full"]
    # (Disturbed ones are made again.)
    assert not settings or min(whole.count(settings), whole.count({})) >= 4
    assert "the time of the defaults" in done.stdout


@pytest.fixture(scope="module")
def tuned_run(pythons, little, few, tmp_path_factory):
    """Trains with settings; gives the record."""

    def make(workload: str, framework: str, settings: dict) -> dict:
        data = few if workload == "mnist_cnn" else little
        path = tmp_path_factory.mktemp("run") / "record.json"
        options = ("--variant", "tuned", "--settings", json.dumps(settings))
        record = train(pythons[framework], workload, framework, data, path, *options)
        assert record["status"] == "ok", record["failure"]
        return record

    return make


@pytest.fixture(scope="module")
def default_run(tuned_run):
    """The same without settings, once for all tests of a workload and framework."""
    return functools.cache(lambda workload, framework: tuned_run(workload, framework, {}))


@pytest.mark.parametrize(
    ("workload", "framework", "settings"),
    [
        (
            "mnist_mlp", "keras-tensorflow",
            KEPT | FEWER | {"input_autotuning": False, "steps_per_execution": 10, "onednn": False,
                            "jit_compile": True},
        ),
        ("mnist_mlp", "keras-jax", KEPT | {"steps_per_execution": 10}),
        ("mnist_mlp", "keras-torch", FEWER | {"flush_denormal": True}),
        ("mnist_cnn", "pytorch", KEPT | FEWER | {"channels_last": True, "flush_denormal": True}),
        ("mnist_cnn", "fastai", {"channels_last": True, "onednn": False}),
    ],
    ids=str,
)  # fmt: skip
def test_settings_change_how_and_not_what_is_learnt(
    tuned_run, default_run, workload, framework, settings
):
    """The same seed with and without settings: losses that differ by no more than order does."""
    record = tuned_run(workload, framework, settings)
    assert record["software"]["settings"] == settings
    if framework != "keras-jax" and "threads" in settings:
        assert record["software"]["threads"] == HALF
    losses = [r["epochs"][0]["loss"] for r in (record, default_run(workload, framework))]
    assert losses[0] == pytest.approx(losses[1], rel=0.1)


def test_a_setting_that_a_framework_lacks_leaves_no_record(pythons, little, tmp_path):
    said = refused(
        pythons["pytorch"], "mnist_mlp", "pytorch", little, tmp_path / "r.json",
        "--variant", "tuned", "--settings", '{"channels_last": true}',
    )  # fmt: skip
    assert "pytorch has no setting 'channels_last' here" in said
