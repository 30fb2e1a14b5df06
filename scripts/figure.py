"""Draw a workload's time and cost over the K80 baseline, published bars and own ones.

In: results/tables/relative.csv, data/published/baselines.csv. Out: <output>/<workload>-time and
<workload>-cost, as SVG and PNG.
"""

from pathlib import Path

import pandas as pd

from epochcost import configuration, errors
from epochcost.figures import bars, selection


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("workload", help="a workload of baselines.csv")
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    parser.add_argument("--output", type=Path, default=Path("results/figures"))
    arguments = parser.parse_args()
    baseline = _baseline(arguments.published, arguments.workload)
    known = configuration.load()
    rows = selection.rows_of(
        selection.side_by_side(pd.read_csv(arguments.tables / "relative.csv")),
        arguments.workload,
        baseline.baseline,
        list(known.hardware),
    )
    # What was trained on another number of samples compares with no bar of this picture.
    rows = rows[rows.time_relative.notna()].reset_index(drop=True)
    title = known.workloads.get(arguments.workload, {}).get("title", arguments.workload)
    base = bars.Base("K80", "TensorFlow", baseline.price_book, baseline.price_per_hour_usd)
    for quantity in bars.QUANTITIES:
        figure = bars.draw(rows, quantity, title, base)
        bars.save(figure, arguments.output / f"{arguments.workload}-{quantity.name}")


def _baseline(folder: Path, workload: str):
    """The row of baselines.csv that holds for every study."""
    table = pd.read_csv(folder / "baselines.csv").query("scope == 'all'").set_index("workload")
    if workload not in table.index:
        hint = errors.nearest(workload, table.index)
        raise errors.InputError(f"no baseline for workload '{workload}'; {hint}")
    return table.loc[workload]


if __name__ == "__main__":
    errors.run(main)
