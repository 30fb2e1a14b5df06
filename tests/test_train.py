"""The training script around a framework: records of success and of failure, and bad input."""

import contextlib
import dataclasses
import sys
import types
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from epochcost import ROOT, files, models
from epochcost.data import arrays
from epochcost.errors import InputError
from epochcost.frameworks import tuning
from epochcost.measure import clock, cloud, machine, machine_lock, yardstick
from epochcost.models import recipes
from epochcost.record.record import recipe_id
from epochcost.training import run as training_run
from epochcost.training.training import read

sys.path.insert(0, str(ROOT / "scripts"))
import train

SCHEMA = files.read_json(ROOT / "config/schemas/record.schema.json")


@pytest.fixture
def data(tmp_path):
    """A folder of few arrays in MNIST's form."""
    rng = np.random.default_rng(0)
    values = {
        "x_train": rng.integers(0, 255, (1000, 28, 28), np.uint8),
        "y_train": rng.integers(0, 10, 1000, np.uint8),
        "x_validation": rng.integers(0, 255, (200, 28, 28), np.uint8),
        "y_validation": rng.integers(0, 10, 200, np.uint8),
    }
    arrays.save(tmp_path / "data", values, "mnist", "synthetic", "synthetic", {}, {})
    return tmp_path / "data"


@pytest.fixture
def run(tmp_path, data, monkeypatch):
    """Runs the script with a stand-in for a framework; returns the record."""

    def go(behaviour, scale="full", waited=0.0, **change):
        stand_in = types.SimpleNamespace(
            VERSION="stand-in 1",
            FAILURES=(RuntimeError, MemoryError, ArithmeticError),
            device=lambda: "cpu",
            threads=lambda: 0,
            choices=lambda recipe: {"compile": [False, True]},
            train=behaviour,
            software=dict,
        )
        monkeypatch.setattr(training_run, "load", lambda name, settings: stand_in)
        monkeypatch.setattr(yardstick, "asked", lambda: None)  # which takes a second
        # Nothing is trained, so nobody need wait for it.
        monkeypatch.setattr(machine_lock, "hold", lambda who: contextlib.nullcontext(waited))
        options = {"workload": "mnist_mlp", "framework": "pytorch", "scale": scale, "data": data}
        path = tmp_path / "local/mnist_mlp/pytorch/default-1.json"
        training_run.run(read(**options | {"record": path} | change))
        path = change.get("record", path)
        record = files.read_json(path)
        jsonschema.Draft202012Validator(SCHEMA).validate(record)
        return record

    return go


def epochs(accuracy, loss=0.1):
    def behaviour(task, clock):
        for _ in range(clock.extent.epochs):
            clock.epoch_begin()
            for step in range(clock.extent.steps):
                clock.step(step)
            clock.train_end()
            for step in range(clock.extent.evaluation_steps):
                clock.evaluation_step(step)
            clock.epoch_end(loss, accuracy)

    return behaviour


def test_a_run_leaves_a_record_that_follows_the_schema(run):
    record = run(epochs(0.985))
    assert record["status"] == "ok"
    assert len(record["epochs"]) == 20
    assert record["quality"]["reached"] is None  # generated data are not judged
    assert record["data"]["source"] == "synthetic"
    assert record["energy_j"] is None
    assert record["machine"]["id"]


def test_each_file_is_read_once(run, monkeypatch):
    """Recipe, manifest, catalogue: whoever needs what they say is told."""
    seen = []

    def counted(read):
        return lambda path, *more: seen.append(str(path)) or read(path, *more)

    for name in ("read_json", "read_yaml"):
        monkeypatch.setattr(files, name, counted(getattr(files, name)))
    run(epochs(0.985), variant="tuned", settings={"compile": True})
    before = [path for path in seen if not path.endswith("default-1.json")]
    assert {Path(path).name for path in before} >= {"manifest.json", "workloads.yaml"}
    assert len(before) == len(set(before))


@pytest.mark.parametrize(
    ("accuracy", "reached"), [(0.985, True), (0.979, True), (0.978, False), (0.5, False)]
)
def test_a_target_is_reached_or_missed_and_neither_is_a_failure(run, data, accuracy, reached):
    manifest = files.read_json(data / "manifest.json")
    files.write_json(data / "manifest.json", manifest | {"source": "mirror"})
    record = run(epochs(accuracy))
    assert record["status"] == "ok"
    assert record["quality"] | {"metric": ""} == {
        "metric": "", "value": accuracy, "target": 0.979, "reached": reached,
    }  # fmt: skip


