"""Say where to train: cheapest by a deadline, fastest within a budget, and what is Pareto-optimal.

In: options.csv, relative.csv and runs.csv of results/tables. Out: text on the screen.
"""

from pathlib import Path

from epochcost import configuration, durations, errors
from epochcost.measure import machine
from epochcost.money import billing
from epochcost.money import tables as cost_tables
from epochcost.results import tables
from epochcost.show import advice, answer


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--workload", nargs="*", help="default: all that there are options for")
    parser.add_argument("--deadline", help="such as 1h, 30min, 90s, 2d")
    parser.add_argument("--budget", type=billing.amount, help="USD")
    parser.add_argument("--rental", type=billing.rental_of, default=billing.Rental())
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    arguments = parser.parse_args()
    deadline = durations.seconds_of(arguments.deadline) if arguments.deadline else None
    options = tables.read(arguments.tables / "options.csv")
    relative = tables.read(arguments.tables / "relative.csv")
    runs = tables.read_runs(arguments.tables / "runs.csv")
    here, known = machine.facts().id, configuration.load().recipes
    for workload in arguments.workload or sorted(options.workload.unique()):
        if workload not in known:
            raise errors.InputError(
                f"unknown workload '{workload}'; {errors.nearest(workload, known)}"
            )
        found = options[options.workload.eq(workload)].reset_index(drop=True)
        unpriced = cost_tables.without_price_of(relative[relative.workload.eq(workload)])
        again = answer.unusable(runs[runs.workload.eq(workload)], here)
        limits = (deadline, arguments.budget, arguments.rental)
        print(advice.text(workload, found, *limits, unpriced, again))


if __name__ == "__main__":
    errors.run(main)
