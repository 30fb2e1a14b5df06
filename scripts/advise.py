"""Say where to train: cheapest by a deadline, fastest within a budget, and what is Pareto-optimal.

In: options.csv, relative.csv and runs.csv of results/tables. Out: text on the screen.
"""

from pathlib import Path

from epochcost import durations, errors, settings
from epochcost.measure import machine
from epochcost.models import workloads
from epochcost.money import tables as cost_tables
from epochcost.money.billing import Rental
from epochcost.results import tables
from epochcost.show import advice, answer


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    settings.option(parser, "advise")
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    arguments = parser.parse_args()
    asked = arguments.settings
    deadline = durations.seconds_of(asked.deadline) if asked.deadline else None
    limits = (deadline, asked.budget, Rental(**dict(asked.billing)))
    options = tables.read(arguments.tables / "options.csv")
    relative = tables.read(arguments.tables / "relative.csv")
    runs = tables.read_runs(arguments.tables / "runs.csv")
    here = machine.facts().id
    known = {*workloads.read().recipes, *runs.workload}
    if asked.workload:
        errors.check_name("workload", asked.workload, known)
    for workload in [asked.workload] if asked.workload else asked.workloads:
        found = options[options.workload.eq(workload)].reset_index(drop=True)
        unpriced = cost_tables.without_price_of(relative[relative.workload.eq(workload)])
        again = answer.unusable(runs[runs.workload.eq(workload)], here)
        print(advice.text(workload, found, *limits, unpriced, again))


if __name__ == "__main__":
    errors.run(main)
