"""Draw what a buyer looks at for one workload: the options, a bill in its parts, the history.

In: options.csv, history.csv and runs.csv of results/tables, data/published/baselines.csv. Out:
<output>/<workload>-frontier, -bill and -history as SVG and PNG.
"""

from pathlib import Path

import pandas as pd

from epochcost import configuration, errors
from epochcost.costs import billing, history
from epochcost.costs.rows import OWN
from epochcost.figures import bars, frontier, waterfall
from epochcost.figures import history as history_figure


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("workload")
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    parser.add_argument("--rental", type=billing.rental_of, default=billing.Rental())
    parser.add_argument("--output", type=Path, default=Path("results/figures"))
    arguments = parser.parse_args()
    workload = arguments.workload
    recipes = configuration.load().recipes
    if workload not in recipes:
        hint = errors.nearest(workload, recipes)
        raise errors.InputError(f"unknown workload '{workload}'; {hint}")
    options, past, runs = (
        pd.read_csv(arguments.tables / f"{name}.csv") for name in ("options", "history", "runs")
    )
    options = options[options.workload.eq(workload)].reset_index(drop=True)
    title = recipes[workload]["title"]
    drawn = {"frontier": frontier.draw(options, title)}
    drawn["bill"] = waterfall.draw(_billed(options), arguments.rental, title)
    past = history.kinds_shown(past[past.workload.eq(workload)])
    best = _measured_here(options, runs)
    base = _baseline(arguments.published, workload)
    change, named = None, ""
    if base is not None:
        run = runs[runs.run_id.eq(base.run_id)].iloc[0]
        named = f"the {run.hardware_label} of {base.price_book[:4]}"
        if best is not None:
            change = history.change(run, base.price_per_hour_usd, best, options)
    drawn["history"] = history_figure.draw(past, best, change, title, named)
    for name, figure in drawn.items():
        bars.save(figure, arguments.output / f"{workload}-{name}")


def _billed(options: pd.DataFrame) -> pd.Series | None:
    """The option whose bill is shown: the cheapest that was measured here, or of all."""
    priced = options[options.billed_usd.gt(0)]
    own = priced[priced.source_id.eq(OWN)]
    shown = own if len(own) else priced
    return shown.loc[shown.billed_usd.idxmin()] if len(shown) else None


def _measured_here(options: pd.DataFrame, runs: pd.DataFrame) -> pd.Series | None:
    """The cheapest option that was measured here, with the day of its newest run."""
    own = options[options.source_id.eq(OWN) & options.marginal_usd.gt(0)]
    if own.empty:
        return None
    best = own.loc[own.marginal_usd.idxmin()]
    same = ["workload", "framework", "variant", "hardware_id"]
    matching = runs[runs.source_id.eq(OWN) & (runs[same] == best[same]).all(axis=1)]
    return pd.concat([best, pd.Series({"date": matching.date.max()})])


def _baseline(published: Path, workload: str) -> pd.Series | None:
    """The workload's row of baselines.csv that holds for every study, if it has one."""
    baselines = pd.read_csv(published / "baselines.csv").query("scope == 'all'")
    rows = baselines[baselines.workload.eq(workload)]
    return rows.iloc[0] if len(rows) else None


if __name__ == "__main__":
    errors.run(main)