def test_samples_that_were_left_out_are_in_the_record(run, data):
    manifest = files.read_json(data / "manifest.json")
    left_out = {"not UTF-8": 3, "no words": 1}
    files.write_json(data / "manifest.json", manifest | {"skipped": left_out})
    assert run(epochs(0.985), scale="quick")["data"]["skipped"] == 4


def test_waiting_for_another_training_counts_nowhere(run, monkeypatch):
    """A process of 1,005 s, of which it spent 1,000 s in the queue."""
    for module in (training_run, clock):
        monkeypatch.setattr(module, "process_age", lambda: 1_005.0)
    record = run(epochs(0.985), scale="quick", waited=1_000)
    assert record["wall_s"] == pytest.approx(5)
    assert 0 < record["phases"]["import"] <= 5


def test_a_provider_that_says_another_machine_type_is_believed(run, monkeypatch, tmp_path):
    here = dataclasses.replace(machine.facts(), usable_cores=8, gpus=())
    monkeypatch.setattr(machine, "facts", lambda: here)
    said = {"provider": "aws", "instance_type": "c8i.2xlarge", "zone": None, "lifecycle": None}
    monkeypatch.setattr(cloud, "identify", lambda: said)
    with pytest.raises(InputError, match=r"it is c8i\.2xlarge of Amazon EC2"):
        run(epochs(0.985), hardware="aws-c8a.2xlarge")
    assert not list(tmp_path.rglob("default-1*"))
    monkeypatch.setitem(said, "instance_type", "c8a.2xlarge")
    assert run(epochs(0.985), hardware="aws-c8a.2xlarge")["machine"]["cloud"] == said


@pytest.mark.parametrize(("version", "said"), [("stand-in 0", True), ("stand-in 1", False)])
def test_settings_found_with_another_version_are_used_and_it_is_said(
    run, monkeypatch, capsys, version, said
):
    recipe = recipe_id(recipes.load(ROOT / "config/workloads.yaml")["mnist_mlp"])
    entry = {"settings": {"compile": True}, "version": version}
    place = tuning.place_of(machine.facts())
    known = {place: {"mnist_mlp": {"pytorch": {f"{recipe}-synthetic": entry}}}}
    monkeypatch.setattr(tuning, "load", lambda path: known)
    made = run(epochs(0.985), variant="tuned")
    assert made["software"]["settings"] == {"compile": True}
    notice = "these settings were found with stand-in 0, and this is stand-in 1"
    assert (notice in capsys.readouterr().err) is said
    with pytest.raises(InputError, match="for the recipe's own batch_size alone"):
        run(epochs(0.985), variant="tuned", batch_size=512)


def test_a_quick_run_is_not_judged(run):
    assert run(epochs(0.5), scale="quick")["quality"]["reached"] is None


def test_running_out_of_memory_is_a_row(run, capsys):
    def behaviour(task, clock):
        clock.epoch_begin()
        raise MemoryError("cannot allocate\n9 GiB")

    record = run(behaviour)
    assert record["status"] == "failed"
    assert record["failure"] == {"phase": "first_step", "reason": "cannot allocate 9 GiB"}
    assert record["quality"]["reached"] is None
    assert "failed while in first_step" in capsys.readouterr().err


def test_a_loss_that_is_no_number_is_a_failure(run):
    record = run(epochs(0.1, loss=float("nan")))
    assert record["status"] == "failed"
    assert record["epochs"][0]["loss"] is None


@pytest.mark.parametrize(
    ("loss", "reason"),
    [
        (float("nan"), "the loss is not a finite number"),
        (2.0, "the model predicts what is no finite number"),
    ],
)
def test_a_model_that_diverged_writes_no_text_and_is_a_failure(run, tmp_path, loss, reason):
    values = {
        "text": (np.arange(1_000) % 13).astype(np.uint8),
        "alphabet": np.arange(97, 110),
    }
    arrays.save(tmp_path / "text", values, "nietzsche", "synthetic", "synthetic", {}, {})

    def behaviour(*arguments):
        epochs(None, loss)(*arguments)
        return lambda windows: np.full((len(windows), 13), np.nan)

    record = run(behaviour, workload="nietzsche_lstm", data=tmp_path / "text")
    assert (record["status"], record["failure"]["reason"]) == ("failed", reason)
    assert record["sample"] is None


