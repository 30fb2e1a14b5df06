"""Draw one workload: time and cost by machine, the options, their bills; or the history of all.

In: relative.csv and options.csv, or history.csv, of results/tables; data/published/baselines.csv.
Out, as SVG and PNG: <output>/<workload>-machines, -frontier and -bill, or <output>/history; and
-narrow versions for phones.
"""

from argparse import Namespace
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from epochcost import durations, errors, schemas, settings
from epochcost.measure import machine
from epochcost.money import billing
from epochcost.results import tables
from epochcost.show.figures import bills, dots, frontier, history, selection, style

HISTORY = "history"


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", help=f"a workload of baselines.csv, or {HISTORY}")
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    settings.option(parser, "figure")
    parser.add_argument("--output", type=Path, default=Path("results/figures"))
    arguments = parser.parse_args()
    for name, figure in _drawn(arguments).items():
        style.save(figure, arguments.output / name)


def _drawn(arguments: Namespace) -> dict[str, Figure]:
    """The figures that were asked for, by the names of their files."""
    if arguments.picture == HISTORY:
        return _of_all(tables.read(arguments.tables / "history.csv"))
    baseline = _baseline(arguments.published, arguments.picture)
    relative, options = (
        tables.read(arguments.tables / f"{name}.csv") for name in ("relative", "options")
    )
    drawn = _machines(relative, baseline, schemas.read("hardware"))
    drawn |= _to_choose_from(options, baseline.workload, arguments.settings)
    return {f"{baseline.workload}-{name}": figure for name, figure in drawn.items()}


def _machines(
    relative: pd.DataFrame, baseline: pd.Series, hardware: dict[str, dict]
) -> dict[str, Figure]:
    """Time and cost side by side, and for a phone one below the other."""
    side_by_side = selection.side_by_side(relative)
    rows = selection.rows_of(side_by_side, baseline.workload, baseline.baseline, list(hardware))
    gone = [name for name, entry in hardware.items() if "retired" in entry]
    one = rows[rows.time_relative.eq(1) & rows.source_id.eq(baseline.baseline)].iloc[0]
    price, here = baseline.price_per_hour_usd, machine.facts().id
    base = dots.Base("K80", "TensorFlow", baseline.price_book, price, one.time_s, one.cost_usd)
    return {
        name: dots.draw(rows, baseline.workload, base, here, narrow, gone)
        for name, narrow in (("machines", False), ("machines-narrow", True))
    }


def _to_choose_from(
    options: pd.DataFrame, workload: str, chosen: settings.Settings
) -> dict[str, Figure]:
    """What a buyer looks at: the options, and what the bills of the best are made of."""
    options = options[options.workload.eq(workload)].reset_index(drop=True)
    rental, here = billing.Rental(**dict(chosen.billing)), machine.facts().id
    deadline = durations.seconds_of(chosen.deadline) if chosen.deadline else None
    return {
        "frontier": frontier.draw(options, workload, here, deadline, chosen.budget),
        "bill": bills.draw(options, rental, workload),
    }


def _of_all(table: pd.DataFrame) -> dict[str, Figure]:
    """What training cost in 2017 and costs now."""
    return {name: history.draw(table, narrow) for name, narrow in
            (("history", False), ("history-narrow", True))}  # fmt: skip


def _baseline(folder: Path, workload: str) -> pd.Series:
    """The row of baselines.csv that holds for every study."""
    table = pd.read_csv(folder / "baselines.csv").query("scope == 'all'")
    rows = table[table.workload.eq(workload)]
    if rows.empty:
        hint = errors.nearest(workload, table.workload)
        raise errors.InputError(f"no baseline for workload '{workload}'; {hint}")
    return rows.iloc[0]


if __name__ == "__main__":
    errors.run(main)
