import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from expect import wait_until
from observed import typed

from epochcost import ROOT, files
from epochcost.errors import InputError
from epochcost.frameworks import memory, tuning
from epochcost.measure import machine
from epochcost.training import search

HERE = tuning.Case("0123456789ab", "mnist_mlp", "pytorch", "1a2b3c4d", "complete")
# Whether memory can be kept depends on the machine.
KEPT = {"keep_memory": True} if memory.can_be_kept() else {}


def test_settings_are_kept_by_machine_workload_and_framework(tmp_path):
    path, on_jax = tmp_path / "tuned.yaml", HERE._replace(framework="keras-jax")
    another = HERE._replace(place="another")
    tuning.save(path, HERE, {"flush_denormal": True}, "torch 2")
    tuning.save(path, on_jax, {}, "jax 1")
    tuning.save(path, another, {"compile": True}, "torch 2")
    tuning.save(path, HERE, {"compile": False}, "torch 3")
    kept = {case: tuning.settings_of("tuned", path, case) for case in (HERE, on_jax, another)}
    assert kept == {HERE: {"compile": False}, on_jax: {}, another: {"compile": True}}
    assert tuning.needed(path, HERE).version == "torch 3"
    assert path.read_text().startswith("# Settings of the variant")
    assert tuning.needed(path, on_jax).settings == {}
    assert tuning.settings_of("tuned", path, on_jax._replace(workload="mnist_cnn")) is None


@pytest.mark.parametrize("change", [{"recipe": "another"}, {"data": "synthetic"}])
def test_settings_of_another_recipe_or_kind_of_data_do_not_count(tmp_path, change):
    path, folder, other = tmp_path / "tuned.yaml", tmp_path / "tuning", HERE._replace(**change)
    tuning.save(path, other, {"compile": True}, "torch 2")
    assert tuning.settings_of("tuned", path, HERE) is None
    assert tuning.find(path, HERE) is None
    (folder / HERE.marker(1)).parent.mkdir(parents=True)
    for case in (HERE, other):
        (folder / case.marker(1)).touch()
    assert tuning.marker(HERE, path, folder) == folder / HERE.marker(2)
    assert tuning.marker(other, path, folder) == folder / other.marker(1)
    # Each keeps its own.
    tuning.save(path, HERE, {}, "torch 2")
    found = [tuning.settings_of("tuned", path, case) for case in (HERE, other)]
    assert found == [{}, {"compile": True}]


def test_what_was_not_tuned_is_said_with_the_command_that_does_it(tmp_path):
    assert tuning.settings_of("default", tmp_path / "none", HERE) == {}
    with pytest.raises(InputError, match="run: snakemake tune --config workloads=mnist_mlp fram"):
        tuning.needed(tmp_path / "none", HERE)


def test_unknown_settings_are_refused_with_the_nearest_right_one():
    choices = {"compile": [False, True]}
    tuning.check({"compile": True}, choices, "pytorch")
    with pytest.raises(InputError, match="no setting 'compil' here; did you mean 'compile'"):
        tuning.check({"compil": True}, choices, "pytorch")
    for other in (3, 1):
        with pytest.raises(InputError, match=f"compile cannot be {other}; it can be False, True"):
            tuning.check({"compile": other}, choices, "pytorch")


def found_in(path: Path) -> dict:
    """The settings in a file that a search on this machine wrote, by workload and framework."""
    (place,) = tuning.load(path).items()
    assert place[0] == tuning.place_of(machine.facts())
    return {
        workload: {
            framework: entry["settings"]
            for framework, cases in frameworks.items()
            for entry in cases.values()
        }
        for workload, frameworks in place[1].items()
    }


