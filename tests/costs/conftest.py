from pathlib import Path

import pandas as pd
import pytest

from epochcost import configuration, files
from epochcost.configuration import ROOT
from epochcost.costs import audit, prices, published, rows, tables
from epochcost.costs.market import Market

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


@pytest.fixture(scope="session")
def study() -> audit.Study:
    """What the audit recomputes claims from."""
    printed = pd.read_csv(PUBLISHED / "measurements.csv", dtype=str, keep_default_na=False)
    return audit.Study(
        tables.runs_table(published.runs(PUBLISHED, {})),
        printed.drop_duplicates("run_id", keep="last").set_index("run_id"),
        prices.load(PUBLISHED / "prices.csv"),
    )


@pytest.fixture(scope="session")
def claims() -> list[dict]:
    """The claims of the published studies."""
    return files.read_yaml(PUBLISHED / "claims.yaml")


@pytest.fixture
def make_tables(known, baselines):
    """Makes (runs, costs, relative) of the given records and the published runs of their workloads.

    Without records, or with `whole`, of all published runs. The costs are of one kind, rows
    without a price among them.
    """

    def make(*records: dict, kind: str = "marginal", whole: bool = False, **about):
        runs, over = published.runs(PUBLISHED, {}), baselines
        workloads = {record["run"]["workload"] for record in records}
        if workloads and not whole:  # which takes four times as long
            runs = [run for run in runs if run.workload in workloads]
            over = baselines[baselines.workload.isin(workloads)]
        runs += [rows.run_row(r, "label") for r in records]
        table = tables.runs_table(runs)
        recipes = dict(configuration.load().recipes)
        if records:
            recipes["own"] = records[0]["settings"]
        here = records[0]["machine"]["id"] if records else ""
        market = Market(known, machine_id=here, **about)
        costs = tables.costs_table(table, market)
        complete = {"mnist_mlp": 60_000}
        relative = tables.relative_table(table, costs, over, complete, recipes, market)
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
