"""The plain scripts of study/benchmarks/ do the same work as ours, and are set against it."""

import csv
import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from published_models import PUBLISHED
from trainings import answer

from epochcost import ROOT

pytestmark = pytest.mark.slow


def ran(python, script: str, *arguments, table: Path) -> tuple[list[str], dict[str, str]]:
    """What a benchmark printed, by lines, and the row that it put into the table."""
    done = subprocess.run(
        [python, ROOT / "study/benchmarks" / script, *arguments, "--csv", table],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    with table.open(newline="") as file:
        (row,) = csv.DictReader(file)
    return done.stdout.splitlines(), row


@pytest.fixture(scope="module")
def side_by_side(pythons, few, little_text, little_pictures):
    """What tests/frameworks/plain_recipes.py prints."""
    sizes = {name: (shape, vocabulary) for name, (shape, vocabulary, _) in PUBLISHED.items()}
    texts = {"imdb_fasttext": "imdb", "imdb_bilstm": "imdb", "twitter_bilstm": "twitter"}
    folders = {name: few for name in ("mnist_mlp", "mnist_cnn")}
    folders |= {name: little_text / dataset for name, dataset in texts.items()}
    folders |= {"nietzsche_lstm": little_text / "nietzsche"}
    folders |= {"cifar10_cnn": little_pictures("cifar10_cnn")}
    folders = {name: str(folder) for name, folder in folders.items()}
    script = ROOT / "tests/frameworks/plain_recipes.py"
    return answer(pythons["pytorch"], script, json.dumps(sizes), json.dumps(folders))


@pytest.mark.parametrize("workload", PUBLISHED)
def test_a_plain_script_has_our_recipe(side_by_side, workload):
    """Data, batch, model, first weights, loss and optimiser.

    Of Keras on its PyTorch backend; of fastai the batch alone. That of catsdogs_resnet50 is not
    compared.
    """
    found = side_by_side[workload]
    assert len(found["batch"]) >= 3
    for what, (ours, *plain) in found.items():
        for other in plain:
            expected = pytest.approx(ours, rel=1e-6) if isinstance(ours, float) else ours
            assert other == expected, what


@pytest.mark.parametrize(
    ("workload", "framework", "data", "differs"),
    [
        ("mnist_mlp", "pytorch", "few", 0.3),  # samples come in another order
        ("mnist_mlp", "keras-tensorflow", "few", 0.3),
        pytest.param("mnist_mlp", "keras-jax", "few", 1e-4, marks=pytest.mark.full),
        pytest.param("mnist_mlp", "keras-torch", "few", 1e-4, marks=pytest.mark.full),
        # One batch of random pictures.
        pytest.param("catsdogs_resnet50", "fastai", "few_pictures", None, marks=pytest.mark.full),
    ],
)
def test_a_plain_script_ends_where_ours_does(
    request, pythons, tmp_path, workload, framework, data, differs
):
    said, row = ran(
        *(sys.executable, "compare.py", workload, framework, "--rounds", "1"),
        *("--data", request.getfixturevalue(data), "--python", pythons[framework]),
        table=tmp_path / "plain.csv",
    )
    assert (row["workload"], row["framework"]) == (workload, framework)
    assert float(row["ratio"]) == pytest.approx(
        float(row["ours_ms"]) / float(row["plain_ms"]), rel=1e-3
    )
    (line,) = [line for line in said if line.split()[0] == "1"]
    ours, plain = (float(text.rstrip(",")) for text in line.split()[5:7])
    assert ours > 0
    assert plain > 0
    if differs:
        assert ours == pytest.approx(plain, rel=differs)


def test_epochs_with_and_without_measuring_are_compared_in_one_process(few, pythons, tmp_path):
    said, row = ran(
        *(pythons["keras-jax"], "readings.py", "mnist_mlp", "keras-jax"),
        *("--data", few, "--pairs", "6"),
        table=tmp_path / "readings.csv",
    )
    assert (row["pairs"], row["epochs"]) == ("6", "of 32 steps")
    pairs = [line.split() for line in said if line.endswith(" without")]
    assert len(pairs) == 6
    ratios = [float(measured) / float(plain) for measured, _, _, plain, *_ in pairs]
    assert min(ratios) > 0
    assert float(row["ratio"]) == pytest.approx(statistics.median(ratios), rel=1e-2)
    assert float(row["low"]) == pytest.approx(min(ratios), rel=1e-2)