class FakeRuns(search.Runs):
    """Stands in for runs: seconds and quality by settings; None for a run that fails.

    late: seconds of whole epochs, where they differ from those that quick runs predict.
    """

    data = "synthetic"

    def __init__(self, times, late=None, quality=None):
        self.times, self.late, self.quality = times, late or {}, quality or {}
        self.made, self.last, self._search = [], Path(__file__), search_for()
        self.trials, self.recipe = [], {"epochs": 10, "quality": {"metric": "val_accuracy"}}
        self.version = "torch 2"

    def choices(self):
        return {"a": [False, True], "b": [1, 2, 3], "c": [False, True]}

    def run(self, settings, epochs=None, trial=1):
        self.made.append((settings, epochs))
        self.trials.append(trial)
        key = tuple(sorted(settings.items()))
        seconds = self.late.get(key, self.times[key]) if epochs else self.times[key]
        if seconds is None:
            return None
        quality = self.quality.get(key, 0.9) if epochs else None
        return search.Outcome(seconds, quality, None, wall_s=20.0)


def search_for(workload="w", framework="pytorch", data=Path("data"), **more) -> search.Search:
    return search.Search(workload, framework, data, **more)


TIMES = {
    (): 100.0,
    (("a", True),): 98.0,  # no gain worth having
    (("b", 2),): 80.0,
    (("b", 3),): None,  # fails
    (("b", 2), ("c", True)): 70.0,
}
FEW_EPOCHS = (0.9, None, 20.0)


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
    monkeypatch.setattr(search, "Runs", lambda *_: runs)
    path = tmp_path / "tuned.yaml"
    search.tune(search_for(output=path))
    assert found_in(path) == {"w": {"pytorch": found}}
    # What was found ran in turn with the defaults, over whole epochs: a minute is six of ten.
    whole = [run for run in runs.made if run[1]]
    assert len(whole) == (8 if found else 0)
    for pair in zip(whole[::2], whole[1::2], strict=True):
        assert sorted(pair, key=str) == sorted([({}, 6), (found, 6)], key=str)
    # Each pair has a seed of its own.
    rounds = runs.trials[len(runs.trials) - len(whole) :]
    assert rounds[::2] == rounds[1::2] == ([3, 4, 5, 6] if found else [])


def test_defaults_that_fail_later_are_said_and_leave_no_entry(monkeypatch, tmp_path):
    runs = FakeRuns(TIMES)
    runs.late[()] = None
    monkeypatch.setattr(search, "Runs", lambda *_: runs)
    with pytest.raises(InputError, match=r"^w with pytorch fails with the defaults; see .*\.py"):
        search.tune(search_for(output=tmp_path / "tuned.yaml"))
    assert not (tmp_path / "tuned.yaml").exists()


def test_that_nothing_beats_the_defaults_is_not_said_where_the_machine_fails(monkeypatch, tmp_path):
    settings = [("a", True), ("b", 2), ("b", 3), ("c", True)]
    runs = FakeRuns({(): 100.0} | {(setting,): None for setting in settings})
    runs.erred, path = True, tmp_path / "tuned.yaml"
    monkeypatch.setattr(search, "Runs", lambda *_: runs)
    search.tune(search_for(output=path))
    assert found_in(path) == {"w": {"pytorch": {}}}
    assert runs.made[-1] == ({}, None)
    path.unlink()
    outcomes = iter([search.Outcome(100.0, None, None, 20.0), None])
    runs.run = lambda settings, epochs=None, trial=1: None if settings else next(outcomes)
    with pytest.raises(InputError, match="w with pytorch fails with the defaults"):
        search.tune(search_for(output=path))
    assert not path.exists()


def test_devices_are_no_setting(tmp_path):
    path = tmp_path / "tuned.yaml"
    tuning.save(path, HERE, {"devices": "2"}, "torch 2")
    with pytest.raises(InputError, match="devices are no setting to tune; use the variant"):
        tuning.needed(path, HERE)


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
    monkeypatch.setattr(search, "Runs", lambda *_: runs)
    path = tmp_path / "tuned.yaml"
    search.tune(search_for(framework=framework, output=path))
    assert found_in(path) == {"w": {framework: {name: values[1]}}}


