"""What one training is: all that was asked for, and all that is read for it, in one object."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from epochcost.data import arrays
from epochcost.errors import InputError
from epochcost.frameworks import tuning, variants
from epochcost.frameworks.registry import that_train
from epochcost.hardware import check_machine
from epochcost.measure import cloud, machine
from epochcost.measure.clock import Stopwatch
from epochcost.models import recipes
from epochcost.record.names import RunName
from epochcost.record.record import recipe_id
from epochcost.record.types import Cloud, Machine

ROOT = Path(__file__).resolve().parents[3]
RECORDS = Path("results/runs")
CHECKPOINTS = Path("results/checkpoints")


@dataclass(frozen=True)
class Training:
    """A training that nothing speaks against before its framework is imported.

    run: its name: hardware, workload, framework, variant, trial.
    scale: quick or full.
    seed: of all that is random.
    recipe: the workload's, as it is trained.
    settings: what it changes in the framework's own settings.
    tuned_with: the framework's version that these were found with; None where they were not.
    data, manifest: the folder of prepared arrays, and what they are.
    weights: the description of fetched weights; None for random ones.
    machine: the facts about this machine, as in the record.
    describing_s: seconds that it took to find them.
    record: the place of the record that somebody named; None for its own in results/runs.
    time_limit: seconds after which it has failed.
    progress: the descriptor of a file to note on how far it is.
    """

    run: RunName
    scale: str
    seed: int
    recipe: dict[str, Any]
    settings: dict[str, Any]
    tuned_with: str | None
    data: Path
    manifest: dict[str, Any]
    weights: Path | None
    machine: Machine
    describing_s: float
    record: Path | None
    time_limit: float | None
    progress: int | None

    @property
    def resumes(self) -> bool:
        """Whether it goes on after an interruption: a quick one may as well start over.

        So may those with a record of its own place: a search gives up a run that was killed, and a
        machine of a cloud is gone with its checkpoints.
        """
        return self.scale == "full" and self.record is None


def read(
    workload: str,
    framework: str,
    data: Path,
    *,
    hardware: str = "local",
    variant: str = variants.DEFAULT,
    settings: Any = None,
    trial: int = 1,
    scale: str = "quick",
    seed: int = 1,
    batch_size: int | None = None,
    epochs: int | None = None,
    weights: Path | None = None,
    record: Path | None = None,
    time_limit: float | None = None,
    progress: int | None = None,
) -> Training:
    """Read what a training needs, each thing once.

    Args:
        settings: of the framework, for the variant tuned; None for those in config/tuned.yaml.
        seed: the trial number is added to it.
        batch_size, epochs: None for those of the recipe.

    The others are those of `Training`.

    Raises:
        InputError: it cannot be, or not on this machine.
    """
    recipe = recipe_of(workload, framework)
    if epochs and "fine_tuning" in recipe:
        raise InputError(f"the epochs of {workload} are of different kinds; leave --epochs out")
    manifest = arrays.manifest_of(data)
    if manifest["dataset"] != recipe["dataset"]:
        raise InputError(f"{data} holds {manifest['dataset']}, not {recipe['dataset']}")
    stopwatch = Stopwatch()
    asked = cloud.identify()
    here = replace(machine.facts(), cloud=asked and Cloud(**asked))
    describing_s = stopwatch.seconds()
    check_machine(hardware, ROOT / "config/hardware.yaml", here)
    variants.check_framework(variant, framework)
    if settings is not None:
        found = tuning.Tuned(_given(settings, variant), None)
    elif variant == variants.TUNED:
        if batch_size:
            raise InputError("the variant tuned is for the recipe's own batch_size alone")
        what = recipe_id(recipe), manifest["kind"]
        case = tuning.Case(tuning.place_of(here), workload, framework, *what)
        found = tuning.needed(ROOT / "config/tuned.yaml", case)
    else:
        found = tuning.Tuned(variants.settings_of(variant), None)
    variants.check_machine(variant, here)
    own = {"batch_size": batch_size, "epochs": epochs}
    return Training(
        run=RunName(hardware, workload, framework, variant, trial),
        scale=scale,
        seed=seed + trial,
        recipe=recipe | {name: value for name, value in own.items() if value},
        settings=found.settings,
        tuned_with=found.version,
        data=data,
        manifest=manifest,
        weights=weights,
        machine=here,
        describing_s=describing_s,
        record=record,
        time_limit=time_limit,
        progress=progress,
    )


def recipe_of(workload: str, framework: str) -> dict[str, Any]:
    """The recipe of a workload, for a framework that trains it.

    Raises:
        InputError: there is none, or the framework does not.
    """
    recipe = recipes.of(workload, ROOT / "config/workloads.yaml")
    able = that_train(workload, recipe["frameworks"])
    if framework not in able:
        raise InputError(
            f"{workload} is not trained by {framework}; frameworks that train it: {', '.join(able)}"
        )
    return recipe | {"model": recipes.HyperParameters(recipe["model"])}


def _given(settings: Any, variant: str) -> dict[str, Any]:
    """Settings from the command line."""
    if variant != variants.TUNED:
        raise InputError("--settings is for --variant tuned")
    if not isinstance(settings, dict):
        raise InputError('--settings is a JSON object, such as {"keep_memory": true}')
    tuning.refuse_devices(settings)
    return settings
