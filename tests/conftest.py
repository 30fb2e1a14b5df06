"""What the tests share: a mirror, the frameworks' environments, a clone of the repository."""

import json
import os
from pathlib import Path

import pytest
from clones import Clone, make_clone

from epochcost.configuration import ROOT
from epochcost.datasets import arrays, preparation

ENVIRONMENTS = {
    "keras-tensorflow": "tensorflow-cpu",
    "keras-torch": "torch-cpu",
    "keras-jax": "jax-cpu",
    "pytorch": "torch-cpu",
    "fastai": "torch-cpu",
}


# What may be missing where EPOCHCOST_NO_SKIPS says that everything else is there.
MAY_BE_MISSING = ("arithmetic for bfloat16",)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Count a test that skips as failed where EPOCHCOST_NO_SKIPS is set (as in .ci/run)."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and "EPOCHCOST_NO_SKIPS" in os.environ:
        reason = str(report.longrepr[2])
        if not any(missing in reason for missing in MAY_BE_MISSING):
            report.outcome, report.longrepr = "failed", f"it may not skip here: {reason}"
    return report


@pytest.fixture(scope="session")
def mirror() -> Path:
    """A mirror of the real data sets; the test is skipped where none is set."""
    folder = os.environ.get("EPOCHCOST_MIRROR")
    if not folder:
        pytest.skip("EPOCHCOST_MIRROR names no mirror of the data sets")
    return Path(folder)


@pytest.fixture(scope="session")
def pythons() -> dict[str, Path]:
    """The interpreter of each framework; skipped where `make test` did not make them."""
    found = {}
    for framework, environment in ENVIRONMENTS.items():
        python = ROOT / ".venvs" / environment / "bin/python"
        if not python.exists():
            pytest.skip(f"the environment {environment} is not made (make test makes it)")
        found[framework] = python
    return found


@pytest.fixture(scope="module")
def clone(tmp_path_factory, pythons) -> Clone:
    """A fresh clone that shares the frameworks' environments of this one."""
    return make_clone(tmp_path_factory.mktemp("clone") / "epochcost")


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    """Makes a folder of so many pictures of the generated MNIST for training, and 1,000 more."""
    folder = tmp_path_factory.mktemp("pictures")
    preparation.prepare("mnist", "synthetic", folder, folder / "all")
    whole = arrays.load(folder / "all")

    def make(samples: int) -> Path:
        counts = {"train": samples, "validation": 1_000}
        values = {key: value[: counts[key[2:]]] for key, value in whole.values.items()}
        part = folder / str(samples)
        arrays.save(part, values, "mnist", "synthetic", "synthetic", {}, {})
        return part

    return make


@pytest.fixture(scope="session")
def little(pictures):
    """6,400 + 1,000 generated pictures."""
    return pictures(6_400)


@pytest.fixture(scope="session")
def few(pictures):
    """1,000 + 1,000 of them, for models whose steps take long."""
    return pictures(1_000)


@pytest.fixture
def record() -> dict:
    """A whole record of a quick run, as a run on this version leaves it."""
    return json.loads((ROOT / "tests/records/quick.json").read_text())