@pytest.mark.parametrize(
    ("seconds", "quality", "found"),
    [
        (101.0, 0.9, {}),
        (98.0, 0.9, {}),  # no gain worth having
        (80.0, 0.9, {"b": 2}),
        (80.0, 0.88, {}),  # it learns less
        (80.0, 0.898, {}),  # a little less, in every round
        (None, 0.9, {}),
    ],
)
def test_what_does_not_win_in_turn_at_equal_quality_is_not_kept(seconds, quality, found):
    key = (("b", 2),)
    runs = FakeRuns({(): 100.0, key: 80.0}, late={key: seconds}, quality={key: quality})
    chosen, ratio = search.won(runs, [{"b": 2}], 3, range(1, 5))
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
    """In the median: on TensorFlow, runs of the same settings differ, too."""

    def outcomes(*qualities):
        return [search.Outcome(1.0, quality, None, 20.0) for quality in qualities]

    runs = outcomes(0.1, tuned, 9.0), outcomes(plain, plain, plain)
    assert search.as_good(*runs, metric, final=True) is as_good


@pytest.mark.parametrize("metric", ["loss", "val_accuracy"])
def test_what_is_a_little_worse_in_every_round_is_worse(metric):
    def outcomes(*qualities):
        return [search.Outcome(1.0, quality, None, 20.0) for quality in qualities]

    bad = 1.005 if metric == "loss" else 0.995
    plain = outcomes(0.90, 0.91, 0.92, 0.93)
    worse = outcomes(*(one.quality * bad for one in plain))
    assert not search.as_good(worse, plain, metric, final=True)
    assert search.as_good([*worse[:3], plain[3]], plain, metric, final=True)
    # In two rounds, which only choose, that is too often mere chance.
    assert search.as_good(worse[:2], plain[:2], metric, final=False)


def test_settings_that_miss_the_target_more_often_are_not_as_good():
    def outcomes(*reached):
        return [search.Outcome(1.0, 0.9, each, 20.0) for each in reached]

    as_good = partial(search.as_good, metric="val_accuracy", final=True)
    assert as_good(outcomes(True, True), outcomes(True, True))
    assert as_good(outcomes(True, False), outcomes(False, True))
    assert not as_good(outcomes(True, False), outcomes(True, True))


def test_the_target_counts_where_all_epochs_were_trained(record):
    epochs = [{"epoch": n, "train_s": 2.0, "eval_s": None} for n in (1, 2)]
    quality = record["quality"] | {"value": 0.5, "target": 0.9, "reached": False}
    full = record | {"run": record["run"] | {"scale": "full"}, "epochs": epochs, "quality": quality}
    assert search.outcome_of(typed(full), 2).reached is False
    assert search.outcome_of(typed(full), 20).reached is None
    assert search.outcome_of(typed(record), 20).reached is None


def test_settings_are_screened_by_times_without_waits():
    waiting = search.Outcome(110.0, None, None, 20.0, waits_s=30.0)
    runs = FakeRuns({})
    runs.run = lambda settings: waiting
    quiet = search.Outcome(100.0, None, None, 20.0)
    assert search.screen(runs, {"a": [False, True]}, quiet) == {"a": True}
    assert search.screen(runs, {"a": [False, True]}, waiting) == {}


def test_chance_decides_who_comes_first_in_a_round():
    runs = FakeRuns({(): 100.0, (("b", 2),): 80.0})
    outcomes = [search.one_round(runs, [{"b": 2}], 3, 1) for _ in range(40)]
    assert [[one.seconds for one in both] for both in outcomes] == [[100.0, 80.0]] * 40
    assert {settings.get("b") for settings, _ in runs.made[::2]} == {None, 2}


def test_where_epochs_take_hours_the_allocator_is_screened_and_the_rest_decided_in_rounds(
    monkeypatch, tmp_path
):
    seconds = {(): 4000.0, (("keep_memory", True),): 400.0}
    seconds[("input_autotuning", False), ("keep_memory", True)] = 380.0
    runs = FakeRuns(seconds)
    choices = {"keep_memory": [False, True], "input_autotuning": [True, False]}
    runs.choices = lambda: choices
    monkeypatch.setattr(search, "Runs", lambda *_: runs)
    path = tmp_path / "tuned.yaml"
    search.tune(search_for(framework="keras-tensorflow", output=path))
    both = {"keep_memory": True, "input_autotuning": False}
    assert found_in(path) == {"w": {"keras-tensorflow": both}}
    assert runs.made[:2] == [({}, None), ({"keep_memory": True}, None)]
    assert [settings for settings, _ in runs.made[2:]].count(both) == 2 + 4


