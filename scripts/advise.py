"""Say where to train: the cheapest by a deadline, the fastest within a budget, from all options.

In: options.csv, relative.csv and runs.csv of results/tables. Out: text on the screen; and all
options that were asked for, as advice.csv and advice.json beside these tables.
"""

from pathlib import Path

import pandas as pd

from epochcost import durations, errors, estimate, files, schemas, settings
from epochcost.measure import machine
from epochcost.models import workloads
from epochcost.money import tables as cost_tables
from epochcost.money import wishes
from epochcost.results import tables
from epochcost.show import advice, answer


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    settings.option(parser, "advise")
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    arguments = parser.parse_args()
    asked, folder = arguments.settings, arguments.tables
    limits = (durations.seconds_of(asked.deadline) if asked.deadline else None, asked.budget)
    options = tables.read(folder / "options.csv")
    relative, runs = tables.read(folder / "relative.csv"), tables.read_runs(folder / "runs.csv")
    counts = options.workload.value_counts()
    options = wishes.meeting(options, asked, schemas.read("hardware"), estimate.read())
    lists = workloads.read()
    listed = {*lists.recipes, *lists.own}
    if asked.workload:
        errors.check_name("workload", asked.workload, listed | {*runs.workload})
    lengths = {"epochs": asked.epochs, "steps": asked.steps}
    length = "".join(
        f"{number:,} {unit if number > 1 else unit[:-1]}"
        for unit, number in lengths.items()
        if number
    )
    here, chosen, said = machine.facts().id, [], []
    for workload in [asked.workload] if asked.workload else asked.workloads:
        found = options[options.workload.eq(workload)].reset_index(drop=True)
        unpriced = cost_tables.without_price_of(relative[relative.workload.eq(workload)])
        found, unpriced = wishes.as_long(found, unpriced, asked)
        again = answer.unusable(runs[runs.workload.eq(workload)], here)
        if found.empty and workload in counts:
            said.append(advice.nothing_left(workload, counts[workload]))
        else:
            about = (unpriced, again, length, workload in listed)
            said.append(advice.text(workload, found, *limits, *about))
        chosen.append(found.assign(recommended=advice.recommended(found, *limits)))
    print("\n".join(said), end="")
    table = pd.concat(chosen, ignore_index=True)
    files.write_csv(folder / "advice.csv", table)
    files.write_text(folder / "advice.json", table.to_json(orient="records", indent=1) + "\n")


if __name__ == "__main__":
    errors.run(main)