def test_a_training_that_ended_too_early_is_a_failure(run):
    def behaviour(task, clock):
        planned = clock.extent
        clock.extent = dataclasses.replace(planned, epochs=18)
        epochs(0.985)(task, clock)
        clock.extent = planned

    record = run(behaviour)
    assert record["failure"] == {"phase": "train", "reason": "it ended after 18 of 20 epochs"}


@pytest.mark.parametrize("function", ["inputs", "torch_model"])
def test_a_mistake_in_a_workloads_file_is_one_line_that_says_where(
    run, monkeypatch, tmp_path, function
):
    path = tmp_path / "own.py"
    path.write_text(
        "from epochcost.models.mnist_mlp import MnistMlp\nclass Own(MnistMlp):\n"
        f"  def {function}(self, split, hyper):\n    first, second = hyper['dropout']\n"
    )
    monkeypatch.setattr(models, "__path__", [*models.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "epochcost.models.own", raising=False)
    own = models.load("own")
    monkeypatch.setattr(models, "load", lambda *_: own)
    monkeypatch.setattr(models, "check", lambda *_: str(path))

    def behaviour(task, clock):
        task.model.torch_model(task.split, task.recipe["model"])

    where = r"own\.py, line 4: TypeError: cannot unpack non-iterable float"
    with pytest.raises(InputError, match=where):
        run(behaviour)
    assert not list(tmp_path.rglob("default*"))


def test_a_mistake_in_the_code_is_no_observation(run, tmp_path):
    def behaviour(*_):
        raise TypeError("a bug")

    with pytest.raises(TypeError):
        run(behaviour)
    left = list((tmp_path / "local/mnist_mlp/pytorch").iterdir())
    assert not left, "no record, and the place is free"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"workload": "mnist_mpl"}, "unknown workload 'mnist_mpl'; did you mean"),
        ({"hardware": "gce-k80"}, "this machine is not gce-k80"),
    ],
)
def test_bad_input_leaves_no_record(run, tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        run(epochs(0.9), **change)
    assert not list(tmp_path.rglob("default*"))


def test_a_manifest_that_lacks_something_is_refused(run, data, tmp_path):
    manifest = files.read_json(data / "manifest.json")
    del manifest["skipped"]
    files.write_json(data / "manifest.json", manifest)
    with pytest.raises(InputError, match=r"is not what scripts/prepare\.py writes; delete"):
        run(epochs(0.9))
    assert not list(tmp_path.rglob("*default*"))


def test_a_workload_without_a_model_for_the_framework_is_refused(run, monkeypatch, tmp_path):
    monkeypatch.delattr(type(models.load("mnist_mlp")), "torch_model")
    with pytest.raises(
        InputError, match=r"models/mnist_mlp\.py has no torch_model; docs/how-to/own"
    ):
        run(epochs(0.9))
    assert not list(tmp_path.rglob("*default*"))


def test_the_arrays_of_another_data_set_are_refused(run, data, tmp_path):
    manifest = files.read_json(data / "manifest.json")
    files.write_json(data / "manifest.json", manifest | {"dataset": "cifar10"})
    with pytest.raises(InputError, match="holds cifar10, not mnist"):
        run(epochs(0.9))
    assert not list(tmp_path.rglob("*default*"))


def test_missing_data_is_said_and_leaves_no_record(run, tmp_path):
    with pytest.raises(InputError, match="holds no prepared data"):
        run(epochs(0.9), data=tmp_path / "nowhere")
    assert not list(tmp_path.rglob("*default*"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classes": 9}, "y_train holds 0 to 9; it can be 0 to 8"),
        ({"units": None}, "`model` has no 'units', which the model's file asks for; did you mean"),
    ],
)
def test_a_model_that_does_not_fit_the_data_is_refused(run, monkeypatch, tmp_path, change, message):
    load = recipes.load

    def changed(path):
        entries = load(path)
        model = entries["mnist_mlp"]["model"] | {"unit": 512} | change
        entries["mnist_mlp"]["model"] = {k: v for k, v in model.items() if v is not None}
        return entries

    def behaviour(task, clock):
        task.recipe["model"]["units"]

    monkeypatch.setattr(recipes, "load", changed)
    with pytest.raises(InputError, match=message):
        run(behaviour)


def recipe_with(loss: str, metric: str = "loss") -> dict:
    """What a check of arrays reads of a recipe."""
    return {
        "quality": {"metric": metric},
        "loss": loss,
        "optimizer": {"name": "adam"},
        "model": {},
    }


def test_accuracy_on_held_out_data_needs_some():
    split = models.Split(np.zeros((2, 3)), np.zeros(2, np.uint8))
    recipe = recipe_with("binary_crossentropy", metric="val_accuracy")
    with pytest.raises(InputError, match="`inputs` gives nothing to validate on"):
        models.check_split(split, recipe)
    models.check_split(split, recipe | {"quality": {"metric": "loss"}})


@pytest.mark.parametrize(
    ("samples", "labels", "message"),
    [(3, 2, "x_train has 3 samples, y_train 2"), (0, 0, "`inputs` gives nothing to train on")],
)
def test_each_sample_has_a_label_and_there_are_some(samples, labels, message):
    split = models.Split(np.zeros((samples, 4)), np.zeros(labels, np.uint8))
    recipe = recipe_with("binary_crossentropy")
    with pytest.raises(InputError, match=message):
        models.check_split(split, recipe)


def test_labels_are_class_numbers_in_arrays():
    recipe = recipe_with("categorical_crossentropy")
    samples = np.zeros((3, 4))
    for labels, message in (
        (np.eye(3), r"y_train has the shape \(3, 3\); it holds class numbers, one per sample"),
        (np.zeros((3, 1)), r"y_train has the shape \(3, 1\)"),
        ([0, 1, 2], "y_train is no NumPy array of samples, but a list"),
        (np.array(1), "y_train is no NumPy array of samples, but a ndarray"),
        (None, "y_train is no NumPy array of samples, but a NoneType"),
    ):
        with pytest.raises(InputError, match=message):
            models.check_split(models.Split(samples, labels), recipe)
    with pytest.raises(InputError, match="`inputs` gives a tuple, not a Split"):
        models.check_split((samples, samples), recipe)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("classes = (", r"line 1: SyntaxError: '\(' was never closed"),
        ("\nimport not_there\n", "line 2: ModuleNotFoundError: No module named 'not_there'"),
        ("UNITS = 2\nUNITS.shape\n", "line 2: AttributeError: 'int' object has no attribute"),
    ],
)
def test_a_workloads_file_that_cannot_be_imported_is_one_line(monkeypatch, tmp_path, text, what):
    (tmp_path / "own_workload.py").write_text(text)
    monkeypatch.setattr(models, "__path__", [str(tmp_path)])
    with pytest.raises(InputError, match=rf"own_workload\.py, {what}"):
        models.load("own_workload")


