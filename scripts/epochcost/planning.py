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

from epochcost.configuration import Configuration
from epochcost.datasets.registry import Origin
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
class Plan:
    """The records that are there (all of them), and the runs that are missing."""

    existing: list[Path]
    missing: list[Run]

    def paths(self, root: Path) -> list[Path]:
        """The records that there will be when all missing runs are made, sorted."""
        wanted = (
            record.path_of(root, r.hardware, r.workload, r.framework, r.variant, r.trial)
            for r in self.missing
        )
        return sorted([*self.existing, *wanted])

    def workload_pattern(self, hardware: str) -> str:
        """A regular expression for the wildcard `workload` of a hardware's training rule.

        It looks ahead over the rest of `workload/framework/variant-trial.json` and matches the
        missing runs alone: no record that is there can be an output of a rule, so Snakemake has
        no reason to make it again and nothing to delete.
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
        return rf"(?=(?:{alternatives})\.json$)[a-z0-9_]+"


def plan(
    configuration: Configuration, machine_id: str, records: Path, origins: dict[str, Origin]
) -> Plan:
    """Compare what is wanted with the records that are there.

    Args:
        machine_id: this machine; records of hardware `local` count only where they are its own.
        records: results/runs.
        origins: where each data set comes from; only runs on the same kind of data count.
    """
    existing = record.find(records)
    by_folder: dict[Path, list[Path]] = defaultdict(list)
    for path in existing:
        by_folder[path.parent].append(path)
    missing = []
    for hardware in configuration["hardware"]:
        for workload in configuration["workloads"]:
            kind = origins[configuration.workloads[workload]["dataset"]].kind
            for framework in configuration.frameworks_of(workload):
                folder = records / hardware / workload / framework
                contents = [(path, record.read(path)) for path in by_folder[folder]]
                for variant in configuration["variants"]:
                    taken = {
                        record.trial_of(path): content
                        for path, content in contents
                        if content["run"]["variant"] == variant
                    }
                    done = sum(
                        _counts(content, configuration["scale"], kind, machine_id)
                        for content in taken.values()
                    )
                    for trial in _free_trials(taken, configuration["runs"] - done):
                        missing.append(Run(hardware, workload, framework, variant, trial))
    return Plan(existing, missing)


def _counts(content: dict[str, Any], scale: str, kind: str, machine_id: str) -> bool:
    """Whether a record is one of the runs that are wanted now."""
    run, data = content["run"], content["data"]
    if run["hardware"] == LOCAL and content["machine"]["id"] != machine_id:
        return False
    kind_there = "complete" if data["complete"] else "subset"
    if data["source"] == "synthetic":
        kind_there = "synthetic"
    return run["scale"] == scale and kind_there == kind


def _free_trials(taken: dict[int, Any], count: int) -> list[int]:
    """The lowest `count` trial numbers that are not taken."""
    free: list[int] = []
    number = 1
    while len(free) < count:
        if number not in taken:
            free.append(number)
        number += 1
    return free
