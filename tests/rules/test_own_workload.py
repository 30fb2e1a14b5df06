"""A workload of one's own: the template, copied, is measured like any other."""

import json
import re
import shutil

import numpy as np
import pytest
import yaml
from clones import make_clone

from epochcost import files

pytestmark = pytest.mark.slow

TEMPLATE = "scripts/epochcost/models/template"
MINE = "scripts/epochcost/models/mine"


@pytest.fixture
def own(tmp_path, pythons):
    """A clone with a copy of the template as workload `mine`, and nothing else changed."""
    clone = make_clone(tmp_path / "epochcost")
    shutil.copytree(clone.folder / TEMPLATE, clone.folder / MINE)
    clone.configure(workloads=["mine"], frameworks=["pytorch"])
    return clone


def test_it_is_measured_on_generated_data_and_reported(own):
    frameworks = {"keras-tensorflow", "pytorch"}  # each of the template's two models once
    chosen = f"frameworks={','.join(frameworks)}"
    own.snakemake("--config", "data={source: synthetic}", "price=0.10", chosen)
    assert {name.split("/")[2] for name in own.records()} == frameworks
    answer = (own.folder / "results/answer.txt").read_text()
    assert answer.count("trains mine fastest so far") == 1
    assert "No published run compares with it" in answer
    assert "My workload" in (own.folder / "results/report.html").read_text()


def test_another_model_is_measured_again_and_another_comment_is_not(own):
    own.snakemake("measure", "--config", "data={source: synthetic}")
    dry = ("-n", "measure", "--config", "data={source: synthetic}")
    module = own.folder / MINE / "__init__.py"
    code = module.read_text()
    module.write_text(code + "\n# A comment changes nothing.\n")
    assert "Nothing to be done" in own.snakemake(*dry).stdout
    module.write_text(code.replace("nn.ReLU()", "nn.Tanh()"))
    assert re.search(r"train_local +1\n", own.snakemake(*dry).stdout)


def test_its_files_are_taken_from_a_mirror_and_checked(own, tmp_path):
    rng = np.random.default_rng(1)
    stored = tmp_path / "mirror/my-data/data.npz"
    stored.parent.mkdir(parents=True)
    arrays = {"x_train": rng.random((512, 20), np.float32), "y_train": rng.integers(0, 2, 512)}
    np.savez(stored, **arrays, x_validation=arrays["x_train"], y_validation=arrays["y_train"])
    entry = own.folder / MINE / "workload.yaml"
    content = yaml.safe_load(entry.read_text())
    (file,) = content["dataset"]["archives"][0]["files"]
    file |= {"sha256": files.sha256(stored), "bytes": stored.stat().st_size}
    entry.write_text(yaml.safe_dump(content))
    own.snakemake(
        "measure", "--config", "data={source: mirror}", EPOCHCOST_MIRROR=stored.parents[1]
    )
    (record,) = own.records().values()
    data = json.loads(record)["data"]
    assert (data["dataset"], data["source"], data["complete"]) == ("my-data", "mirror", True)
    # What was copied stays where the mirror is gone.
    words = ("-n", "measure", "--config", "data={source: auto}")
    assert "Nothing to be done" in own.snakemake(*words).stdout


@pytest.fixture
def module(own):
    """The same with the template of any PyTorch module: sequences, AdamW, a schedule."""
    shutil.rmtree(own.folder / MINE)
    shutil.copytree(own.folder / f"{TEMPLATE}_torch", own.folder / MINE)
    return own


def test_a_module_is_trained_with_its_own_loss_optimiser_and_schedule(module):
    module.snakemake("--config", "data={source: synthetic}", "scale=full", "price=0.10")
    (record,) = map(json.loads, module.records().values())
    first, *_, last = (epoch["metric"] for epoch in record["epochs"])
    assert last == record["quality"]["value"] < first
    assert record["epochs"][-1]["loss"] < record["epochs"][0]["loss"] / 2
    assert record["quality"]["metric"] == "val_loss"
    assert "trains mine with PyTorch" in (module.folder / "results/answer.txt").read_text()


@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        ("workload.yaml", "id: my-data", "id: mnist", "mnist is in datasets.yaml already"),
        ("__init__.py", "class MyModel(Model)", "class MyModel", "is a Model; it has none"),
        ("__init__.py", 'hyper["units"]', 'hyper["unit"]', "`model` has no 'unit'"),
    ],
)
def test_a_mistake_is_said_in_one_line(own, path, old, new, said):
    assert said in told(own, path, old, new)


@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        ("workload.yaml", "val_loss", "val_accuracy", "a loss of one's own gives no accuracy"),
        ("__init__.py", "return optimizer,", "return None,", "gives no torch.optim.Optimizer"),
    ],
)
def test_so_is_one_in_a_module(module, path, old, new, said):
    assert said in told(module, path, old, new)


def told(clone, path, old, new) -> str:
    """What a call prints that fails for a change of one of the workload's files."""
    file = clone.folder / MINE / path
    file.write_text(file.read_text().replace(old, new))
    done = clone.snakemake("measure", "--config", "data={source: synthetic}", check=False)
    assert done.returncode == 1
    log = clone.folder / "logs/train/local/mine/pytorch/default-1.log"
    printed = done.stderr + (log.read_text() if log.exists() else "")
    assert "Traceback" not in printed
    return printed