def test_ranges_are_those_of_labels_and_words_alone():
    def split(x, y):
        return models.Split(x, y, x[:0], y[:0], vocabulary=26)

    recipe = recipe_with("categorical_crossentropy")
    letters = np.zeros((2, 3), np.int32), np.array([0, 25])
    pictures = np.full((2, 4, 4), 255, np.uint8), np.array([0, 25])
    for arrays_there in (letters, pictures):
        models.check_split(split(*arrays_there), recipe)
    named = recipe | {"model": {"classes": ["a", "b"]}}
    models.check_split(split(*letters), named)
    with pytest.raises(InputError, match="x_train holds 0 to 26; it can be 0 to 25"):
        models.check_split(split(np.array([[0, 26]]), np.array([0])), named)
    halves = recipe_with("binary_crossentropy")
    with pytest.raises(InputError, match=r"y_train holds 0\.0 to 1\.7; it can be 0 to 1"):
        models.check_split(split(letters[0], np.array([0, 1.7])), halves)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--trial", "x", "'x' is not a whole number"),
        ("--seed", "-1", "-1 is below 0"),
        ("--seed", "2147483648", "2147483648 is above 2147483647"),
        ("--settings", "{a", "'{a' is not JSON: "),
        ("--time-limit", "long", "'long' is not a number"),
    ],
)
def test_a_misspelt_option_is_one_line(monkeypatch, option, value, said):
    line = ["train.py", "mnist_mlp", "pytorch", "--data", "d", option, value]
    monkeypatch.setattr(sys, "argv", line)
    with pytest.raises(SystemExit, match=f"^epochcost: argument {option}: .*{said}"):
        train.main()
