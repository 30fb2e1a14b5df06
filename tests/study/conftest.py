"""What the tests of the audit share."""

import pandas as pd
import pytest
import recompute

from epochcost import ROOT, files
from epochcost.money import prices
from epochcost.results import published, tables

AUDIT, PUBLISHED = ROOT / "study/audit", ROOT / "data/published"


@pytest.fixture(scope="session")
def study() -> recompute.Study:
    """What the audit recomputes claims from."""
    printed = pd.read_csv(PUBLISHED / "measurements.csv", dtype=str, keep_default_na=False)
    return recompute.Study(
        tables.runs_table(published.runs(PUBLISHED, {})),
        printed.drop_duplicates("run_id", keep="last").set_index("run_id"),
        prices.load(PUBLISHED / "prices.csv"),
    )


@pytest.fixture(scope="session")
def claims() -> list[dict]:
    """The claims of the published studies."""
    return files.read_yaml(AUDIT / "claims.yaml")
