"""Both definitions of a workload are the published model, and the same function."""

import json
import subprocess

import pytest

from epochcost.configuration import ROOT

# Sample shape, size of the vocabulary, and number of parameters: as the Keras examples of 2017
# print it, or that of the same model with a smaller vocabulary (fastText) to save memory.
PUBLISHED = {
    "mnist_mlp": ([784], 0, 669_706),
    "mnist_cnn": ([28, 28, 1], 0, 1_199_882),
    "cifar10_cnn": ([32, 32, 3], 0, 1_250_858),
    "imdb_fasttext": ([400], 20_000, 20_000 * 50 + 51),
    "imdb_bilstm": ([100], 20_000, 2_658_945),
    "twitter_bilstm": ([40], 10_000, 2_658_945 - 10_000 * 128),
    "nietzsche_lstm": ([40], 57, 102_585),
}


@pytest.fixture(scope="module", params=PUBLISHED)
def both(request, pythons):
    """What tests/workloads/same_mathematics.py prints for a workload."""
    shape, vocabulary, parameters = PUBLISHED[request.param]
    script = ROOT / "tests/workloads/same_mathematics.py"
    done = subprocess.run(
        [pythons["pytorch"], script, request.param, json.dumps(shape), str(vocabulary)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "scripts"), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) | {"published": parameters, "workload": request.param}


def test_both_have_the_published_number_of_parameters(both):
    assert both["parameters"] == [both["published"], both["published"]]


def test_both_take_as_many_operations(both):
    ours, theirs = both["multiply_adds"]
    assert ours == theirs > 0
    # PyTorch's own counter knows no LSTM that is one operation, and counts the dense layer alone.
    if "lstm" not in both["workload"]:
        assert ours == both["counted_by_torch"]


def test_the_same_weights_and_batch_give_the_same_loss_and_gradient(both):
    assert both["torch"] == pytest.approx(both["keras"], rel=1e-5, abs=1e-9)
    assert len(both["torch"]) == 1 + len(both["initial"])


def test_the_optimisers_take_the_same_steps(both):
    assert both["steps"]["torch"] == pytest.approx(both["steps"]["keras"], rel=1e-3, abs=1e-6)


def test_weights_start_alike(both):
    for weight in both["initial"]:
        mean, spread, largest = weight["keras"]
        noise = 5 * spread / weight["size"] ** 0.5  # five standard errors
        assert weight["torch"][0] == pytest.approx(mean, abs=2 * noise + 1e-7), weight["weight"]
        assert weight["torch"][1] == pytest.approx(spread, abs=2 * noise + 1e-7), weight["weight"]
        assert weight["torch"][2] == pytest.approx(largest, rel=0.4, abs=1e-7), weight["weight"]
