"""Which runs are wanted, which exist, and which are still to be made.

Records are observations: an existing run is never planned again, however the code, the data or
the configuration have changed since. A new wish (more runs, another scale, real data instead of
generated data, another machine) is a new trial.

Runs are made in rounds: the first run of everything, then the second. So the runs of each are
spread over the whole time, and what disturbs the machine for a while affects all alike.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count, islice, product
from pathlib import Path
from typing import Any

from epochcost import ROOT, frameworks
from epochcost.data.registry import RANDOM, Origin
from epochcost.errors import InputError
from epochcost.frameworks import tuning
from epochcost.frameworks.variants import DEFAULT
from epochcost.hardware import LOCAL
from epochcost.measure import variables
from epochcost.own import recipe as own_recipe
from epochcost.plan.wanted import Wanted
from epochcost.record import hosts, record
from epochcost.record.names import RunName
from epochcost.record.types import QUICK, Machine, Record
from epochcost.results import rows
from epochcost.statistics import intervals

NEVER = "(?!)"
# What runs are called on their hardware: workload/framework/variant-trial.
NAME = "[a-z0-9_]+/[a-z0-9-]+/[a-z0-9_]+-[0-9]+"


@dataclass(frozen=True)
class Wish:
    """What a record must be to count as one of the wanted runs.

    data: complete, subset or synthetic; None for an own training.
    weights: the origin of the weights to start from; None where the recipe names none.
    settings: what differs from the framework's defaults; None where that is not known yet.
    variables: environment variables that change how a framework computes; None where that is not
        known, as on another machine.
    """

    scale: str
    data: str | None
    weights: str | None
    settings: dict[str, Any] | None
    variables: dict[str, str] | None
    recipe: dict[str, Any]


@dataclass(frozen=True)
class Series:
    """The runs of one framework and variant, for one workload on one hardware.

    done: the records that count, in the order of their trials.
    taken: trials that are not free: of all that has the name of a record, also where it is none.
    """

    hardware: str
    workload: str
    framework: str
    variant: str
    done: tuple[Record, ...]
    taken: frozenset[int]

    def run(self, number: int) -> RunName:
        """The first run, the second, ...: an existing one, or one with the next free trial."""
        if number <= len(self.done):
            trial = self.done[number - 1].run.trial
        else:
            free = (trial for trial in count(1) if trial not in self.taken)
            trial = next(islice(free, number - len(self.done) - 1, None))
        return RunName(self.hardware, self.workload, self.framework, self.variant, trial)

    def seconds(self, number: int) -> float:
        """How long a run took in total; 0 if it does not exist yet."""
        if number > len(self.done):
            return 0.0
        return self.done[number - 1].wall_s

    def narrow(self, number: int, precision: float, keep_disturbed: bool) -> bool:
        """Whether the first `number` runs give the median as precisely as wanted.

        True also where none of them succeeded, or all were unusable: more of the same will not
        either. Of the machine at hand, those count that are of the same host as the last of them.
        """
        # The time of an unusable run says nothing, so others are made in its place.
        ended_well = [one for one in self.done[:number] if rows.status_of(one) == "ok"]
        if self.hardware == LOCAL:
            last = _host_of(ended_well[-1]) if ended_well else ""
            ended_well = [one for one in ended_well if _host_of(one) == last]
        quiet = [one for one in ended_well if not one.noise.flags]
        counted = ended_well if keep_disturbed else quiet or ended_well
        times = [rows.times_of(one)[0] for one in counted]
        reached = intervals.precision(times)
        return not times or (reached is not None and reached <= precision)


@dataclass(frozen=True)
class Plan:
    """The existing records (all of them), and the runs that are wanted.

    runs: the minimum number of runs wanted of each series.
    again: whether one more run of each series than there are is wanted instead.
    precision: half the width of the interval over the median at which a series has enough runs;
        None for no more than `runs`.
    budget_s: seconds of runs after which no further round is started.
    keep_disturbed: whether disturbed runs count alongside undisturbed ones.
    """

    existing: list[Path]
    series: list[Series]
    runs: int
    precision: float | None
    budget_s: float
    keep_disturbed: bool
    seed: int
    again: bool = False

    def round(self, number: int) -> list[RunName]:
        """The runs of a round, the first being 1; empty where no more are wanted.

        What is wanted beyond `runs` follows from the earlier rounds, which must have been made.
        """
        wanted, spent = self.series, 0.0
        if self.again:
            return [one.run(number) for one in wanted if number <= len(one.done) + 1]
        if self.precision is None:
            return [series.run(number) for series in wanted] if number <= self.runs else []
        for before in range(1, number):
            spent += sum(series.seconds(before) for series in wanted)
            if before >= self.runs:
                if spent >= self.budget_s or before >= intervals.MOST_RUNS:
                    return []
                wanted = [
                    one
                    for one in wanted
                    if not one.narrow(before, self.precision, self.keep_disturbed)
                ]
        return [series.run(number) for series in wanted]

    @cached_property
    def missing(self) -> list[RunName]:
        """The runs that are still to be made, as far as known, in their order.

        Within a round the order is random, determined by the seed and the name of each run.
        """
        if self.again:
            more = [one.run(len(one.done) + 1) for one in self.series]
            return sorted(more, key=self._draw)
        missing: list[RunName] = []
        for number in count(1):
            runs = self.round(number)
            made = {series.run(number) for series in self.series if number <= len(series.done)}
            new = [run for run in runs if run not in made]
            missing += sorted(new, key=self._draw)
            if not runs or (new and number >= self.runs):
                return missing

    def _draw(self, run: RunName) -> str:
        return hashlib.sha256(f"{self.seed} {run}".encode()).hexdigest()

    def priority(self, hardware: str, name: str) -> int:
        """The higher, the sooner the run called `name` is made on `hardware`."""
        run = RunName.on(hardware, name)
        # A run of a later round competes with others of its round alone.
        return self._priorities.get(run) or 1 + int(self._draw(run)[:4], 16)

    def place(self, hardware: str, name: str) -> str:
        """Which of the missing runs it is, such as `2 of 9`; `later` for one of a later round."""
        priority = self._priorities.get(RunName.on(hardware, name))
        count = len(self._priorities)
        return f"{count + 1 - priority} of {count}" if priority else "later"

    @cached_property
    def _priorities(self) -> dict[RunName, int]:
        return {run: place for place, run in enumerate(reversed(self.missing), 1)}

    def files(self, runs: list[RunName], records: Path, markers: Path) -> list[str]:
        """Files for these runs: records that came from elsewhere, and the markers of others."""
        found = [
            _file(path, markers)
            for run in runs
            for path in self._records.get(run) or [run.path(records)]
        ]
        return sorted({str(path) for path in found})

    def inputs(self, records: Path, markers: Path, missing: bool = True) -> list[str]:
        """What the analysis waits for: a file for each record that exists, or will.

        A run made here is represented by its marker (the output of its rule), a record that came
        from elsewhere by itself. The list is the same before and after the runs are made.

        Args:
            missing: whether it waits for the runs that are still to be made, too.
        """
        return self.files([*self._records, *(self.missing if missing else [])], records, markers)

    @cached_property
    def _records(self) -> dict[RunName, list[Path]]:
        """The existing records, by their runs: those of several machines may share a name."""
        found: dict[RunName, list[Path]] = defaultdict(list)
        for path in self.existing:
            found[RunName.at(path)].append(path)
        return dict(found)

    def pattern(self, hardware: str) -> str:
        """A regular expression for the names of runs on `hardware`, such as those of `RunName.on`.

        It matches no existing run, so Snakemake has no reason to make one again.
        """
        if not any(run.hardware == hardware for run in self.possible):
            return NEVER
        there: dict[str, list[str]] = defaultdict(list)
        for run in self._records:
            if run.hardware == hardware:
                series = f"{run.workload}/{run.framework}/{run.variant}"
                there[series].append(str(run.trial))
        alternatives = "|".join(
            f"{re.escape(series)}-(?:{'|'.join(trials)})" for series, trials in there.items()
        )
        return (rf"(?!(?:{alternatives})$)" if there else "") + NAME

    @cached_property
    def possible(self) -> list[RunName]:
        """The missing runs, and those that a precision may require after them."""
        if self.precision is None:
            return self.missing
        return [
            series.run(number)
            for series in self.series
            for number in range(len(series.done) + 1, intervals.MOST_RUNS + 1)
        ]


def _host_of(one: Record) -> str:
    return hosts.host_of(one.machine, one.software.environment)


def _file(path: Path, markers: Path) -> Path:
    """The marker of a run made here, else its record; that, too, where it has come in its place."""
    marker = _marker(RunName.at(path), markers)
    if not path.exists():
        return marker
    made = marker.exists() and marker.stat().st_mtime >= path.stat().st_mtime
    return marker if made else path


def _marker(run: RunName, markers: Path) -> Path:
    return markers / str(run)


def plan(
    wanted: Wanted,
    machine: Machine,
    records: Path,
    origins: dict[str, Origin],
    tuned: Path,
    markers: Path | None = None,
) -> Plan:
    """Compare what is wanted with the existing records.

    Args:
        machine: this machine; records of hardware `local` count only if they are its own, with as
            many usable cores.
        records: results/runs.
        origins: where each data set comes from; only runs on the same kind of data count.
        tuned: config/tuned.yaml; only runs with the settings in it count.
        markers: results/made; the trial of a marker is taken, also where its record is gone.
    """
    existing = record.find(records)
    by_folder: dict[Path, list[Path]] = defaultdict(list)
    for path in existing:
        by_folder[path.parent].append(path)

    # Each folder is read once, however many variants are wanted of it.
    @cache
    def contents(*names: str) -> list[Record]:
        paths = by_folder[records.joinpath(*names)]
        return [one for path in paths if (one := _believed(path)) is not None]

    @cache
    def taken_in(*names: str) -> set[RunName]:
        hardware, workload, framework = names
        made = markers.joinpath(*names).glob("*-*") if markers else ()
        parts = (path.name.rpartition("-") for path in made)
        marked = {
            RunName(hardware, workload, framework, variant, int(trial))
            for variant, _, trial in parts
        }
        return record.taken(records.joinpath(*names)) | marked

    found = []
    for names in _combinations(wanted):
        *folder, variant = names
        wish = _wish(wanted, origins, tuned, tuning.place_of(machine), *names)
        there = [one for one in contents(*folder) if one.run.variant == variant]
        there.sort(key=lambda one: one.run.trial)
        counted = tuple(one for one in there if _counts(one, wish, machine))
        taken = frozenset(run.trial for run in taken_in(*folder) if run.variant == variant)
        found.append(Series(*names, counted, taken))
    precision = wanted.precision
    return Plan(
        existing,
        found,
        max(wanted.runs, intervals.FEWEST_RUNS if precision else 1),
        precision,
        wanted.budget_hours * 3600,
        wanted.keep_disturbed,
        wanted.seed,
        wanted.again,
    )


def _believed(path: Path) -> Record | None:
    """A record; None for one that the analysis sets aside: it does not count, and stays."""
    try:
        return record.read(path)
    except (InputError, OSError):
        return None


def _combinations(wanted: Wanted) -> Iterator[tuple[str, str, str, str]]:
    """Hardware, workload, framework and variant of all that is configured and possible."""
    for hardware, workload in product(wanted.hardware, wanted.workloads):
        for framework in wanted.frameworks_of(workload):
            for variant in wanted.variants:
                if wanted.is_own(workload):
                    if variant == DEFAULT:
                        yield hardware, workload, framework, variant
                elif frameworks.with_variant(variant, [framework]):
                    yield hardware, workload, framework, variant


def case(
    wanted: Wanted,
    origins: dict[str, Origin],
    place: str,
    workload: str,
    framework: str,
) -> tuning.Case:
    """What a search for a framework's settings would be made for.

    Args:
        place: a machine and its cores (`tuning.place_of`).
    """
    recipe = wanted.recipes[workload]
    what = record.recipe_id(recipe), origins[recipe["dataset"]].kind
    return tuning.Case(place, workload, framework, *what)


def _wish(
    wanted: Wanted,
    origins: dict[str, Origin],
    tuned: Path,
    place: str,
    hardware: str,
    workload: str,
    framework: str,
    variant: str,
) -> Wish:
    """What a run of these names must be to count."""
    here = variables.effective() if hardware == LOCAL else None
    if wanted.is_own(workload):
        return Wish(wanted.scale, None, None, None, here, own_recipe_of(wanted, workload))
    recipe = wanted.recipes_to_train[workload]
    searched = case(wanted, origins, place, workload, framework)
    return Wish(
        wanted.scale,
        origins[recipe["dataset"]].kind,
        origins[recipe["weights"]].kind if "weights" in recipe else None,
        tuning.settings_of(variant, tuned, searched),
        here,
        recipe,
    )


def own_recipe_of(wanted: Wanted, workload: str) -> dict[str, Any]:
    """What an own training of the configuration is now, as its record would have it."""
    entry = wanted.own[workload]
    return own_recipe.of(entry["command"], ROOT / entry.get("folder", ""))


def _counts(content: Record, wish: Wish, machine: Machine) -> bool:
    """Whether a record is one of the runs that are wanted now."""
    run, there = content.run, content.machine
    here = (there.id, there.usable_cores) == (machine.id, machine.usable_cores)
    if run.hardware == LOCAL and not here:
        return False
    if record.recipe_id(content.settings) != record.recipe_id(wish.recipe):
        return False
    software = content.software
    if content.own is None and software.settings != wish.settings:
        return False
    if wish.variables not in (None, software.variables):
        return False
    from_random = content.weights is not None and content.weights.source == RANDOM
    if from_random != (wish.weights == RANDOM):
        return False
    if content.own is not None:
        return wish.scale in (run.scale, QUICK)  # a script that ended by itself was measured
    return run.scale == wish.scale and content.data.kind == wish.data
