"""Keras 2 on TensorFlow 1 and CNTK, as 2017 had them: study/2017."""

import json
import subprocess
import sys

import numpy as np
import pytest
from published_models import PUBLISHED
from trainings import train

from epochcost import ROOT
from epochcost.data import arrays
from epochcost.models import recipes
from epochcost.record.passes import passes
from epochcost.record.types import TRAIN, parse

STUDY = ROOT / "study/2017"
PYTHON = ROOT / ".venvs/keras2/bin/python"
LEGACY = ["keras2-tensorflow1", "keras2-cntk"]


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setenv("EPOCHCOST_FRAMEWORKS", str(STUDY / "frameworks.yaml"))


@pytest.fixture(scope="module")
def little_colours(tmp_path_factory):
    """960 + 320 small pictures of two classes, dark and bright."""
    folder, rng = tmp_path_factory.mktemp("colours"), np.random.default_rng(3)
    values = {}
    for part, count in (("train", 976), ("validation", 320)):
        labels = rng.integers(0, 2, count, dtype=np.uint8)
        noise = rng.integers(0, 128, (count, 32, 32, 3))
        values[f"x_{part}"] = (noise + 120 * labels[:, None, None, None]).astype(np.uint8)
        values[f"y_{part}"] = labels
    arrays.save(folder / "part", values, "cifar10", "synthetic", "synthetic", {}, {})
    return folder / "part"


@pytest.fixture
def little_data(little, little_colours, little_text):
    """A folder of little arrays by the data set of a workload."""
    pictures = {"mnist": little, "cifar10": little_colours}
    return lambda workload: (
        pictures.get(workload.split("_")[0]) or little_text / workload.split("_")[0]
    )


@pytest.mark.legacy
@pytest.mark.parametrize("framework", LEGACY)
@pytest.mark.parametrize(
    "workload", ["mnist_mlp", "mnist_cnn", "cifar10_cnn", "imdb_fasttext", "imdb_bilstm"]
)
def test_the_software_of_2017_leaves_the_same_records(little_data, tmp_path, workload, framework):
    record = train(sys.executable, workload, framework, little_data(workload), tmp_path / "r.json")
    assert record["status"] == "ok", record["failure"]
    assert record["software"]["python"].startswith("3.6.")
    assert record["software"]["framework_version"].startswith("keras 2.0.9, ")
    assert record["software"]["threads"] is None
    assert len(record["epochs"]) == min(8, record["settings"]["epochs"])
    for epoch, trained in zip(record["epochs"], passes(parse(record).blocks, TRAIN), strict=True):
        assert epoch["loss"] < 2.4
        assert 0 < epoch["eval_s"] < 60
        assert trained.seconds == pytest.approx(epoch["train_s"])
    assert record["input"]["seconds"] > 0
    for phase in ("import", "data", "build", "first_step", "train", "evaluate"):
        assert record["phases"][phase] > 0, phase


PARAMETERS = """
import json, sys
import train
name, hyper, shape, vocabulary = json.loads(sys.argv[1])
model = train.MODELS[name](hyper, {"shape": tuple(shape), "vocabulary": vocabulary})
print(model.count_params())
"""


@pytest.mark.legacy
@pytest.mark.parametrize("workload", PUBLISHED)
def test_its_models_have_the_published_number_of_parameters(workload):
    shape, vocabulary, parameters = PUBLISHED[workload]
    hyper = recipes.load(ROOT / "config/workloads.yaml")[workload]["model"]
    done = subprocess.run(
        [PYTHON, "-c", PARAMETERS, json.dumps([workload, hyper, shape, vocabulary])],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(STUDY), "KERAS_BACKEND": "tensorflow", "HOME": "/tmp"},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.splitlines()[-1]) == parameters


@pytest.mark.legacy
def test_characters_are_learnt_in_full_and_nothing_is_written(little_text, tmp_path):
    record = train(
        *(sys.executable, "nietzsche_lstm", "keras2-tensorflow1", little_text / "nietzsche"),
        *(tmp_path / "r.json", "--scale", "full"),
    )
    losses = [epoch["loss"] for epoch in record["epochs"]]
    assert len(losses) == 10
    assert losses[-1] < 0.5 * losses[0]
    assert record["sample"] is None
    assert all(epoch["eval_s"] is None for epoch in record["epochs"])


@pytest.mark.legacy
def test_a_loss_that_is_no_number_is_a_failed_run(little, tmp_path):
    whole = arrays.load(little)
    broken = {key: value.copy() for key, value in whole.values.items()}
    broken["x_train"] = np.full(broken["x_train"].shape, np.nan, np.float32)
    arrays.save(tmp_path / "nan", broken, "mnist", "synthetic", "synthetic", {}, {})
    record = train(
        *(sys.executable, "mnist_mlp", "keras2-tensorflow1", tmp_path / "nan"),
        tmp_path / "r.json",
    )
    assert record["status"] == "failed"
    assert record["failure"]["reason"] == "the loss is not a finite number"


def test_without_its_environment_one_line_says_how_to_make_it(little, tmp_path):
    if PYTHON.exists():
        pytest.skip("the software of 2017 is here")
    words = ["mnist_mlp", "keras2-cntk", "--data", little, "--record", tmp_path / "r.json"]
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/train.py", *words], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Keras 2 needs an environment of its own; run: make -C study/2017" in done.stderr
    assert "Traceback" not in done.stderr
