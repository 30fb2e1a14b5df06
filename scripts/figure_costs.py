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
    own = _measured_here(options, runs)
    change = _change(arguments.published, workload, own, options, runs)
    drawn["history"] = history_figure.draw(past, own, change, title)
    for name, figure in drawn.items():
        bars.save(figure, arguments.output / f"{workload}-{name}")


def _billed(options: pd.DataFrame) -> pd.Series | None:
    """The option whose bill is shown: the cheapest that was measured here, or of all."""
    priced = options[options.billed_usd.gt(0)]
    own = priced[priced.source_id.eq(OWN)]
    shown = own if len(own) else priced
    return shown.loc[shown.billed_usd.idxmin()] if len(shown) else None


def _measured_here(options: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The own options, with the day of their newest run."""
    own = options[options.source_id.eq(OWN) & options.marginal_usd.gt(0)]
    return own.assign(date=runs.date[runs.source_id.eq(OWN)].max())


def _change(
    published: Path, workload: str, own: pd.DataFrame, options: pd.DataFrame, runs: pd.DataFrame
) -> history.Change | None:
    """From the workload's baseline to its cheapest option here, if there are both."""
    baselines = pd.read_csv(published / "baselines.csv").query("scope == 'all'")
    base = baselines[baselines.workload.eq(workload)]
    if own.empty or base.empty:
        return None
    base = base.iloc[0]
    run = runs[runs.run_id.eq(base.run_id)].iloc[0]
    best = own.loc[own.marginal_usd.idxmin()]
    return history.change(run, base.price_per_hour_usd, best, options)


if __name__ == "__main__":
    errors.run(main)
