"""Real trainings, each in its framework's own environment."""

import os
import shutil
from itertools import pairwise

import numpy as np
import pytest
from trainings import answer, learnt, train

from epochcost.data import download, preparation
from epochcost.measure import machine
from epochcost.models import workloads

pytestmark = pytest.mark.slow

KERAS_AND_PYTORCH = ["keras-tensorflow", "keras-torch", "keras-jax", "pytorch"]


@pytest.mark.parametrize(
    ("workload", "framework", "samples"),
    [
        ("mnist_mlp", "keras-tensorflow", 1_000),
        pytest.param("mnist_mlp", "keras-torch", 1_000, marks=pytest.mark.full),
        ("mnist_mlp", "keras-jax", 6_400),  # more than a quick run takes
        ("mnist_mlp", "pytorch", 1_000),
        ("mnist_cnn", "fastai", 1_000),
    ],
)
def test_a_quick_run_leaves_a_whole_record(quick, pictures, workload, framework, samples):
    record = quick(workload, framework, data=pictures(samples))
    assert record["status"] == "ok"
    assert record["run"]["scale"] == "quick"
    assert record["data"] | {"sha256": ""} == {
        "dataset": "mnist", "source": "synthetic", "complete": False,
        "train_samples": samples, "validation_samples": 1_000, "skipped": 0, "sha256": "",
    }  # fmt: skip
    # At most 32 steps of each pass, and in eight epochs at most half the steps of a full run.
    whole = [-(-number // 128) for number in (samples, 1_000)]
    steps, held_out = (
        min(32, number, record["settings"]["epochs"] * number // 2 // 8) for number in whole
    )
    assert [epoch["epoch"] for epoch in record["epochs"]] == list(range(1, 9))
    for epoch in record["epochs"]:
        blocks = [block for block in record["blocks"] if block["epoch"] == epoch["epoch"]]
        assert [block["part"] for block in blocks] == ["train"] * 3 + ["evaluate"] * 3
        assert [block["steps"] for block in blocks] == [1, steps - 3, 2, 1, held_out - 3, 2]
        # The last batch keeps its size.
        for part, number, passed, taken in (
            (blocks[:3], samples, whole[0], steps),
            (blocks[3:], 1_000, whole[1], held_out),
        ):
            assert sum(block["samples"] for block in part) == number - (passed - taken) * 128
        seconds = [block["seconds"] for block in blocks]
        assert sum(seconds[:3]) == pytest.approx(epoch["train_s"])
        assert sum(seconds[3:]) == pytest.approx(epoch["eval_s"])
    for phase in ("import", "data", "build", "first_step", "train", "evaluate"):
        assert record["phases"][phase] > 0, phase
    assert record["phases"]["save"] is None
    assert -0.05 < record["phases"]["other"] < 1 + 0.1 * record["wall_s"]
    assert record["utilisation"]["samples"] > 2
    assert record["steady_state"]["parts"] == 7
    assert record["input"]["steps"] == steps
    assert 0 < record["input"]["seconds"] < record["epochs"][0]["train_s"]
    loop_s = record["input"]["loop_s"]
    assert (loop_s > 0) == framework.startswith("keras-")
    assert loop_s < 2 * record["input"]["seconds"] + 0.05, "it is no loop over batches alone"
    assert record["utilisation"]["peak_rss_mib"] > 100


@pytest.mark.parametrize(
    ("workload", "framework"),
    [
        ("cifar10_cnn", "keras-tensorflow"),
        ("cifar10_cnn", "pytorch"),
        pytest.param("cifar10_cnn", "fastai", marks=pytest.mark.full),
        pytest.param("mnist_cnn", "keras-jax", marks=pytest.mark.full),
        pytest.param("mnist_cnn", "keras-torch", marks=pytest.mark.full),
    ],
)
def test_a_model_of_pictures_learns_to_tell_dark_from_bright(
    pythons, little_pictures, tmp_path, workload, framework
):
    record = train(
        *(pythons[framework], workload, framework, little_pictures(workload)),
        *(tmp_path / "r.json", "--scale", "full", "--epochs", "5", "--batch-size", "20"),
    )
    assert record["status"] == "ok", record["failure"]
    assert record["data"]["train_samples"] == 200
    losses = [epoch["loss"] for epoch in record["epochs"]]
    assert losses[-1] < 0.5 * losses[0]


COMPILES = """
import json
from epochcost.frameworks import keras_jax, keras_fit
from epochcost.frameworks.framework import Task
from epochcost import models
from epochcost.models import recipes
import numpy as np
recipe = recipes.load("config/workloads.yaml")["cifar10_cnn"]
split = models.Split(np.zeros((2, 32, 32, 3), np.float32), np.zeros(2, np.uint8))
task = Task(recipe, models.load("cifar10_cnn"), split, 1, {})
model = keras_fit.compiled(task, False)
print(json.dumps(model.jit_compile))
"""


def test_on_jax_the_model_that_moves_its_pictures_is_compiled(pythons):
    assert answer(pythons["keras-jax"], "-c", COMPILES) is True


def test_a_model_that_keras_does_not_compile_is_no_compiled_run(pythons, little_pictures, tmp_path):
    record = train(
        *(pythons["keras-tensorflow"], "cifar10_cnn", "keras-tensorflow"),
        *(little_pictures("cifar10_cnn"), tmp_path / "r.json"),
        *("--variant", "tuned", "--settings", '{"jit_compile": true}'),
    )
    assert record["status"] == "failed"
    assert "Keras does not compile this model" in record["failure"]["reason"]


@pytest.mark.skipif(
    shutil.which("taskset") is None or len(os.sched_getaffinity(0)) < 2,
    reason="needs taskset and two cores",
)
@pytest.mark.parametrize("framework", ["keras-tensorflow", "pytorch"])
def test_a_run_that_may_use_one_core_uses_one(pythons, little, tmp_path, framework):
    record = train(
        pythons[framework], "mnist_mlp", framework, little, tmp_path / "r.json",
        prefix=("taskset", "-c", "0"),
    )  # fmt: skip
    assert record["machine"]["usable_cores"] == 1
    assert record["machine"]["core_numbers"] == "0"
    assert record["software"]["threads"] == 1
    assert record["utilisation"]["cpu_share"] <= 1.1 / record["machine"]["logical_cores"]


def test_limits_are_lifted_and_other_variables_are_on_record(quick, pythons, few, tmp_path):
    """Snakemake sets the first one to 1 where it was told to use one core."""
    own = answer(pythons["keras-torch"], "-c", "import torch; print(torch.get_num_threads())")
    limits = (f"OMP_NUM_THREADS={own + 1}", "KERAS_MAX_EPOCHS=2", "ONEDNN_MAX_CPU_ISA=")
    record = train(
        pythons["keras-torch"], "mnist_mlp", "keras-torch", few, tmp_path / "r.json",
        prefix=("env", *limits, "OMP_PROC_BIND=false"),
    )  # fmt: skip
    assert record["software"]["threads"] == own
    assert len(record["epochs"]) == 8
    # Which is the same training.
    assert record["epochs"][0]["loss"] == quick("mnist_mlp", "keras-torch")["epochs"][0]["loss"]
    assert record["software"]["variables"]["OMP_PROC_BIND"] == "false"
    assert not {"OMP_NUM_THREADS", "ONEDNN_MAX_CPU_ISA"} & set(record["software"]["variables"])


@pytest.mark.parametrize("framework", ["keras-jax", "pytorch"])
def test_the_same_seed_gives_the_same_losses(quick, pythons, few, tmp_path, framework):
    first = quick("mnist_mlp", framework)
    second = train(pythons[framework], "mnist_mlp", framework, few, tmp_path / "r.json")
    assert first["epochs"][0]["loss"] == second["epochs"][0]["loss"]


@pytest.mark.parametrize(
    ("workload", "framework"),
    [
        *(("imdb_fasttext", name) for name in KERAS_AND_PYTORCH),
        # One model, on short texts and on longer ones.
        ("twitter_bilstm", "keras-jax"),
        pytest.param("twitter_bilstm", "keras-tensorflow", marks=pytest.mark.full),
        ("imdb_bilstm", "pytorch"),
    ],
)
def test_a_model_of_words_learns_two_classes(pythons, little_text, tmp_path, workload, framework):
    data = little_text / workload.split("_")[0]
    record = train(
        pythons[framework], workload, framework, data, tmp_path / "r.json", "--scale", "full"
    )
    losses = [epoch["loss"] for epoch in record["epochs"]]
    assert losses[0] < 0.75  # two classes, nothing learnt yet: about ln 2
    assert losses[-1] < losses[0]
    if workload != "imdb_fasttext":  # which learns slowly
        assert record["quality"]["value"] > 0.9


@pytest.mark.parametrize(
    "framework", ["keras-tensorflow", pytest.param("keras-jax", marks=pytest.mark.full), "pytorch"]
)
def test_a_model_of_characters_is_judged_by_its_loss_and_writes(
    pythons, little_text, tmp_path, framework
):
    record = train(
        pythons[framework], "nietzsche_lstm", framework, little_text / "nietzsche",
        tmp_path / "r.json", "--scale", "full",
    )  # fmt: skip
    assert [epoch["eval_s"] for epoch in record["epochs"]] == [None] * 10
    assert record["quality"]["value"] == record["epochs"][-1]["loss"] < 0.5
    assert record["quality"]["reached"] is None, "the data are generated"
    assert record["steady_state"]["parts"] == 9
    # The text repeats its alphabet, and so does what the model writes, but for some slips.
    sample, alphabet = record["sample"], "abcdefghijklm"
    following = dict(zip(alphabet, alphabet[1:] + alphabet[0], strict=True))
    assert len(sample) == 400
    assert sum(following[one] == other for one, other in pairwise(sample)) > 0.6 * 399
    assert record["phases"]["sample"] > 0


@pytest.mark.full
def test_real_mnist_at_full_scale_reaches_its_target(pythons, mirror, tmp_path):
    """In the framework that is the quickest here; study/articles/results.md has all of them."""

    registry = workloads.read().datasets
    download.fetch("mnist", "complete", "mirror", registry, tmp_path / "raw", mirror)
    preparation.prepare("mnist", "complete", tmp_path / "raw", tmp_path / "arrays")
    record = train(
        pythons["keras-jax"], "mnist_mlp", "keras-jax", tmp_path / "arrays", tmp_path / "r.json",
        "--scale", "full",
    )  # fmt: skip
    assert record["data"]["complete"]
    assert record["quality"]["reached"]
    assert np.isfinite([epoch["loss"] for epoch in record["epochs"]]).all()


@pytest.mark.skipif(
    not machine.has_bfloat16("cpu"), reason="this processor has no arithmetic for bfloat16"
)
@pytest.mark.parametrize(
    "framework",
    [
        "keras-tensorflow",
        "pytorch",
        *(pytest.param(name, marks=pytest.mark.full) for name in ("keras-torch", "keras-jax")),
    ],
)
def test_fewer_digits_learn_nearly_the_same(quick, pythons, few, tmp_path, framework):
    record = train(
        pythons[framework], "mnist_mlp", framework, few, tmp_path / "r.json",
        "--variant", "bfloat16",
    )  # fmt: skip
    rough, plain = learnt(record), learnt(quick("mnist_mlp", framework))
    assert rough == pytest.approx(plain, rel=0.15)
    if framework != "keras-tensorflow":  # where runs of the same seed differ
        assert rough != plain
