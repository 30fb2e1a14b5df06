"""All workloads and data sets of the configuration, checked, for the plan and the tables.

A training reads just the recipe that it needs (`recipes.of`), without these checks.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epochcost import ROOT, schemas
from epochcost.data import preparation
from epochcost.errors import InputError, check_name
from epochcost.models import recipes


@dataclass(frozen=True)
class Workloads:
    """What there is to train.

    recipes: config/workloads.yaml, and those of one's own, by workload.
    datasets: config/datasets.yaml, and those that workloads bring along, by id.
    own: the own trainings of config/workloads.yaml.
    """

    recipes: dict[str, dict[str, Any]]
    datasets: dict[str, dict[str, Any]]
    own: dict[str, dict[str, Any]]

    def preparation_of(self, dataset: str) -> str:
        """The Python module that prepares a data set.

        Raises:
            InputError: there is no such data set; it names the closest one.
        """
        check_name("data set", dataset, self.datasets)
        own = self.datasets[dataset].get("prepared_by")
        return f"epochcost.models.{own}" if own else preparation.module_of(dataset)

    def complete_samples(self) -> dict[str, int]:
        """Training samples of each workload's complete data, where they are known."""
        return {
            name: self.datasets[recipe["dataset"]]["train_samples"]
            for name, recipe in self.recipes.items()
            if "train_samples" in self.datasets[recipe["dataset"]]
        }

    def title(self, workload: str) -> str:
        """What figures and the report call a workload."""
        return (self.recipes | self.own).get(workload, {}).get("title", workload)


def read(root: Path = ROOT) -> Workloads:
    """Read and check both lists.

    Args:
        root: the folder that holds config/.

    Raises:
        InputError: one line that names what is wrong and the closest valid name.
    """
    listed = schemas.read("workloads", root)
    for name, entry in recipes.in_folders().items():
        where = f"scripts/epochcost/models/{name}/workload.yaml"
        if name in listed:
            raise InputError(f"{where}: {name} is in config/workloads.yaml already")
        schemas.check({name: entry}, root / "config/schemas/workloads.schema.json", where)
        listed[name] = entry
    found, brought = recipes.separate(listed)
    datasets = schemas.read("datasets", root)
    datasets |= _checked(brought, datasets, root)
    for name, recipe in found.items():
        check_name(f"workloads.yaml: {name}: dataset", recipe["dataset"], datasets)
        if "weights" in recipe:
            check_name(f"workloads.yaml: {name}: weights", recipe["weights"], datasets)
    own = {name: entry for name, entry in listed.items() if "command" in entry}
    return Workloads(found, datasets, own)


def _checked(
    brought: dict[str, dict[str, Any]], datasets: dict[str, dict[str, Any]], root: Path
) -> dict[str, dict[str, Any]]:
    """The data sets that workloads bring along, checked like those of datasets.yaml."""
    for name, entry in brought.items():
        where = f"config/workloads.yaml: {entry['prepared_by']}: dataset"
        if name in datasets:
            raise InputError(f"{where}: {name} is in datasets.yaml already; say dataset: {name}")
        plain = {key: value for key, value in entry.items() if key != "prepared_by"}
        schemas.check({name: plain}, root / "config/schemas/datasets.schema.json", where)
    return brought
