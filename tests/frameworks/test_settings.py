"""Settings of a variant: in force when the training begins, and the same is learnt with them."""

import functools
import json
import os
from pathlib import Path

import psutil
import pytest
from trainings import answer, learnt, refused

from epochcost import ROOT
from epochcost.frameworks import framework, memory
from epochcost.frameworks.choices import of_device
from epochcost.measure import machine

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("on_all_cores")]

HALF = machine.usable_cores() // 2
# What there is of these depends on the machine.
FEWER = {"threads": HALF} if HALF else {}
# By itself PyTorch takes one thread per physical core, which may be half of the logical ones.
TORCH = HALF if psutil.cpu_count(logical=False) != HALF else machine.usable_cores()
OTHER = {"threads": TORCH} if HALF else {}
KEPT = {"keep_memory": True} if memory.can_be_kept() else {}
TWO_CORES = pytest.mark.skipif(not HALF, reason="needs two cores")


@pytest.fixture(scope="module")
def begun(pythons):
    """How a framework is set when it begins to train, by framework, workload and settings."""

    @functools.cache
    def ask(framework, workload, settings):
        script = ROOT / "tests/frameworks/in_force.py"
        return answer(pythons[framework], script, framework, workload, settings)

    return lambda framework, workload, settings: ask(framework, workload, json.dumps(settings))


@pytest.mark.parametrize(
    ("framework", "workload", "settings", "expected"),
    [
        (
            "keras-tensorflow", "mnist_mlp",
            FEWER | {"steps_per_execution": 10, "jit_compile": True, "input_autotuning": False,
                     "onednn": False, "keep_memory": True, "precision": "bfloat16"},
            FEWER | {"steps_per_execution": 10, "compiled": True, "autotunes": False,
                     "onednn": False, "keeps_memory": True, "precision": "bfloat16"},
        ),
        (
            "keras-jax", "mnist_mlp", {"steps_per_execution": 10, "keep_memory": True},
            {"steps_per_execution": 10, "keeps_memory": True},
        ),
        (
            "keras-torch", "mnist_mlp",
            OTHER | {"jit_compile": True, "onednn": False, "flush_denormal": True,
                     "precision": "bfloat16"},
            OTHER | {"compiled": True, "onednn": False, "flushes": True, "precision": "bfloat16"},
        ),
        (
            "pytorch", "mnist_cnn",
            OTHER | {"channels_last": True, "fused_optimizer": True, "compile": True,
                     "flush_denormal": True, "onednn": False},
            OTHER | {"channels_last": True, "fused": True, "compiled": True, "flushes": True,
                     "onednn": False},
        ),
        (
            "fastai", "mnist_cnn", {"channels_last": True, "onednn": False, "flush_denormal": True},
            {"channels_last": True, "onednn": False, "flushes": True},
        ),
        pytest.param(
            "keras-tensorflow", "mnist_mlp", {"devices": 2}, {"devices": 2}, marks=TWO_CORES
        ),
        pytest.param("keras-jax", "mnist_mlp", {"devices": 2}, {"devices": 2}, marks=TWO_CORES),
    ],
    ids=str,
)  # fmt: skip
def test_settings_are_in_force_when_training_begins(begun, framework, workload, settings, expected):
    found = begun(framework, workload, settings)
    assert {name: found[name] for name in expected} == expected
    without = begun(framework, workload, {})
    assert not {name for name in expected if without[name] == expected[name]}


def test_what_pytorch_compiled_once_is_compiled_again_by_the_next_training(monkeypatch):
    """Or the first training on a machine would take longer than all others."""
    folders = []
    for settings in ({"compile": True}, {"jit_compile": True}):
        monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
        framework.prepare(settings)
        folders.append(Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]))
    assert len(set(folders)) == 2
    assert not any(list(folder.iterdir()) for folder in folders)
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR")
    framework.prepare({})
    assert "TORCHINDUCTOR_CACHE_DIR" not in os.environ