def test_what_no_quick_run_shows_is_not_tried_where_only_they_decide(monkeypatch, tmp_path):
    runs = FakeRuns({(): 4000.0, (("keep_memory", True),): 400.0})
    choices = {"keep_memory": [False, True], "flush_denormal": [False, True]}
    runs.choices = lambda: choices
    monkeypatch.setattr(search, "Runs", lambda *_: runs)
    path = tmp_path / "tuned.yaml"
    search.tune(search_for(output=path))
    assert found_in(path) == {"w": {"pytorch": {"keep_memory": True}}}
    assert len(runs.made) == 2 + 2 * 4


def test_what_quick_runs_misjudge_is_tried_by_itself_and_together():
    choices = {"a": [False, True], "keep": [False, True], "tiny": [0, 1]}
    late = ("keep", "tiny", "of another system")
    with_best = [{"a": True} | more for more in ({}, {"keep": True}, {"tiny": 1})]
    both = {"keep": True, "tiny": 1}
    assert search.contenders_of({"a": True}, choices, late) == [*with_best, {"a": True} | both]
    assert search.contenders_of({}, choices, late) == [{"keep": True}, {"tiny": 1}, both]
    assert search.contenders_of({}, choices, ("keep",)) == [{"keep": True}]
    assert search.contenders_of({}, choices, ()) == []


def test_who_won_by_chance_must_win_anew(monkeypatch, tmp_path):
    """Two rounds choose one of two; it loses the first of those that it is alone in."""
    keep, late = (("keep_memory", True),), (("b", 2), ("keep_memory", True))
    runs = FakeRuns({(): 100.0, (("b", 2),): 80.0, keep: 99.0, late: 99.0})
    runs.choices = lambda: {"b": [1, 2], "keep_memory": [False, True]}
    seconds = iter([80.0, 80.0, 80.0, 101.0])
    make = runs.run

    def run(settings, epochs=None, trial=1):
        outcome = make(settings, epochs, trial)
        chosen = settings == {"b": 2}
        return search.Outcome(next(seconds), *FEW_EPOCHS) if chosen else outcome

    monkeypatch.setattr(runs, "run", run)
    monkeypatch.setattr(search, "Runs", lambda *_: runs)
    path = tmp_path / "tuned.yaml"
    search.tune(search_for(output=path))
    assert found_in(path) == {"w": {"pytorch": {}}}


def test_who_loses_one_round_is_out():
    runs = FakeRuns({})
    seconds = iter([80.0, 80.0, 80.0, 101.0])
    runs.run = lambda settings, epochs=None, trial=1: search.Outcome(
        next(seconds) if settings else 100.0, *FEW_EPOCHS
    )
    assert search.won(runs, [{"b": 2}], 3, range(1, 5)) == ({}, 1.0)


def test_whole_epochs_decide_where_they_take_minutes_and_quick_runs_where_hours():
    def epochs(seconds, **more):
        return search.epochs_to_confirm(
            search.Outcome(seconds, None, None, 20.0), {"epochs": 10, **more}
        )

    assert [epochs(40), epochs(150), epochs(1400), epochs(1600)] == [10, 4, 2, None]
    assert epochs(40, fine_tuning={}) is None


def test_defaults_that_fail_end_the_search(monkeypatch, tmp_path):
    monkeypatch.setattr(search, "Runs", lambda *_: FakeRuns({(): None}))
    with pytest.raises(InputError, match=r"w with pytorch fails with the defaults; see .*\.py"):
        search.tune(search_for(output=tmp_path / "t.yaml"))
    gone = FakeRuns({(): None})
    gone.last = tmp_path / "none.json"
    with pytest.raises(InputError, match="was killed with the defaults"):
        gone.defaults()


