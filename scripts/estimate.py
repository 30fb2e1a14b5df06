"""Print what the planned runs would take and cost, before anything is started.

In: the plan (results/plan.csv, or another file with the columns hardware, workload, framework,
variant, trial, recipe, data), records, published measurements, prices. Out: text on the screen.
With --most it exits with status 1 if the plan costs more.
"""

from pathlib import Path

import pandas as pd

from epochcost import configuration, errors, files, hardware
from epochcost.hardware import LOCAL
from epochcost.measure import machine
from epochcost.money import billing, estimates, market
from epochcost.results import published, rows, set_aside, tables
from epochcost.show import estimate


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("plan", type=Path, help="CSV with a row per planned run")
    parser.add_argument("--scale", choices=["quick", "full"], default="quick")
    parser.add_argument("--most", type=billing.amount, help="USD that the plan may cost")
    parser.add_argument(
        "--rounds-h",
        type=billing.amount,
        help="hours of runs that a precision may take: said beside it",
    )
    parser.add_argument("--records", type=files.folder, default=Path("results/runs"))
    market.add_options(parser)
    arguments = parser.parse_args()
    known = configuration.load()
    catalogue = known.catalogue
    labels = {key: entry["label"] for key, entry in catalogue.items()}
    names = {key: hardware.title(key, entry) for key, entry in catalogue.items()}
    planned = _plan(arguments.plan, known)
    own = rows.of_folder(arguments.records, {})
    set_aside.say(own.aside)
    table = estimates.estimate_table(
        planned,
        tables.runs_table([*published.runs(arguments.published, labels), *own.runs]),
        arguments.scale,
        market.of(arguments, machine.facts().id, catalogue),
        known.recipes,
        machine.usable_cores(),
    )
    print(estimate.text(table, names | {LOCAL: "this machine"}))
    if arguments.rounds_h:
        print(
            "For the precision that is asked for more rounds may follow, until "
            f"{arguments.rounds_h:g} hours of runs are spent; they are not in these numbers."
        )
    usd = estimates.total(table).usd
    if arguments.most is not None and usd > arguments.most:
        raise errors.InputError(estimate.refusal(usd, arguments.most))


def _plan(path: Path, known: configuration.Configuration) -> pd.DataFrame:
    """The planned runs, each complete and with known names."""
    columns = estimates.PLAN_COLUMNS
    try:
        planned = pd.read_csv(path, dtype={"recipe": str})[columns]
    except (KeyError, ValueError):
        raise errors.InputError(f"{path} has not the columns {', '.join(columns)}") from None
    for line, row in enumerate(planned.itertuples(), start=2):
        where = f"{path}, line {line}"
        if empty := [name for name in columns if pd.isna(getattr(row, name))]:
            raise errors.InputError(f"{where}: {', '.join(empty)} is empty")
        for value, valid in (
            (row.hardware, known.catalogue),
            (row.workload, known.recipes),
            (row.data, estimates.DATA),
        ):
            if value not in valid:
                raise errors.InputError(
                    f"{where}: unknown '{value}'; {errors.nearest(value, valid)}"
                )
    return planned


if __name__ == "__main__":
    errors.run(main)
