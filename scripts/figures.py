"""Draw each workload: time and cost by machine, the options, their bills; and the history of all.

In: relative.csv, options.csv and history.csv of results/tables; data/published/baselines.csv.
Out, as SVG and PNG: <output>/<workload>-machines, -frontier and -bill, and <output>/history; and
-narrow versions for phones.
"""

from argparse import Namespace
from concurrent.futures import ProcessPoolExecutor
from functools import partial
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
    what = f"a workload of baselines.csv, or {HISTORY}; default: all"
    parser.add_argument("pictures", nargs="*", metavar="picture", help=what)
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    settings.option(parser, "figures")
    parser.add_argument("--output", type=Path, default=Path("results/figures"))
    arguments = parser.parse_args()
    baselines = _baselines(arguments.published)
    known = [HISTORY, *baselines.index]
    for name in arguments.pictures:
        errors.check_name("picture", name, known)
    # Drawing takes longer than all else, so each core draws.
    with ProcessPoolExecutor() as pool:
        list(pool.map(partial(_draw, arguments, baselines), arguments.pictures or known))


def _draw(arguments: Namespace, baselines: pd.DataFrame, picture: str) -> None:
    for name, figure in _drawn(arguments, baselines, picture).items():
        style.save(figure, arguments.output / name)


def _drawn(arguments: Namespace, baselines: pd.DataFrame, picture: str) -> dict[str, Figure]:
    """The figures of a workload, or of all, by the names of their files."""
    if picture == HISTORY:
        return _of_all(tables.read(arguments.tables / "history.csv"))
    relative, options = (
        tables.read(arguments.tables / f"{name}.csv") for name in ("relative", "options")
    )
    drawn = _machines(relative, baselines.loc[picture], schemas.read("hardware"))
    drawn |= _to_choose_from(options, picture, arguments.settings)
    return {f"{picture}-{name}": figure for name, figure in drawn.items()}


def _machines(
    relative: pd.DataFrame, baseline: pd.Series, hardware: dict[str, dict]
) -> dict[str, Figure]:
    """Time and cost side by side, and for a phone one below the other."""
    side_by_side = selection.side_by_side(relative)
    rows = selection.rows_of(side_by_side, baseline.name, baseline.baseline, list(hardware))
    gone = [name for name, entry in hardware.items() if "retired" in entry]
    one = rows[rows.time_relative.eq(1) & rows.source_id.eq(baseline.baseline)].iloc[0]
    price, here = baseline.price_per_hour_usd, machine.facts().id
    base = dots.Base("K80", "TensorFlow", baseline.price_book, price, one.time_s, one.cost_usd)
    return {
        name: dots.draw(rows, baseline.name, base, here, narrow, gone)
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


def _baselines(folder: Path) -> pd.DataFrame:
    """The rows of baselines.csv that hold for every study, by workload."""
    table = pd.read_csv(folder / "baselines.csv").query("scope == 'all'")
    return table.set_index("workload")


if __name__ == "__main__":
    errors.run(main)
