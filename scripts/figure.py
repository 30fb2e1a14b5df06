"""Draw one workload: time and cost by machine, the options, a bill in its parts, the history.

In: relative.csv, options.csv, history.csv and runs.csv of results/tables, data/published/
baselines.csv. Out, as SVG and PNG: <output>/<workload>-machines (and -machines-narrow, for phones),
-frontier, -bill and -history.
"""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from epochcost import durations, errors, schemas, settings
from epochcost.measure import machine
from epochcost.money import billing, history
from epochcost.results import tables
from epochcost.show.figures import dots, frontier, selection, style, waterfall
from epochcost.show.figures import history as history_figure


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("workload", help="a workload of baselines.csv")
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    settings.option(parser, "figure")
    parser.add_argument("--output", type=Path, default=Path("results/figures"))
    arguments = parser.parse_args()
    baseline = _baseline(arguments.published, arguments.workload)
    order = list(schemas.read("hardware"))
    found = {
        name: tables.read(arguments.tables / f"{name}.csv")
        for name in ("relative", "options", "history", "runs")
    }
    drawn = _machines(found["relative"], baseline, order)
    drawn |= _to_choose_from(found, baseline, arguments.settings)
    for name, figure in drawn.items():
        style.save(figure, arguments.output / f"{arguments.workload}-{name}")


def _machines(
    relative: pd.DataFrame, baseline: pd.Series, hardware: list[str]
) -> dict[str, Figure]:
    """Time and cost side by side, and for a phone one below the other."""
    side_by_side = selection.side_by_side(relative)
    rows = selection.rows_of(side_by_side, baseline.workload, baseline.baseline, hardware)
    one = rows[rows.time_relative.eq(1) & rows.source_id.eq(baseline.baseline)].iloc[0]
    price, here = baseline.price_per_hour_usd, machine.facts().id
    base = dots.Base("K80", "TensorFlow", baseline.price_book, price, one.time_s, one.cost_usd)
    return {
        name: dots.draw(rows, baseline.workload, base, here, narrow)
        for name, narrow in (("machines", False), ("machines-narrow", True))
    }


def _to_choose_from(
    found: dict[str, pd.DataFrame], baseline: pd.Series, chosen: settings.Settings
) -> dict[str, Figure]:
    """What a buyer looks at: the options, an itemised bill, the history."""
    runs, options, past = (
        found[name][found[name].workload.eq(baseline.workload)].reset_index(drop=True)
        for name in ("runs", "options", "history")
    )
    best = history.measured_here(options, runs)
    base = runs[runs.run_id.eq(baseline.run_id)].iloc[0]
    change = None
    if best is not None:
        change = history.change(base, baseline.price_per_hour_usd, best, options)
    named = f"the {base.hardware_label} of {baseline.price_book[:4]}"
    past = history.kinds_shown(past)
    rental, here = billing.Rental(**dict(chosen.billing)), machine.facts().id
    deadline = durations.seconds_of(chosen.deadline) if chosen.deadline else None
    return {
        "frontier": frontier.draw(options, baseline.workload, here, deadline, chosen.budget),
        "bill": waterfall.draw(waterfall.shown_of(options), rental, baseline.workload),
        "history": history_figure.draw(past, best, change, baseline.workload, named),
    }


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
