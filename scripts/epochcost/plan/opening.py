"""What a call of the workflow reads before its rules: configuration, machine, origins, plan."""

import csv
import hashlib
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epochcost import lock
from epochcost.data import registry
from epochcost.data.registry import Origin
from epochcost.errors import SIGNATURE, InputError
from epochcost.hardware import LOCAL
from epochcost.measure import machine
from epochcost.money import prices
from epochcost.plan import runs, wanted
from epochcost.plan.needs import TUNED, Needs
from epochcost.plan.runs import Plan
from epochcost.plan.wanted import Wanted
from epochcost.record import merge, shipped
from epochcost.record.names import RunName, has_mark
from epochcost.record.record import find, recipe_id
from epochcost.record.shipped import MEASURED
from epochcost.record.types import Machine
from epochcost.results.rows import OWN

RECORDS, MARKERS, RAW = Path("results/runs"), Path("results/made"), Path("data/raw")
PRICES = [Path("data/published/prices.csv"), Path("config/prices.csv")]
TABLES = Path("results/tables")
_LOCKS = Path(".snakemake")
_NO_SIGNS = str.maketrans("", "", "-:")


@dataclass(frozen=True)
class Call:
    """How the workflow was called.

    is_main: whether this process was called by a person, and is no job of another one.
    runs_jobs: whether jobs will run: only then is anything changed, locked or asked.
    is_sent: whether it is a job on a machine that has only what it was sent.
    """

    is_main: bool
    runs_jobs: bool
    is_sent: bool
    uses_conda: bool
    shares_folder: bool


@dataclass(frozen=True)
class Opened:
    """What a call has read.

    plan: None on a machine that has only what it was sent.
    """

    known: Wanted
    needs: Needs
    plan: Plan | None

    def hardware_to_train(self) -> list[str]:
        """The hardware of the runs to be made."""
        return sorted({run.hardware for run in self.plan.missing})

    def files_of_round(self, number: int) -> list[str]:
        """The files for the runs of a round, which follow from the rounds before."""
        plan = _plan(self.known, self.needs)
        return plan.files(plan.round(number), RECORDS, MARKERS)

    def files(self, missing: bool = True) -> list[str]:
        """A file for each run that there is, and for those that will be made."""
        return self.plan.inputs(RECORDS, MARKERS, missing=missing)

    def place_in_bucket(self, hardware: str, run: str) -> str:
        """Where a training on a rented machine leaves its record.

        Its name says what asked for it, as a short hash, so that no other clone, recipe, scale or
        option finds it under its own name.
        """
        workload = RunName.on(hardware, run).workload
        if self.known.is_own(workload):
            raise InputError(f"{workload} is not sent to rented machines; measure it on one by ssh")
        recipe = self.known.recipes_to_train[workload]
        dataset, settings = recipe["dataset"], json.dumps(self.needs.settings(hardware))
        asked = [self.needs.machine.id, str(Path.cwd()), settings, recipe_id(recipe)]
        plan = hashlib.sha256("\n".join(asked).encode()).hexdigest()[:8]
        return f"runs/{plan}/{dataset}-{self.needs.origins[dataset].kind}/{hardware}/{run}.json"

    def table(self) -> str:
        """The runs that are still to be made, as CSV."""
        trained = {
            name: f"{recipe_id(recipe)},{self.needs.origins[recipe['dataset']].kind}"
            for name, recipe in self.known.recipes_to_train.items()
            if recipe["dataset"] in self.needs.origins
        }
        trained |= {
            name: f"{recipe_id(runs.own_recipe_of(self.known, name))},complete"
            for name in self.known.own
        }
        lines = [
            ",".join([*map(str, vars(run).values()), trained[run.workload]])
            for run in self.plan.missing
        ]
        return "\n".join(["hardware,workload,framework,variant,trial,recipe,data", *lines, ""])

    def without_price(self) -> str:
        """That a report has no cost of this machine, where it was measured and has no price."""
        is_priced = self.known.owned or self.known.price.per_hour_usd is not None
        if is_priced or not any(RunName.at(path).hardware == LOCAL for path in self.plan.existing):
            return ""
        return (
            "this call has no price of this machine, so the report has none of its costs; give it "
            "each time (--config price=0.10), or once in config/config.yaml"
        )

    def read(self, given: Sequence[str]) -> str:
        """What a call that measures nothing reads, where that is not all it could be; else ''.

        Args:
            given: the settings of the call that say what is trained, as words.
        """
        there, missing = self.plan.existing, self.plan.missing
        if not there:
            return f"no run was made yet: {RECORDS} holds no records"
        trained = {RunName.at(path).workload for path in there}
        # Who trained something else was not asking for what config.yaml has.
        if not missing or (not given and trained.isdisjoint(self.known.workloads)):
            return ""
        command = shlex.join(["snakemake", *(["--config", *given] if given else [])])
        of = ", ".join(dict.fromkeys(run.workload for run in missing))
        return (
            f"runs that are there: {len(there)}; configured and missing: {len(missing)} of {of} "
            f"(`{command}` makes them)"
        )


