"""Check what the published studies say against their own measurements and prices.

In: data/published/ (claims.yaml, measurements.csv, prices.csv). Out: audit.csv and audit_costs.csv
in results/tables, and the first as Markdown.
"""

from pathlib import Path

import pandas as pd

from epochcost import errors, files
from epochcost.money import audit, prices
from epochcost.results import published, tables
from epochcost.show import claims


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    parser.add_argument("--output", type=Path, default=Path("results/tables"))
    parser.add_argument("--markdown", type=Path, default=Path("results/audit.md"))
    arguments = parser.parse_args()
    folder = arguments.published
    study = audit.Study(
        runs=tables.runs_table(published.runs(folder, {})),
        printed=pd.read_csv(folder / "measurements.csv", dtype=str, keep_default_na=False)
        .query("row_kind != 'epoch' or source_id == 'kroutikov2016cost'")
        .set_index("run_id"),
        known=prices.load(folder / "prices.csv"),
    )
    claimed = files.read_yaml(folder / "claims.yaml")
    table = audit.audit_table(claimed, study)
    for name, found in (("audit", table), ("audit_costs", audit.costs_table(claimed, study))):
        files.write_csv(arguments.output / f"{name}.csv", found)
    sources = pd.read_csv(folder / "sources.csv").set_index("source_id")
    files.write_text(arguments.markdown, claims.markdown(table, sources))


if __name__ == "__main__":
    errors.run(main)
