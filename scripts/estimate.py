"""Print what the planned runs would take and cost, before anything is started.

In: the plan (results/plan.csv, or another file with the columns hardware, workload, framework,
variant, trial, recipe, data), records, published measurements, reference speeds, prices. Out: text
on the screen.
With --most it exits with status 1 if the plan costs more.
"""

from argparse import Namespace
from functools import cache
from pathlib import Path

import pandas as pd

from epochcost import errors, files, hardware, schemas, settings
from epochcost.estimate import Estimate, knowledge
from epochcost.hardware import LOCAL
from epochcost.measure import machine
from epochcost.models import workloads
from epochcost.money import billing, elsewhere, estimates, market
from epochcost.results import published, rows, set_aside, tables
from epochcost.show import estimate


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("plan", type=Path, help="CSV with a row per planned run")
    parser.add_argument("--most", type=billing.amount, help="USD that the plan may cost")
    parser.add_argument("--records", type=files.folder, default=Path("results/runs"))
    parser.add_argument("--measured", type=Path, default=Path("data/measured"))
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    settings.option(parser, "estimate")
    arguments = parser.parse_args()
    chosen, catalogue, lists = arguments.settings, schemas.read("hardware"), workloads.read()
    recipes = lists.recipes
    labels = {key: entry["label"] for key, entry in catalogue.items()}
    names = {key: hardware.title(key, entry) for key, entry in catalogue.items()}
    planned = _plan(arguments.plan, catalogue, recipes | lists.own)
    own = rows.of_folder(arguments.records, {})
    set_aside.say(own.aside)
    known = tables.runs_table([*published.runs(arguments.published, labels), *own.runs])
    table = estimates.estimate_table(
        planned,
        tables.of_known_length(known),
        chosen.scale,
        market.of(chosen, machine.facts().id, catalogue, arguments.published),
        recipes,
        machine.usable_cores(),
        _foreseen(arguments, catalogue),
    )
    print(estimate.text(table, names | {LOCAL: "this machine"}))
    if chosen.precision:
        print(
            "For the precision that is asked for more rounds may follow, until "
            f"{chosen.budget_hours:g} hours of runs are spent; they are not in these numbers."
        )
    whole = estimates.total(table)
    if arguments.most is not None and whole.usd_high > arguments.most:
        raise errors.InputError(estimate.refusal(whole, arguments.most))


def _foreseen(arguments: Namespace, catalogue: dict) -> estimates.Foreseen:
    """Estimates from what was measured on other GPUs, which is read only where it is asked for."""

    @cache
    def known() -> tuple[knowledge.Knowledge, pd.DataFrame]:
        found = rows.of_folder(arguments.records, {}, measured=arguments.measured)
        newest = tables.of_newest_code(tables.runs_table(found.runs))
        runs = tables.of_known_length(newest)
        return knowledge.read(), runs[elsewhere.counts(runs)]

    def foreseen(hardware: str, *training: str) -> Estimate | None:
        if not catalogue.get(hardware, {}).get("gpu"):
            return None
        everything, runs = known()
        names = ("workload", "framework", "variant", "recipe")
        for name, value in zip(names, training, strict=True):
            runs = runs[runs[name].eq(value)]
        return elsewhere.on(runs, catalogue.get(hardware, {}), everything)

    return foreseen


def _plan(path: Path, catalogue: dict, recipes: dict) -> pd.DataFrame:
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
            (row.hardware, catalogue),
            (row.workload, recipes),
            (row.data, estimates.DATA),
        ):
            if value not in valid:
                raise errors.InputError(
                    f"{where}: unknown '{value}'; {errors.nearest(value, valid)}"
                )
    return planned


if __name__ == "__main__":
    errors.run(main)