def begin(config: Mapping[str, Any], root: Path, call: Call) -> Opened:
    """Read everything, and check it.

    Raises:
        InputError, OSError: the call cannot be.
    """
    if call.is_main and call.runs_jobs:
        lock.enter(_LOCKS)
    known = wanted.read(config, root)
    if known.mirror:
        # For fetch.py. Not a parameter of its rule: without it, what was fetched stays fetched.
        os.environ[registry.MIRROR] = str(known.mirror)
    origins = {} if call.is_sent else _origins(known, call.runs_jobs)
    needs = Needs(known, origins, machine.facts(), call.uses_conda, call.shares_folder)
    if call.is_main:
        _bring_back(needs.machine, call.runs_jobs)
        if call.runs_jobs:
            _forget_tables_of_others()
    if not call.shares_folder:
        wanted.check_cloud(known)
    prices.load(*PRICES, rates=known.exchange_rates)
    if known.left_out and call.is_main:
        print(f"{SIGNATURE}: left out: {'; '.join(known.left_out)}", file=sys.stderr)
    return Opened(known, needs, None if call.is_sent else _plan(known, needs))


def _plan(known: Wanted, needs: Needs) -> Plan:
    return runs.plan(known, needs.machine, RECORDS, needs.origins, TUNED, MARKERS)


def _origins(known: Wanted, asks: bool) -> dict[str, Origin]:
    """Where data and weights come from."""
    choose = (known.datasets, known.data.source, known.mirror, RAW)
    reachable = registry.can_fetch if asks else None
    of_data = {
        name: registry.choose_origin(name, *choose, reachable) for name in known.datasets_needed()
    }
    return of_data | {
        name: registry.choose_weights(name, *choose, reachable) for name in known.weights_needed()
    }


def _bring_back(machine: Machine, changes: bool) -> None:
    """What this machine measured in another clone, or before its results were deleted, counts."""
    if changes:
        for path in merge.bring_back(RECORDS, MEASURED, machine):
            print(f"{SIGNATURE}: {path} is back from {MEASURED}", file=sys.stderr)
    elif gone := merge.gone(RECORDS, MEASURED, machine):
        print(
            f"{SIGNATURE}: {len(gone)} records of this machine are in {MEASURED} alone; a call "
            "that runs jobs takes them to results/runs, and does not make them again",
            file=sys.stderr,
        )


def _forget_tables_of_others() -> None:
    """Let tables be made again that are of other records, such as those that `dvc pull` brings.

    They are younger than the records, so Snakemake takes them for new. So they may be younger than
    a file of data/measured that kept the date of another machine.
    """
    table = TABLES / "runs.csv"
    if not table.exists():
        return
    known = {
        f"{row['machine_id']}-{row['started_at'][:19].translate(_NO_SIGNS)}"
        for row in _rows(table)
        if row.get("source_id") == OWN
    }
    aside = {row["path"] for row in _rows(TABLES / "set_aside.csv")}
    marks = {
        path.stem.partition("@")[2]
        for path in find(RECORDS)
        if has_mark(path) and str(path) not in aside
    }
    if marks | set(shipped.marks(MEASURED, aside)) != known:
        print(f"{SIGNATURE}: {TABLES} are of other records, and made again", file=sys.stderr)
        table.unlink()


def _rows(table: Path) -> list[dict[str, str]]:
    if not table.exists():
        return []
    with open(table, newline="") as file:
        return list(csv.DictReader(file))


def compared_workloads(baselines: Path) -> list[str]:
    """The workloads that all rows are compared in, by data/published/baselines.csv."""
    with open(baselines, newline="") as file:
        return [row["workload"] for row in csv.DictReader(file) if row["scope"] == "all"]


def set_aside(table: Path) -> list[str]:
    """A line for each file that the analysis left out, by set_aside.csv."""
    with open(table, newline="") as file:
        return [f"set aside: {row['path']} {row['reason']}" for row in csv.DictReader(file)]
