"""Print the results of this machine as a table to paste: text, markdown, latex or csv.

In: relative.csv and runs.csv of results/tables, data/published/baselines.csv. Out: text on the
screen.
"""

from pathlib import Path

import pandas as pd

from epochcost import errors, settings
from epochcost.measure import machine
from epochcost.results import tables
from epochcost.show import answer, table
from epochcost.show.figures import selection


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    parser.add_argument("--machine", help="the id of another machine than this one")
    settings.option(parser, "table")
    arguments = parser.parse_args()
    relative = selection.side_by_side(tables.read(arguments.tables / "relative.csv"))
    baselines = pd.read_csv(arguments.published / "baselines.csv")
    own = answer.own_rows(relative, baselines)
    here = arguments.machine or machine.facts().id
    found = table.rows_of(own[tables.made_here(own)], here)
    runs = tables.read(arguments.tables / "runs.csv")
    runs = runs[runs.machine_id.eq(here)]
    if found.empty and (lost := answer.unusable(runs, here) + answer.failures(runs)):
        print("No run on this machine has a time that counts:", *lost, sep="\n")
        return
    print(table.written(found, arguments.settings.format), end="")


if __name__ == "__main__":
    errors.run(main)
