"""A setting of a variant is in force when the training begins, and not without it."""

import functools
import json

import pytest
from trainings import answer

from epochcost.configuration import ROOT
from epochcost.measurement import machine

HALF = machine.usable_cores() // 2
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
            {"steps_per_execution": 10, "jit_compile": True, "input_autotuning": False,
             "onednn": False, "keep_memory": True},
            {"steps_per_execution": 10, "compiled": True, "autotunes": False, "onednn": False,
             "keeps_memory": True},
        ),
        ("keras-tensorflow", "mnist_mlp", {"precision": "bfloat16"}, {"precision": "bfloat16"}),
        (
            "keras-jax", "mnist_mlp", {"steps_per_execution": 10, "keep_memory": True},
            {"steps_per_execution": 10, "keeps_memory": True},
        ),
        (
            "keras-torch", "mnist_mlp",
            {"jit_compile": True, "flush_denormal": True, "precision": "bfloat16"},
            {"compiled": True, "flushes": True, "precision": "bfloat16"},
        ),
        (
            "pytorch", "mnist_cnn",
            {"channels_last": True, "fused_optimizer": True, "compile": True,
             "flush_denormal": True, "onednn": False},
            {"channels_last": True, "fused": True, "compiled": True, "flushes": True,
             "onednn": False},
        ),
        (
            "fastai", "mnist_cnn", {"channels_last": True, "onednn": False, "flush_denormal": True},
            {"channels_last": True, "onednn": False, "flushes": True},
        ),
        pytest.param(
            "keras-tensorflow", "mnist_mlp", {"threads": HALF}, {"threads": HALF}, marks=TWO_CORES
        ),
        pytest.param(
            "keras-torch", "mnist_mlp", {"threads": HALF}, {"threads": HALF}, marks=TWO_CORES
        ),
        pytest.param("pytorch", "mnist_cnn", {"threads": HALF}, {"threads": HALF}, marks=TWO_CORES),
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