def test_a_setting_that_takes_far_too_long_or_dies_is_a_failed_one(monkeypatch, capsys, tmp_path):
    python = tmp_path / "python"
    python.write_text(
        f"""#!{sys.executable}
import json, os, signal, sys
given = dict(word.lstrip("-").split("=", 1) for word in sys.argv if "=" in word)
settings, record = json.loads(given["settings"]), given["record"]
if settings.get("needs") == "more than there is":
    os.kill(os.getpid(), signal.SIGKILL)
if settings.get("needs") == "what there is not":
    raise ValueError("it cannot be compiled")
content = json.load(open({str(ROOT / "tests/record/quick.json")!r}))
if settings and float(given["time-limit"]) < settings["needs"]:
    content["status"] = "failed"
os.makedirs(os.path.dirname(record), exist_ok=True)
json.dump(content | {{"wall_s": 20}}, open(record, "w"))
"""
    )
    python.chmod(0o755)
    asked = search_for("mnist_mlp", python=str(python), records=tmp_path)
    monkeypatch.setattr(search, "PATIENCE_SECONDS", 1)  # and twice, or four times, 20 s
    runs = search.Runs(asked, HERE.place)
    assert runs.run({}) is not None
    assert runs.run({"needs": 40}) is not None
    assert runs.run({"needs": 42}) is None
    for name in ("compile", "jit_compile"):
        assert runs.run({"needs": 80, name: True}) is not None
        assert runs.run({"needs": 82, name: True}) is None
    assert runs.run({"needs": 42, "jit_compile": False}) is None
    assert runs.run({"needs": "more than there is"}) is None
    assert runs.run({"needs": "what there is not"}) is None
    assert "status 1: ValueError: it cannot be compiled\n" in capsys.readouterr().out
    assert runs.erred
    assert runs.run({}).quality is None
    # Whole epochs, too, may take so many times as long as the defaults would need for them.
    seconds = 2 * runs.run({}).seconds / 20
    for settings, times in (({"threads": 1}, 2), ({}, 4)):
        longer = runs.patience(settings, 2) - runs.patience(settings, None)
        assert longer == pytest.approx(times * seconds)


@pytest.mark.parametrize(
    ("attempts", "counts"),
    [
        ([("load from others", 30), ("", 10)], 10),
        ([("another process on the GPU", 30), ("", 10)], 10),
        ([("GPU slowed down: heat", 30), ("", 10)], 10),
        ([("load from others", 30), ("load from others", 20)], 20),
        ([("load from others", 30), None], 30),
        ([("memory on disk", 30)], 30),  # which the settings may be to blame for
        ([("", 30)], 30),
        # Given up, perhaps as others slowed it down.
        ([("load from others", None), ("", 10)], 10),
        ([("", None)], None),
        ([None], None),
    ],
)
def test_a_run_that_others_disturbed_is_made_again(monkeypatch, record, tmp_path, attempts, counts):
    def content(flag, seconds):
        """As if each epoch of a full run had taken so long; None if it failed."""
        epochs = [{"epoch": n, "train_s": seconds, "eval_s": None} for n in (1, 2)]
        run = record["run"] | {"scale": "full"}
        noise = record["noise"] | {"flags": [flag] if flag else []}
        status = "ok" if seconds else "failed"
        return typed(record | {"run": run, "noise": noise, "epochs": epochs, "status": status})

    made = iter([attempt and content(*attempt) for attempt in attempts])
    asked = search_for("mnist_mlp", records=tmp_path)
    runs = search.Runs(asked, HERE.place)
    monkeypatch.setattr(runs, "attempt", lambda *_: next(made))
    outcome = runs.run({}, 2)
    assert outcome.seconds / 20 == counts if counts else outcome is None
    assert next(made, "none is left") == "none is left"


OVERLOADED = {"others_cpu_share": 0.87, "flags": ["load from others"]}