def test_a_gpu_is_not_searched_for_settings_of_the_processor():
    known = {name: [0, 1] for name in ("threads", "onednn", "keep_memory", "flush_denormal")}
    assert of_device("gpu", known | {"compile": [0, 1]}) == {"compile": [0, 1]}
    assert of_device("cpu", known) == known


LSTM = """
import json
from types import SimpleNamespace
from epochcost.frameworks import keras_jax, keras_fit
from epochcost.frameworks.framework import Task
from epochcost.models import recipes
layers = keras_fit.keras.layers
def keras_model(split, hyper):
    lstm = layers.Bidirectional(layers.LSTM(2))
    return keras_fit.keras.Sequential([keras_fit.keras.Input((3, 1)), lstm, layers.Dense(1)])
recipe = recipes.load("config/workloads.yaml")["imdb_bilstm"]
model = SimpleNamespace(keras_model=keras_model)
used = []
for settings in ({}, {"devices": 2}, {"precision": "bfloat16"}):
    both = keras_fit.compiled(Task(recipe, model, None, 1, settings), True).layers[0]
    used.append([both.forward_layer.use_cudnn, both.backward_layer.use_cudnn])
print(json.dumps(used))
"""


def test_jax_leaves_cudnns_lstm_where_it_has_none(pythons):
    """On two devices, and with numbers of fewer digits."""
    used = answer(pythons["keras-jax"], "-c", LSTM)
    assert used == [["auto", "auto"], [False, False], [False, False]]


@pytest.mark.parametrize(
    ("workload", "framework", "settings"),
    [
        (
            "mnist_mlp", "keras-tensorflow",
            KEPT | FEWER | {"input_autotuning": False, "steps_per_execution": 10, "onednn": False,
                            "jit_compile": True},
        ),
        ("mnist_mlp", "keras-jax", KEPT | {"steps_per_execution": 10}),
        ("mnist_mlp", "keras-torch", OTHER | {"flush_denormal": True, "onednn": False}),
        ("mnist_cnn", "pytorch", KEPT | OTHER | {"channels_last": True, "flush_denormal": True}),
        pytest.param("mnist_mlp", "pytorch", {"onednn": False}, marks=pytest.mark.full),
        pytest.param("mnist_cnn", "fastai", {"channels_last": True}, marks=pytest.mark.full),
        pytest.param(
            "imdb_fasttext", "pytorch", KEPT | {"fused_optimizer": True, "onednn": False},
            marks=pytest.mark.full,
        ),
        pytest.param(
            "imdb_fasttext", "keras-torch", KEPT | {"jit_compile": True, "flush_denormal": True},
            marks=pytest.mark.full,
        ),
    ],
    ids=str,
)  # fmt: skip
def test_settings_change_how_and_not_what_is_learnt(
    quick, few, little_text, workload, framework, settings
):
    """The same seed with and without settings: losses that differ by no more than order does."""
    options = ("--variant", "tuned", "--settings", json.dumps(settings))
    data = few if workload.startswith("mnist") else little_text / "imdb"
    record = quick(workload, framework, *options, data=data)
    assert record["status"] == "ok", record["failure"]
    assert record["software"]["settings"] == settings
    if framework != "keras-jax" and "threads" in settings:
        assert record["software"]["threads"] == settings["threads"]
    without = quick(workload, framework, data=data)
    # imdb_fasttext has no dropout and, in PyTorch, the same order; little of its loss is learnt.
    within = 1e-3 if workload == "imdb_fasttext" else 0.15
    assert learnt(record) == pytest.approx(learnt(without), rel=within)


def test_a_setting_that_a_framework_lacks_leaves_no_record(pythons, little, tmp_path):
    said = refused(
        pythons["pytorch"], "mnist_mlp", "pytorch", little, tmp_path / "r.json",
        "--variant", "tuned", "--settings", '{"channels_last": true}',
    )  # fmt: skip
    assert "pytorch has no setting 'channels_last' here" in said
