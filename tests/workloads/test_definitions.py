"""Both definitions of a workload are the published model, and the same function."""

import json
import math
import subprocess

import pytest
from published_models import PUBLISHED, PUBLISHED_RECIPES

from epochcost import recipes
from epochcost.configuration import ROOT

ADAM = [name for name, (_, _, optimizer, *_) in PUBLISHED_RECIPES.items() if optimizer == "adam"]


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


def test_the_recipe_is_the_published_one(both):
    recipe = recipes.load(ROOT / "config/workloads.yaml")[both["workload"]]
    optimizer = recipe["optimizer"]
    batch, epochs, name, rate, dropped = PUBLISHED_RECIPES[both["workload"]]
    assert (recipe["batch_size"], recipe["epochs"]) == (batch, epochs)
    assert (optimizer["name"], optimizer["learning_rate"]) == (name, rate)
    assert both["dropped"] == {"keras": dropped, "torch": dropped}


def test_both_move_pictures_alike_in_training_alone(both):
    """Up to three of 32 pixels each way, by whole pixels, edges repeated; half are mirrored."""
    if both["workload"] != "cifar10_cnn":
        assert both["moved"] is None
        return
    for name, seen in both["moved"].items():
        assert seen["unmoved_in_validation"], name
        # Half a pixel may be rounded up here and down there within one picture.
        assert seen["unknown"] < 0.005, name
        assert seen["mirrored"] == pytest.approx(0.5, abs=0.05), name
        for shifts in (seen["down"], seen["right"]):
            assert sorted(map(int, shifts)) == list(range(-3, 4)), name
            # 3.2 pixels each way, rounded: the outermost are met less often than the others.
            for shift, share in shifts.items():
                expected = 0.7 / 6.4 if abs(int(shift)) == 3 else 1 / 6.4
                assert share == pytest.approx(expected, abs=0.03), (name, shift)


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


def test_epsilon_counts_alike_where_gradients_are_as_small(both):
    """Added to the root or, as its square, under it: steps then differ by less than half."""
    keras, torch = (math.hypot(*both["small_steps"][name]) for name in ("keras", "torch"))
    # Keras adds Adam's epsilon before it corrects the bias (docs/recipes.md).
    low, high = (0.01, 1) if both["workload"] in ADAM else (0.7, 1.42)
    assert low < keras / torch < high


def test_weights_start_alike(both):
    for weight in both["initial"]:
        mean, spread, largest = weight["keras"]
        noise = 5 * spread / weight["size"] ** 0.5  # five standard errors
        assert weight["torch"][0] == pytest.approx(mean, abs=2 * noise + 1e-7), weight["weight"]
        assert weight["torch"][1] == pytest.approx(spread, abs=2 * noise + 1e-7), weight["weight"]
        assert weight["torch"][2] == pytest.approx(largest, rel=0.4, abs=1e-7), weight["weight"]
