"""What the tests share: a mirror, the frameworks' environments, a clone of the repository."""

import json
import os
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pandas as pd
import pytest
from clones import Clone, make_clone
from observed import typed

from epochcost import ROOT
from epochcost.data import arrays, preparation
from epochcost.measure import machine_lock
from epochcost.models import workloads
from epochcost.money import prices
from epochcost.money import tables as cost_tables
from epochcost.money.market import Market
from epochcost.results import published, rows, tables

ENVIRONMENTS = {
    "keras-tensorflow": "tensorflow-cpu",
    "keras-torch": "torch-cpu",
    "keras-jax": "jax-cpu",
    "pytorch": "torch-cpu",
    "fastai": "torch-cpu",
}


# What may be missing where EPOCHCOST_NO_SKIPS says that everything else is there.
MAY_BE_MISSING = ("arithmetic for bfloat16", "Python 3.12")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Count a test that skips as failed where EPOCHCOST_NO_SKIPS is set (as in .ci/run)."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and "EPOCHCOST_NO_SKIPS" in os.environ:
        reason = str(report.longrepr[2])
        if not any(missing in reason for missing in MAY_BE_MISSING):
            report.outcome, report.longrepr = "failed", f"it may not skip here: {reason}"
    return report


@pytest.hookimpl(tryfirst=True)  # before xdist, which reads the groups
def pytest_collection_modifyitems(items):
    """Keep the tests of a file, and all of Slurm, in one worker; the longest begin first."""
    weights = Counter()
    for item in items:
        on_slurm = "slurm" in item.fixturenames
        file = str(item.path.relative_to(ROOT / "tests"))
        item.add_marker(pytest.mark.xdist_group("slurm" if on_slurm else file))
        is_slow = item.get_closest_marker("slow") is not None
        weights[item.path] += ("pythons" in item.fixturenames) + 9 * (on_slurm + is_slow)
    items.sort(key=lambda item: -weights[item.path])


ALL_CORES = os.sched_getaffinity(0)


@pytest.fixture(scope="session", autouse=True)
def lock(tmp_path_factory) -> None:
    """A lock of their own: no test waits for a training that somebody else has on the machine.

    Each worker of a call has one, and one core: threads of two trainings on the same cores would
    wait for each other.
    """
    os.environ[machine_lock.LOCK] = str(tmp_path_factory.getbasetemp() / "training.lock")
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        number = int(worker.removeprefix("gw")) % len(ALL_CORES)
        os.sched_setaffinity(0, {sorted(ALL_CORES)[number]})


@pytest.fixture(scope="session")
def all_cores(lock) -> Callable[[], AbstractContextManager]:
    """Gives what is started meanwhile the cores of the machine."""

    @contextmanager
    def given():
        mine = os.sched_getaffinity(0)
        os.sched_setaffinity(0, ALL_CORES)
        yield
        os.sched_setaffinity(0, mine)

    return given


@pytest.fixture
def on_all_cores(all_cores):
    with all_cores():
        yield


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


@pytest.fixture
def clone(tmp_path, pythons) -> Clone:
    """A fresh clone that shares the frameworks' environments of this one."""
    return make_clone(tmp_path / "epochcost")


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
    return json.loads((ROOT / "tests/record/quick.json").read_text())


PUBLISHED = ROOT / "data/published"


@pytest.fixture(scope="session")
def printed() -> pd.DataFrame:
    """What the studies printed, by run."""
    return pd.read_csv(PUBLISHED / "measurements.csv").set_index("run_id")


@pytest.fixture(scope="session")
def known() -> list[prices.Price]:
    return prices.load(PUBLISHED / "prices.csv", ROOT / "config/prices.csv")


@pytest.fixture(scope="session")
def baselines() -> pd.DataFrame:
    return pd.read_csv(PUBLISHED / "baselines.csv")


@pytest.fixture
def make_tables(known, baselines):
    """Makes (runs, costs, relative) of the given records and the published runs of their workloads.

    Without records, or with `whole`, of all published runs. The costs are of one kind, rows
    without a price among them.
    """

    def make(*records: dict, kind: str = "marginal", whole: bool = False, **about):
        runs, over = published.runs(PUBLISHED, {}), baselines
        named = {record["run"]["workload"] for record in records}
        if named and not whole:  # which takes four times as long
            runs = [run for run in runs if run.workload in named]
            over = baselines[baselines.workload.isin(named)]
        runs += [rows.run_row(typed(r), "label") for r in records]
        table = tables.runs_table(runs)
        recipes = dict(workloads.read().recipes)
        if records:
            recipes["own"] = records[0]["settings"]
        here = records[0]["machine"]["id"] if records else ""
        market = Market(known, machine_id=here, **about)
        costs = cost_tables.costs_table(table, market)
        complete = {"mnist_mlp": 60_000}
        relative = cost_tables.relative_table(table, costs, over, complete, recipes, market)
        other = "billed" if kind == "marginal" else "marginal"
        return table, costs[costs.cost_kind.eq(kind)], relative[relative.cost_kind.ne(other)]

    return make


@pytest.fixture
def price_file(tmp_path):
    """Writes a price file of the given rows."""

    def write(*lines: str, head: str = "") -> Path:
        path = tmp_path / "prices.csv"
        head = head or "hardware_id,price_per_hour,currency,price_kind,as_of,source_id"
        path.write_text("\n".join([head, *lines]) + "\n")
        return path

    return write
