"""docs/own-workload.md, done as it says: one Python file, one entry, and it is measured."""

import gzip
import re
import struct
from collections import Counter

import numpy as np
import pytest
import yaml
from clones import make_clone

from epochcost import files
from epochcost.configuration import ROOT
from epochcost.data import arrays, mnist
from epochcost.models import Split, check_split


@pytest.fixture(scope="module")
def own(tmp_path_factory, pythons):
    """A clone with the file and the entry of the documentation, and nothing else changed."""
    text = (ROOT / "docs/own-workload.md").read_text()
    code, entry = re.search(r"```python\n(.*?)```.*?```yaml\n(.*?)```", text, re.DOTALL).groups()
    clone = make_clone(tmp_path_factory.mktemp("own") / "epochcost")
    (clone.folder / "scripts/epochcost/models/fashion_mlp.py").write_text(code)
    with open(clone.folder / "config/workloads.yaml", "a") as file:
        file.write("\n" + entry)
    clone.configure(workloads=["fashion_mlp"])
    return clone


def test_it_is_measured_on_generated_data_and_reported(own):
    own.snakemake("--config", "data={source: synthetic}", "price=0.10")
    assert set(own.records()) == {
        f"local/fashion_mlp/{name}/default-1.json" for name in ("keras-tensorflow", "pytorch")
    }
    answer = (own.folder / "results/answer.txt").read_text()
    assert answer.count("trains fashion_mlp fastest so far") == 1
    assert "No published run compares with it" in answer
    assert "Fashion-MNIST, small perceptron" in (own.folder / "results/report.html").read_text()
    dry = ("-n", "--config", "data={source: synthetic}", "price=0.10")
    module = own.folder / "scripts/epochcost/models/fashion_mlp.py"
    code = module.read_text()
    try:
        module.write_text(code + "\n# A comment changes nothing.\n")
        assert "Nothing to be done" in own.snakemake(*dry).stdout
        module.write_text(code.replace("nn.ReLU()", "nn.Tanh()"))
        assert re.search(r"train_local +2\n", own.snakemake(*dry).stdout), "another model"
    finally:
        module.write_text(code)


def test_arrays_of_ones_own_are_prepared_as_it_says(tmp_path):
    text = (ROOT / "docs/own-workload.md").read_text()
    code = next(
        code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if ".npz" in code
    )
    inputs = re.search(r"`inputs` then is\s+`(.*?)`", text)[1]
    module = {"np": np, "Split": Split}
    exec(code, module)
    made = module["synthetic"](np.random.default_rng(1))
    np.savez(tmp_path / "mine.npz", **made)
    prepared = module["prepare"]({"mine.npz": tmp_path / "mine.npz"}, Counter())
    arrays.save(tmp_path / "arrays", prepared, "mine", "complete", "mirror", {}, {})
    split = eval(inputs, module | {"arrays": arrays.load(tmp_path / "arrays")})
    check_split(split, {"loss": "binary_crossentropy", "quality": {"metric": "val_accuracy"}})
    assert split.shape == (20,)
    assert (split.x_validation == made["x_validation"]).all()


def idx(values: np.ndarray) -> bytes:
    """An array of bytes as an IDX file in gzip."""
    head = struct.pack(f">i{values.ndim}i", 0x800 + values.ndim, *values.shape)
    return gzip.compress(head + values.tobytes())


def test_its_files_are_fetched_from_a_mirror_and_checked(own, tmp_path):
    """The real files are not at hand: generated ones of the same form, with their checksums."""
    made = mnist.synthetic(np.random.default_rng(1))
    path = own.folder / "config/workloads.yaml"
    workloads = yaml.safe_load(path.read_text())
    for file, name in zip(
        workloads["fashion_mlp"]["dataset"]["archives"][0]["files"],
        ("x_train", "y_train", "x_validation", "y_validation"),
        strict=True,
    ):
        stored = tmp_path / "fashion-mnist" / file["name"]
        stored.parent.mkdir(exist_ok=True)
        stored.write_bytes(idx(made[name]))
        file |= {"sha256": files.sha256(stored), "bytes": stored.stat().st_size}
    path.write_text(yaml.safe_dump(workloads))
    before = own.records()
    own.snakemake(
        "measure", "--config", "frameworks=pytorch", "data={source: mirror}",
        EPOCHCOST_MIRROR=str(tmp_path),
    )  # fmt: skip
    (added,) = own.records().keys() - before.keys()
    record = files.read_json(own.folder / "results/runs" / added)
    assert record["data"]["dataset"] == "fashion-mnist"
    assert record["data"]["source"] == "mirror"
    assert record["data"]["complete"]
    # What was copied stays where the mirror is gone.
    words = ("-n", "measure", "--config", "frameworks=pytorch", "data={source: auto}")
    assert "Nothing to be done" in own.snakemake(*words).stdout


def test_a_missing_file_or_a_name_that_is_taken_is_said(own):
    path = own.folder / "config/workloads.yaml"
    kept = path.read_text()
    module = own.folder / "scripts/epochcost/models/fashion_mlp.py"
    code = module.read_text()
    try:
        path.write_text(kept.replace("id: fashion-mnist", "id: mnist"))
        done = own.snakemake("-n", check=False)
        assert "mnist is in datasets.yaml already; say dataset: mnist" in done.stderr
        path.write_text(kept)
        module.unlink()
        done = own.snakemake("-n", check=False)
        assert done.returncode == 1
        assert "there is no scripts/epochcost/models/fashion_mlp.py" in done.stderr
    finally:
        path.write_text(kept)
        module.write_text(code)
