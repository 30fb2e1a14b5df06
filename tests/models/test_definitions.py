"""Both definitions of a workload are the published model, and the same function."""

import json
from functools import cache

import numpy as np
import pytest
from published_models import (
    PUBLISHED,
    PUBLISHED_EPSILONS,
    PUBLISHED_OPTIONS,
    PUBLISHED_RECIPES,
)
from trainings import answer

from epochcost import ROOT
from epochcost.models import recipes


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The folder of the weights and the batch that all backends get."""
    return tmp_path_factory.mktemp("weights")


@pytest.fixture(scope="module")
def compared(pythons, kept):
    """What tests/models/same_mathematics.py prints."""
    sizes = {name: (shape, vocabulary) for name, (shape, vocabulary, _) in PUBLISHED.items()}
    script = ROOT / "tests/models/same_mathematics.py"
    return answer(pythons["pytorch"], script, json.dumps(sizes), kept)


@pytest.fixture(params=PUBLISHED)
def both(request, compared):
    """What it prints for a workload."""
    *_, parameters = PUBLISHED[request.param]
    return compared[request.param] | {"published": parameters, "workload": request.param}


@pytest.fixture(scope="module")
def elsewhere(pythons, compared, kept):
    """What tests/models/on_backend.py prints for a framework."""
    script = ROOT / "tests/models/on_backend.py"
    return cache(lambda framework: answer(pythons[framework], script, framework, kept))


def test_both_have_the_published_number_of_parameters(both):
    assert both["parameters"] == [both["published"], both["published"]]


def test_the_recipe_is_the_published_one(both):
    recipe = recipes.load(ROOT / "config/workloads.yaml")[both["workload"]]
    optimizer = recipe["optimizer"]
    batch, epochs, name, rate, dropped = PUBLISHED_RECIPES[both["workload"]]
    assert (recipe["batch_size"], recipe["epochs"]) == (batch, epochs)
    published = {"name": name, "learning_rate": rate} | PUBLISHED_OPTIONS[name]
    if both["workload"] in PUBLISHED_EPSILONS:
        published["epsilon"] = PUBLISHED_EPSILONS[both["workload"]]
    assert optimizer == published
    if both["workload"].startswith("imdb"):  # of the others the data say how long they are
        assert [recipe["model"]["length"]] == PUBLISHED[both["workload"]][0]
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


@pytest.mark.parametrize(
    "framework", ["keras-tensorflow", pytest.param("keras-jax", marks=pytest.mark.full)]
)
def test_so_they_do_on_kerass_other_backends(both, elsewhere, framework):
    there = elsewhere(framework)[both["workload"]]
    assert there == pytest.approx(both["torch"], rel=1e-5, abs=1e-9)


def by_hand(optimizer: dict, scale: float, framework: str) -> np.ndarray:
    """Where an optimiser takes numbers from 0, by its formula."""
    rng, rate, epsilon = np.random.default_rng(9), optimizer["learning_rate"], optimizer["epsilon"]
    place, mean, square, moved = np.zeros((4, 100))
    for step in range(1, 6):
        gradient = rng.normal(scale=scale, size=100)
        if optimizer["name"] == "rmsprop":
            square = optimizer["rho"] * square + (1 - optimizer["rho"]) * gradient**2
            # Beside the root in PyTorch and Keras 2; Keras 3 has it under the root, as a square.
            root = (square + epsilon**2) ** 0.5 if framework == "keras" else square**0.5 + epsilon
            place = place - rate * gradient / root
        elif optimizer["name"] == "adadelta":
            rho = optimizer["rho"]
            square = rho * square + (1 - rho) * gradient**2
            change = ((moved + epsilon) / (square + epsilon)) ** 0.5 * gradient
            moved = rho * moved + (1 - rho) * change**2
            place = place - rate * change
        else:
            beta_1, beta_2 = optimizer["beta_1"], optimizer["beta_2"]
            mean = beta_1 * mean + (1 - beta_1) * gradient
            square = beta_2 * square + (1 - beta_2) * gradient**2
            # Keras adds the epsilon before the bias is corrected (docs/explanation/recipes.md).
            corrected = (1 - beta_2**step) ** 0.5
            root = (square**0.5 + epsilon) / corrected
            if framework != "keras":
                root = square**0.5 / corrected + epsilon
            place = place - rate / (1 - beta_1**step) * mean / root
    return place


@pytest.mark.parametrize("framework", ["keras", "torch", "torch_fused"])
def test_the_optimisers_are_their_formulas(both, framework):
    """Adam also with the setting `fused_optimizer` of the variant `tuned`; others do without it."""
    optimizer = recipes.load(ROOT / "config/workloads.yaml")[both["workload"]]["optimizer"]
    for scale, steps in both["steps"].items():
        expected = by_hand(optimizer, float(scale), framework)
        assert steps[framework] == pytest.approx(expected, rel=2e-3, abs=1e-9), scale


def test_the_optimisers_take_the_same_steps(both):
    """Keras adds Adam's epsilon earlier: with that of Twitter small gradients differ by more."""
    steps = both["steps"]["0.1"]
    within = 2e-2 if both["workload"] in PUBLISHED_EPSILONS else 1e-3
    assert steps["torch"] == pytest.approx(steps["keras"], rel=within, abs=1e-6)


def test_the_same_logits_have_the_same_accuracy(both):
    found = both["accuracies"]
    assert found["keras"] == pytest.approx(found["by_hand"])
    assert found["torch"] == pytest.approx(found["by_hand"])


def test_weights_start_alike(both):
    recurrent = [weight for weight in both["initial"] if "off_orthogonal" in weight]
    assert bool(recurrent) == ("lstm" in both["workload"])
    for weight in recurrent:
        assert max(weight["off_orthogonal"]) < 1e-4, weight["weight"]
    for weight in both["initial"]:
        mean, spread, largest = weight["keras"]
        noise = 5 * spread / weight["size"] ** 0.5  # five standard errors
        assert weight["torch"][0] == pytest.approx(mean, abs=2 * noise + 1e-7), weight["weight"]
        assert weight["torch"][1] == pytest.approx(spread, abs=2 * noise + 1e-7), weight["weight"]
        assert weight["torch"][2] == pytest.approx(largest, rel=0.4, abs=1e-7), weight["weight"]
