"""Real trainings, each in its framework's own environment."""

import subprocess

import jsonschema
import numpy as np
import pytest

from epochcost import files
from epochcost.configuration import ROOT
from epochcost.datasets import arrays, download, preparation

SCHEMA = files.read_json(ROOT / "config/schemas/record.schema.json")
FRAMEWORKS = ["keras-tensorflow", "pytorch"]


def train(python, workload, framework, data, record, *options):
    """Run scripts/train.py in a framework's environment; returns the record."""
    done = subprocess.run(
        [
            *(python, ROOT / "scripts/train.py", workload, framework),
            *("--data", data, "--record", record, *options),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    content = files.read_json(record)
    jsonschema.Draft202012Validator(SCHEMA).validate(content)
    return content


@pytest.fixture(scope="module")
def little(tmp_path_factory):
    """A part of the generated MNIST: 6,400 + 1,000 pictures."""
    folder = tmp_path_factory.mktemp("little")
    preparation.prepare("mnist", "synthetic", folder, folder / "all")
    whole = arrays.load(folder / "all")
    counts = {"train": 6_400, "validation": 1_000}
    values = {key: value[: counts[key[2:]]] for key, value in whole.values.items()}
    arrays.save(folder / "part", values, "mnist", "synthetic", "synthetic", {}, {})
    return folder / "part"


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("workload", ["mnist_mlp", "mnist_cnn"])
def test_a_quick_run_leaves_a_whole_record(pythons, little, tmp_path, workload, framework):
    record = train(pythons[framework], workload, framework, little, tmp_path / "r.json")
    assert record["status"] == "ok"
    assert record["run"]["scale"] == "quick"
    assert record["data"] | {"sha256": ""} == {
        "dataset": "mnist", "source": "synthetic", "complete": False,
        "train_samples": 6_400, "validation_samples": 1_000, "skipped": 0, "sha256": "",
    }  # fmt: skip
    assert [block["steps"] for block in record["blocks"]] == [1, 29, 20]
    assert sum(block["seconds"] for block in record["blocks"]) == pytest.approx(
        record["epochs"][0]["train_s"]
    )
    for phase in ("import", "data", "build", "first_step", "train", "evaluate"):
        assert record["phases"][phase] > 0, phase
    assert record["phases"]["save"] is None
    assert len(record["evaluations"]) == 2
    assert record["utilisation"]["peak_rss_mib"] > 100


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_full_run_learns_and_keeps_every_epoch(pythons, little, tmp_path, framework):
    record = train(
        pythons[framework], "mnist_mlp", framework, little, tmp_path / "r.json", "--scale", "full"
    )
    assert [epoch["epoch"] for epoch in record["epochs"]] == list(range(1, 21))
    losses = [epoch["loss"] for epoch in record["epochs"]]
    assert losses[-1] < 0.7 * losses[0]  # one label in ten is wrong, so it stays above 0
    assert record["quality"]["reached"] is None
    assert record["steady_state"]["parts"] == 19


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_same_seed_gives_the_same_losses(pythons, little, tmp_path, framework):
    first, second = (
        train(pythons[framework], "mnist_mlp", framework, little, tmp_path / f"{name}.json")
        for name in "ab"
    )
    assert first["epochs"][0]["loss"] == second["epochs"][0]["loss"]


@pytest.mark.full
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_real_mnist_at_full_scale_reaches_the_published_accuracy(
    pythons, mirror, tmp_path, framework
):
    from epochcost import configuration

    registry = configuration.load().datasets
    download.fetch("mnist", "complete", "mirror", registry, tmp_path / "raw", mirror)
    preparation.prepare("mnist", "complete", tmp_path / "raw", tmp_path / "arrays")
    record = train(
        pythons[framework], "mnist_mlp", framework, tmp_path / "arrays", tmp_path / "r.json",
        "--scale", "full",
    )  # fmt: skip
    assert record["data"]["complete"]
    assert record["quality"]["value"] >= 0.98
    assert np.isfinite([epoch["loss"] for epoch in record["epochs"]]).all()
