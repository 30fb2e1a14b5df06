"""What trainings need, and where it is: data, weights, interpreters, searches, settings."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epochcost.data import registry
from epochcost.data.registry import Origin
from epochcost.frameworks import FRAMEWORKS, tuning, variants
from epochcost.hardware import LOCAL
from epochcost.plan import runs
from epochcost.plan.runs import Plan
from epochcost.plan.wanted import Wanted
from epochcost.record.names import RunName
from epochcost.record.types import OWN_TRAINING, Machine

# The environment of the workflow itself.
WORKFLOW = "workflow"
TUNED, SEARCHES = Path("config/tuned.yaml"), Path("results/tuning")


@dataclass(frozen=True)
class Needs:
    """What the trainings of a call need.

    origins: where each data set, and each file of weights, comes from.
    machine: this machine.
    uses_conda: whether Snakemake makes the environments by conda.
    shares_folder: whether the machines that train share this folder.
    """

    known: Wanted
    origins: dict[str, Origin]
    machine: Machine
    uses_conda: bool
    shares_folder: bool

    def arrays(self, workload: str) -> str:
        """The manifest of the arrays that a workload of the list trains on."""
        dataset = self.known.recipes_to_train[workload]["dataset"]
        return f"data/arrays/{dataset}/{self.origins[dataset].kind}/manifest.json"

    def weights(self, workload: str) -> list[str]:
        """The description of the weights to start from; none if they are random."""
        name = self.known.recipes_to_train[workload].get("weights")
        if name is None or self.origins[name].source == registry.RANDOM:
            return []
        return [f"data/raw/{name}/complete.json"]

    def source(self, dataset: str) -> str:
        """Where a data set's files come from: mirror or canonical, even if no workload needs it."""
        if dataset in self.origins:
            return self.origins[dataset].source
        return "mirror" if self.known.mirror else "canonical"

    def checksums(self, dataset: str, kind: str) -> list[str]:
        """The checksums of the files of a data set, by config/datasets.yaml."""
        archives = registry.archives(dataset, self.known.datasets)
        return [file.sha256 for one in archives if one.kind == kind for file in one.files]

    def has_gpu(self, hardware: str) -> bool:
        """Whether trainings on this hardware use a GPU."""
        if hardware == LOCAL:
            return bool(self.machine.gpus)
        return "gpu" in self.known.catalogue[hardware]

    def environment(self, framework: str, hardware: str) -> str:
        """The environment that a framework trains in: its family, for CPU or for GPU."""
        family = FRAMEWORKS[framework].environment
        if not family:
            return WORKFLOW
        return f"{family}-gpu" if self.has_gpu(hardware) else f"{family}-cpu"

    def own_python(self, framework: str, hardware: str) -> str | None:
        """The interpreter that the configuration names for a framework, if it names one."""
        if framework == OWN_TRAINING:  # its command says which
            return None
        python = self.known.python.get(FRAMEWORKS[framework].environment)
        return python and python.replace("DEVICE", "gpu" if self.has_gpu(hardware) else "cpu")

    def python(self, framework: str, hardware: str) -> str:
        """The interpreter that trains; that of the workflow is called just `python`."""
        if framework == OWN_TRAINING:
            return "python"
        environment = self.environment(framework, hardware)
        if own := self.own_python(framework, hardware):
            return own
        if self.uses_conda or environment == WORKFLOW:
            return "python"
        return f".venvs/{environment}/bin/python"

    def ready(self, framework: str, hardware: str) -> list[str]:
        """The file that says that the environment is ready; none if it is managed elsewhere."""
        if framework == OWN_TRAINING:
            return []
        environment = self.environment(framework, hardware)
        elsewhere = self.uses_conda or self.own_python(framework, hardware)
        return [] if elsewhere or environment == WORKFLOW else [f".venvs/{environment}/ready"]

    def environments(self) -> set[str]:
        """The environments of everything that is configured, but those of one's own."""
        pairs = {
            (framework, hardware)
            for hardware in self.known.hardware
            for workload in self.known.reference_workloads
            for framework in self.known.frameworks_of(workload)
        }
        found = {self.environment(*pair) for pair in pairs if not self.own_python(*pair)}
        return found - {WORKFLOW}

    def files(self, plan: Plan, hardware: str) -> list[str]:
        """The files that the possible trainings of a plan wait for on some hardware."""
        wanted = [run for run in plan.possible if run.hardware == hardware]
        found: set[str] = set()
        for workload, framework in {(run.workload, run.framework) for run in wanted}:
            if self.known.is_own(workload):
                continue
            found |= {self.arrays(workload), *self.weights(workload)}
            found.update(self.ready(framework, hardware))
        for run in wanted:
            if run.variant == variants.TUNED and hardware == LOCAL and not self._is_tuned(run):
                found.add(self.search(run.workload, run.framework))
        return sorted(found)

    def places(self, hardware: str) -> dict[str, Any]:
        """Where trainings on the hardware find data and weights, and interpreters."""
        workloads = {
            workload: {
                "data": str(Path(self.arrays(workload)).parent),
                "weights": next(iter(self.weights(workload)), []),
            }
            for workload in self.known.reference_workloads
        }
        pythons = {name: self.python(name, hardware) for name in self.known.frameworks}
        return {"workloads": workloads, "pythons": pythons}

    def settings(self, hardware: str) -> dict[str, Any]:
        """The options of every training on some hardware, by name (scripts/train.py)."""
        hours = self.known.time_limit_hours
        options = {
            "hardware": hardware,
            "scale": self.known.scale,
            "seed": self.known.seed,
            "batch_size": self.known.batch_size,
            "stage": self.known.stage if self.shares_folder else None,
            "time_limit": hours and hours * 3600,
        }
        return {name: value for name, value in options.items() if value not in (None, "")}

    def search(self, workload: str, framework: str) -> str:
        """The file that says that a framework was tuned for a workload on this machine."""
        return str(tuning.marker(self._case(workload, framework), TUNED, SEARCHES))

    def searches(self) -> list[str]:
        """The files of the searches of everything that is configured."""
        return [
            self.search(workload, framework)
            for workload in self.known.reference_workloads
            for framework in self.known.frameworks_of(workload)
        ]

    def _is_tuned(self, run: RunName) -> bool:
        return tuning.find(TUNED, self._case(run.workload, run.framework)) is not None

    def _case(self, workload: str, framework: str) -> tuning.Case:
        place = tuning.place_of(self.machine)
        return runs.case(self.known, self.origins, place, workload, framework)
