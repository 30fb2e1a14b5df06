"""One model on several devices; on a processor they are processes, or virtual."""

import os

import pytest
from trainings import refused, train

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("on_all_cores")]

TWO_CORES = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")


@TWO_CORES
@pytest.mark.parametrize(
    ("workload", "framework"),
    [
        ("imdb_fasttext", "keras-tensorflow"),
        ("imdb_fasttext", "keras-jax"),
        ("imdb_fasttext", "pytorch"),
        pytest.param("nietzsche_lstm", "pytorch", marks=pytest.mark.full),
    ],
)
def test_two_devices_learn_what_one_learns(pythons, little_text, tmp_path, workload, framework):
    """Recipes without dropout, so that losses compare in digits, also of a batch that is odd."""
    data = little_text / ("odd" if workload == "nietzsche_lstm" else "imdb")
    # On TensorFlow each run has its own order of samples, which makes no odds in one batch of all.
    batch = ("--batch-size", "960") if framework == "keras-tensorflow" else ()
    one, two = (
        train(
            pythons[framework], workload, framework, data, tmp_path / f"{variant}.json",
            "--variant", variant, "--scale", "full", *batch,
        )
        for variant in ("default", "devices_2")
    )  # fmt: skip
    assert two["software"]["settings"] == {"devices": 2}
    if framework == "pytorch":  # its processes share the cores
        cores = one["machine"]["usable_cores"]
        assert two["software"]["threads"] == cores // 2
        assert two["machine"]["usable_cores"] == cores
    # Of nietzsche_lstm the first epoch alone: its rate of learning makes much of the last digit.
    epochs = 1 if workload == "nietzsche_lstm" else None
    for alone, shared in zip(one["epochs"][:epochs], two["epochs"][:epochs], strict=True):
        assert shared["loss"] == pytest.approx(alone["loss"], rel=1e-3)
        assert shared["metric"] == pytest.approx(alone["metric"], abs=5e-3)


@pytest.mark.full
@TWO_CORES
def test_two_devices_learn_as_fast_in_many_steps_on_tensorflow(pythons, little_text, tmp_path):
    """By the recipe's own batch, where each run has its own order of samples."""
    one, two = (
        train(
            pythons["keras-tensorflow"], "imdb_fasttext", "keras-tensorflow",
            little_text / "imdb", tmp_path / f"{variant}.json",
            "--variant", variant, "--scale", "full",
        )
        for variant in ("default", "devices_2")
    )  # fmt: skip
    first, last = one["epochs"][0]["loss"], one["epochs"][-1]["loss"]
    assert last < first - 0.05
    assert two["epochs"][-1]["loss"] == pytest.approx(last, abs=0.1 * (first - last))


@TWO_CORES
def test_a_last_batch_that_jax_cannot_divide_is_a_failed_run(pythons, little_text, tmp_path):
    """Other trainings of the same call go on."""
    record = train(
        pythons["keras-jax"], "nietzsche_lstm", "keras-jax", little_text / "odd",
        tmp_path / "r.json", "--variant", "devices_2",
    )  # fmt: skip
    assert record["status"] == "failed"
    said = "keras-jax cannot divide a batch of 41 samples over 2 devices"
    assert record["failure"]["reason"] == said


@pytest.mark.parametrize(
    ("framework", "variant", "reason"),
    [
        ("keras-torch", "devices_2", "the variant devices_2 is not for keras-torch"),
        ("pytorch", "devices_900", "900 devices are wanted, and this machine has"),
        ("pytorch", "device_2", "unknown variant 'device_2'; did you mean 'devices_2'"),
    ],
)
def test_devices_that_cannot_be_had_are_refused(
    pythons, little_text, tmp_path, framework, variant, reason
):
    said = refused(
        pythons[framework], "nietzsche_lstm", framework, little_text / "odd", tmp_path / "r.json",
        "--variant", variant,
    )  # fmt: skip
    assert reason in said
