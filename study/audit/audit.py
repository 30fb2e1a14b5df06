"""Check what the published studies say against their own measurements and prices.

In: claims.yaml beside it, and measurements.csv, prices.csv and sources.csv of data/published. Out:
audit.csv and audit_costs.csv, and the first as README.md beside it.
"""

import sys
from pathlib import Path

import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))

import page
import recompute

from epochcost import errors, files
from epochcost.money import prices
from epochcost.results import published, tables


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    parser.add_argument("--output", type=Path, default=Path("results/study"))
    parser.add_argument("--markdown", type=Path, default=HERE / "README.md")
    arguments = parser.parse_args()
    folder = arguments.published
    study = recompute.Study(
        runs=tables.runs_table(published.runs(folder, {})),
        printed=pd.read_csv(folder / "measurements.csv", dtype=str, keep_default_na=False)
        .query("row_kind != 'epoch' or source_id == 'kroutikov2016cost'")
        .set_index("run_id"),
        known=prices.load(folder / "prices.csv"),
    )
    claimed = files.read_yaml(HERE / "claims.yaml")
    table = recompute.audit_table(claimed, study)
    for name, found in (("audit", table), ("audit_costs", recompute.costs_table(claimed, study))):
        files.write_csv(arguments.output / f"{name}.csv", found)
    sources = pd.read_csv(folder / "sources.csv").set_index("source_id")
    files.write_text(arguments.markdown, page.markdown(table, sources))


if __name__ == "__main__":
    errors.run(main)
