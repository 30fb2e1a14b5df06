"""The plain scripts of benchmarks/ do the same work as ours, and are set against it."""

import csv
import subprocess
import sys

import pytest

from epochcost.configuration import ROOT


@pytest.mark.parametrize(
    ("workload", "framework", "data", "differs"),
    [
        ("mnist_mlp", "pytorch", "few", 0.3),  # samples come in another order
        ("mnist_mlp", "keras-tensorflow", "few", 0.3),
        ("mnist_mlp", "keras-jax", "few", 1e-4),
        pytest.param("mnist_mlp", "keras-torch", "few", 1e-4, marks=pytest.mark.full),
        # One batch of random pictures.
        pytest.param("catsdogs_resnet50", "fastai", "few_pictures", None, marks=pytest.mark.full),
    ],
)
def test_a_plain_script_ends_where_ours_does(
    request, pythons, tmp_path, workload, framework, data, differs
):
    table = tmp_path / "plain.csv"
    done = subprocess.run(
        [
            *(sys.executable, ROOT / "benchmarks/compare.py", workload, framework, "--rounds", "1"),
            *("--data", request.getfixturevalue(data), "--csv", table),
            *("--python", pythons[framework]),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    with table.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["workload"], row["framework"]) == (workload, framework)
    assert float(row["ratio"]) == pytest.approx(
        float(row["ours_ms"]) / float(row["plain_ms"]), rel=1e-3
    )
    (said,) = [line for line in done.stdout.splitlines() if line.split()[0] == "1"]
    ours, plain = (float(text.rstrip(",")) for text in said.split()[5:7])
    assert ours > 0
    assert plain > 0
    if differs:
        assert ours == pytest.approx(plain, rel=differs)
