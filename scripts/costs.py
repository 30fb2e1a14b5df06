"""Make the tables that say what it costs, from the tables of runs and a price book.

In: runs.csv and epochs.csv of results/tables/, data/published/, data/reference/, config/prices.csv
and billing.csv.
Out, in results/tables/, a CSV per table: costs, relative, options, frontier, spot,
estimates, history.
"""

from pathlib import Path

import pandas as pd

from epochcost import errors, estimate, files, schemas, settings
from epochcost.measure import machine
from epochcost.models import workloads
from epochcost.money import hindsight, history, market, options, spot
from epochcost.money import tables as cost_tables
from epochcost.results import tables


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    settings.option(parser, "costs")
    parser.add_argument("--output", type=Path, default=Path("results/tables"))
    arguments = parser.parse_args()
    chosen, lists = arguments.settings, workloads.read()
    here, catalogue = machine.facts().id, schemas.read("hardware")
    prices = market.of(chosen, here, catalogue, arguments.published)
    runs = tables.read_runs(arguments.tables / "runs.csv")
    epochs = tables.read_epochs(arguments.tables / "epochs.csv")
    newest = tables.of_newest_code(runs)
    about, kept = (lists.complete_samples(), lists.recipes), chosen.keep_disturbed
    costs = cost_tables.costs_table(runs, prices)
    baselines = pd.read_csv(arguments.published / "baselines.csv")
    relative = cost_tables.relative_table(newest, costs, baselines, *about, prices, kept)
    knowledge = estimate.read()
    choices = options.options_table(newest, epochs, *about, prices, kept, knowledge)
    rates, wait_s = chosen.spot.interruptions_per_hour, chosen.spot.wait_s
    for name, table in (
        ("costs", costs),
        ("relative", relative),
        ("options", choices),
        ("frontier", choices[choices.efficient.astype(bool)]),
        ("spot", spot.spot_table(relative, rates, wait_s, prices.rental)),
        ("estimates", hindsight.estimates_table(newest, knowledge)),
        ("history", history.history_table(runs, choices, baselines)),
    ):
        files.write_csv(arguments.output / f"{name}.csv", table)
    print(f"{len(costs)} costs; {cost_tables.without_price(relative)} rows have no known price")


if __name__ == "__main__":
    errors.run(main)