@pytest.mark.parametrize(
    ("attempts", "counts"),
    [
        ([OVERLOADED, {}], 2),
        ([{"flags": ["load from others"]}, OVERLOADED], 1),
        ([OVERLOADED, OVERLOADED], None),
    ],
)
def test_an_overloaded_machine_finds_nothing(monkeypatch, record, tmp_path, attempts, counts):
    """Of a run and its repeat the last one counts whose time says something."""
    made = iter(
        typed(
            record
            | {
                "run": record["run"] | {"scale": "full"},
                "noise": record["noise"] | noise,
                "epochs": [{"epoch": n, "train_s": float(number), "eval_s": None} for n in (1, 2)],
            }
        )
        for number, noise in enumerate(attempts, 1)
    )
    asked = search_for("mnist_mlp", records=tmp_path)
    runs = search.Runs(asked, HERE.place)
    monkeypatch.setattr(runs, "attempt", lambda *_: next(made))
    if counts:
        assert runs.run({}, 2).seconds / 20 == counts
    else:
        with pytest.raises(InputError, match=r"^others used 87% of the processors during a run"):
            runs.run({}, 2)


def test_a_search_that_is_ended_leaves_no_training_behind(tmp_path):
    python, started = tmp_path / "python", tmp_path / "pid"
    python.write_text(
        f"#!/bin/sh\necho $$ > {started}.part\nmv {started}.part {started}\nsleep 60\n"
    )
    python.chmod(0o755)
    process = subprocess.Popen(
        [
            *(sys.executable, ROOT / "scripts/tune.py", "mnist_mlp", "pytorch", "--python", python),
            *("--data", tmp_path, "--records", tmp_path, "--output", tmp_path / "tuned.yaml"),
        ]
    )
    wait_until(started.exists, "it trains", lambda: process.poll() is not None)
    process.terminate()
    assert process.wait(20) == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


def test_a_python_without_statistics_does_not_begin_to_search(pythons, few, tmp_path):
    done = subprocess.run(
        [
            pythons["keras-tensorflow"],
            *(ROOT / "scripts/tune.py", "mnist_mlp", "keras-tensorflow", "--data", few),
            *("--records", tmp_path / "tuning", "--output", tmp_path / "tuned.yaml"),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "lacks scipy" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_and_a_lost_entry_are_cared_for(tmp_path):
    path, marker = tmp_path / "tuned.yaml", tmp_path / "tuning" / HERE.marker(1)
    marker.parent.mkdir(parents=True)
    marker.touch()
    half = "a: {b: {c: {d: {settings: {}}}}}"
    for damaged in ("a: [", "a: 3", "a: {b: {c: 3}}", "a: {b: {c: {d: 3}}}", half):
        path.write_text(damaged)
        with pytest.raises(InputError, match=r"is not what scripts/tune\.py writes; delete it"):
            tuning.load(path)
    tuning.save(path.with_name("other.yaml"), HERE, {}, "torch 2")
    folder = tmp_path / "tuning"
    assert tuning.marker(HERE, path.with_name("other.yaml"), folder) == marker
    path.unlink()
    assert tuning.marker(HERE, path, folder) == folder / HERE.marker(2)


@pytest.mark.alone
def test_a_search_leaves_its_runs_and_an_entry_that_a_tuned_training_uses(pythons, few, tmp_path):
    """A whole search on a few pictures; what wins is not asserted, that depends on the machine."""
    output, records = tmp_path / "tuned.yaml", tmp_path / "tuning"
    done = subprocess.run(
        [
            *(sys.executable, ROOT / "scripts/tune.py", "mnist_mlp", "keras-jax"),
            *("--python", pythons["keras-jax"], "--data", few),
            *("--output", output, "--records", records),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    settings = found_in(output)["mnist_mlp"]["keras-jax"]
    (place,) = tuning.load(output).values()
    (what,) = place["mnist_mlp"]["keras-jax"]
    assert what.endswith("-synthetic")
    made = [
        files.read_json(path) for path in sorted(records.rglob("*.json"), key=lambda p: int(p.stem))
    ]
    assert made[0]["software"]["settings"] == {}
    tried = {name for r in made for name in r["software"]["settings"]}
    assert tried == {"steps_per_execution", *KEPT}
    assert all(r["run"]["variant"] == "tuned" for r in made)
    # Who is kept has won whole epochs, at least the four rounds in which it was alone.
    whole = [r["software"]["settings"] for r in made if r["run"]["scale"] == "full"]
    # (Disturbed ones are made again.)
    assert not settings or min(whole.count(settings), whole.count({})) >= 4
    assert "mnist_mlp with keras-jax: " in done.stdout
