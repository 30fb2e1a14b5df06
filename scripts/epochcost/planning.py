"""Which runs are wanted, which are there, and which are still to be made.

Records are observations: a run that is there is never planned again, whatever became of the
code, the data or the configuration since. A new wish (more runs, another scale, real data
instead of generated ones, another machine) is a new trial.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epochcost import tuning
from epochcost.configuration import Configuration
from epochcost.datasets.registry import RANDOM, Origin
from epochcost.hardware import LOCAL
from epochcost.records import record

NEVER = "(?!)"


@dataclass(frozen=True)
class Run:
    """A run to be made."""

    hardware: str
    workload: str
    framework: str
    variant: str
    trial: int


@dataclass(frozen=True)
class Wish:
    """What a record must be to count as one of the runs that are wanted.

    data: complete, subset or synthetic.
    weights: where the weights to start from come from; None where the recipe names none.
    settings: what differs from the framework's own; None where that is not known yet.
    """

    scale: str
    data: str
    weights: str | None
    settings: dict[str, Any] | None
    recipe: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """The records that are there (all of them), and the runs that are missing."""

    existing: list[Path]
    missing: list[Run]

    def inputs(self, records: Path, markers: Path) -> list[str]:
        """What the analysis waits for: a file for each record that there is, or will be.

        A run made here is stood for by its marker (the output of its rule), a record that came
        from elsewhere by itself. The list is the same before and after the runs are made.
        """
        planned = self._markers_of_missing(records, markers)
        there = []
        for path in self.existing:
            marker = _marker(path, records, markers)
            there.append(marker if marker.exists() else path)
        return sorted(str(path) for path in [*there, *planned])

    def drop_stale_markers(self, records: Path, markers: Path) -> None:
        """Remove the markers of runs whose records are gone, so that they are made again."""
        for marker in self._markers_of_missing(records, markers):
            marker.unlink(missing_ok=True)

    def _markers_of_missing(self, records: Path, markers: Path) -> list[Path]:
        paths = (
            record.path_of(records, r.hardware, r.workload, r.framework, r.variant, r.trial)
            for r in self.missing
        )
        return [_marker(path, records, markers) for path in paths]

    def workload_pattern(self, hardware: str) -> str:
        """A regular expression for the wildcard `workload` of a hardware's training rule.

        It looks ahead over the rest of `workload/framework/variant-trial` and matches the
        missing runs alone, so Snakemake has no reason to make again what is there.
        """
        branches: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for run in self.missing:
            if run.hardware == hardware:
                branches[run.workload, run.framework, run.variant].append(str(run.trial))
        if not branches:
            return NEVER
        alternatives = "|".join(
            f"{re.escape('/'.join(key))}-(?:{'|'.join(trials)})" for key, trials in branches.items()
        )
        return rf"(?=(?:{alternatives})$)[a-z0-9_]+"


def _marker(path: Path, records: Path, markers: Path) -> Path:
    return (markers / path.relative_to(records)).with_suffix("")


def plan(
    configuration: Configuration,
    machine: dict[str, Any],
    records: Path,
    origins: dict[str, Origin],
    tuned: Path,
) -> Plan:
    """Compare what is wanted with the records that are there.

    Args:
        machine: this machine; records of hardware `local` count only where they are its own, with
            as many usable cores.
        records: results/runs.
        origins: where each data set comes from; only runs on the same kind of data count.
        tuned: config/tuned.yaml; only runs with the settings that are there count.
    """
    place = tuning.place_of(machine)
    existing = record.find(records)
    by_folder: dict[Path, list[Path]] = defaultdict(list)
    for path in existing:
        by_folder[path.parent].append(path)
    missing = []
    for hardware in configuration["hardware"]:
        for workload in configuration["workloads"]:
            recipe = configuration.workloads[workload]
            kind = origins[recipe["dataset"]].kind
            weights = origins[recipe["weights"]].kind if "weights" in recipe else None
            for framework in configuration.frameworks_of(workload):
                folder = records / hardware / workload / framework
                contents = [(path, record.read(path)) for path in by_folder[folder]]
                for variant in configuration["variants"]:
                    if framework not in tuning.frameworks_of(variant, [framework]):
                        continue
                    settings = tuning.settings_of(variant, tuned, place, workload, framework)
                    taken = {
                        record.trial_of(path): content
                        for path, content in contents
                        if content["run"]["variant"] == variant
                    }
                    wish = Wish(configuration["scale"], kind, weights, settings, recipe)
                    done = sum(_counts(content, wish, machine) for content in taken.values())
                    for trial in _free_trials(taken, configuration["runs"] - done):
                        missing.append(Run(hardware, workload, framework, variant, trial))
    return Plan(existing, missing)


def _counts(content: dict[str, Any], wish: Wish, machine: dict[str, Any]) -> bool:
    """Whether a record is one of the runs that are wanted now."""
    run, data, there = content["run"], content["data"], content["machine"]
    if run["hardware"] == LOCAL and any(
        there[key] != machine[key] for key in ("id", "usable_cores")
    ):
        return False
    if record.recipe_id(content["settings"]) != record.recipe_id(wish.recipe):
        return False
    if content["software"]["settings"] != wish.settings:
        return False
    from_random = content["weights"] is not None and content["weights"]["source"] == RANDOM
    if from_random != (wish.weights == RANDOM):
        return False
    kind_there = "complete" if data["complete"] else "subset"
    if data["source"] == "synthetic":
        kind_there = "synthetic"
    return run["scale"] == wish.scale and kind_there == wish.data


def _free_trials(taken: dict[int, Any], count: int) -> list[int]:
    """The lowest `count` trial numbers that are not taken."""
    free: list[int] = []
    number = 1
    while len(free) < count:
        if number not in taken:
            free.append(number)
        number += 1
    return free
