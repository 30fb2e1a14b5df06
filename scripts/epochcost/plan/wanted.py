"""What config.yaml wants, checked against what there is to choose from."""

import os
import re
from collections.abc import Iterable, Mapping
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

from epochcost import ROOT, files, models, schemas, settings
from epochcost.data import registry
from epochcost.errors import InputError, check_name
from epochcost.frameworks import FRAMEWORKS, variants, with_variant
from epochcost.frameworks.registry import that_train
from epochcost.hardware import LOCAL
from epochcost.models import workloads
from epochcost.models.recipes import own_parts
from epochcost.money import prices
from epochcost.record.types import OWN_TRAINING
from epochcost.settings import Settings

_PUBLISHED_PRICES = ROOT / "data/published/prices.csv"


class Wanted(Settings):
    """The keys of config.yaml, with `all` spelt out, and what they choose from.

    catalogue: config/hardware.yaml.
    lists: workloads and data sets.
    recipes: of all workloads but own trainings, with all frameworks that train them.
    recipes_to_train: the same with the changes of config.yaml (`batch_size`).
    left_out: what was asked for and is no combination, each in a few words.
    """

    catalogue: dict[str, dict[str, Any]]
    lists: workloads.Workloads
    recipes: dict[str, dict[str, Any]]
    recipes_to_train: dict[str, dict[str, Any]]
    left_out: tuple[str, ...] = ()

    @property
    def mirror(self) -> Path | None:
        """The mirror folder; the configuration overrides the environment variable."""
        folder = self.data.mirror or os.environ.get(registry.MIRROR)
        return Path(folder).expanduser() if folder else None

    @property
    def datasets(self) -> dict[str, dict[str, Any]]:
        """All data sets."""
        return self.lists.datasets

    @property
    def own(self) -> dict[str, dict[str, Any]]:
        """The entries of own trainings, by workload."""
        return self.lists.own

    def is_own(self, workload: str) -> bool:
        """Whether a workload is an own training."""
        return workload in self.lists.own

    @property
    def reference_workloads(self) -> list[str]:
        """The configured workloads that are no own trainings."""
        return [name for name in self.workloads if not self.is_own(name)]

    def frameworks_of(self, workload: str) -> list[str]:
        """What trains `workload`: the configured frameworks that can, or its own script."""
        if self.is_own(workload):
            return [OWN_TRAINING]
        able = self.recipes_to_train[workload]["frameworks"]
        return [name for name in self.frameworks if name in able]

    def datasets_needed(self) -> list[str]:
        """The data sets of the configured workloads, sorted."""
        return sorted({self.recipes_to_train[name]["dataset"] for name in self.reference_workloads})

    def weights_needed(self) -> list[str]:
        """The weights that the configured workloads start from, sorted."""
        recipes = (self.recipes_to_train[name] for name in self.reference_workloads)
        return sorted({recipe["weights"] for recipe in recipes if "weights" in recipe})


def read(given: Mapping[str, Any] | None = None, root: Path = ROOT) -> Wanted:
    """Read and check all of config/.

    Args:
        given: the settings as the caller merged them (Snakemake's `config`); config/config.yaml
            when None.
        root: the folder that holds config/.

    Raises:
        InputError: one line that names what is wrong and the closest valid name.
    """
    catalogue, lists = schemas.read("hardware", root), workloads.read(root)
    recipes = {
        name: recipe | {"frameworks": that_train(name, recipe["frameworks"])}
        for name, recipe in lists.recipes.items()
    }
    # Also where Snakemake has read it: that takes the last of a key that is given twice.
    written = files.read_yaml(root / "config/config.yaml")
    keys = settings.read(written if given is None else given, root)
    _check_book(keys, catalogue)
    for name, recipe in recipes.items():
        _check_all(f"workloads.yaml: {name}: framework", recipe["frameworks"], FRAMEWORKS)
    chosen = _chosen(keys, catalogue, recipes, lists.own)
    changed = {"batch_size": keys.batch_size} if keys.batch_size else {}
    wanted = Wanted.model_construct(
        **dict(keys) | chosen,
        catalogue=catalogue,
        lists=lists,
        recipes=recipes,
        recipes_to_train={
            name: recipe | changed if name in chosen["workloads"] else recipe
            for name, recipe in recipes.items()
        },
    )
    _check_combinations(wanted)
    named = {key: getattr(keys, key) != ["all"] for key in ("workloads", "frameworks")}
    return wanted.model_copy(update={"left_out": tuple(_left_out(wanted, **named))})


def _check_book(keys: Settings, catalogue: Mapping[str, Any]) -> None:
    """Refuse an invalid price book, and a user's own file with mistakes."""
    prices.check_book(keys.price_book)
    day = prices.day_of(keys.price_book)
    if day and day < (first := _first_day()):
        raise InputError(
            f"'{keys.price_book}' is not a price book: the first known prices are of {first}"
        )
    if prices.is_file(keys.price_book):
        published = {price.hardware_id for price in prices.load(_PUBLISHED_PRICES)}
        prices.of_file(Path(keys.price_book), keys.exchange_rates, published.union(catalogue))


def _first_day() -> date:
    """The day of the oldest price."""
    return min(price.as_of for price in prices.load(_PUBLISHED_PRICES) if price.as_of)


def _chosen(
    keys: Settings,
    catalogue: Mapping[str, Any],
    recipes: dict[str, dict[str, Any]],
    own: dict[str, dict[str, Any]],
) -> dict[str, list[str]]:
    """Workloads and frameworks with `all` spelt out; every name is checked."""
    _check_all("hardware", keys.hardware, catalogue)
    _check_alike(keys.hardware)
    if LOCAL in keys.hardware:
        for family, python in keys.python.items():
            if not Path(python).exists():
                raise InputError(f"config: python: {family}: {python} does not exist")
    names = _expanded(keys.frameworks, FRAMEWORKS)
    trained = [name for name, recipe in recipes.items() if _trained(recipe, names)]
    chosen = _expanded(keys.workloads, [*trained, *own])
    _check_all("workload", chosen, recipes | own)
    _check_all("framework", names, FRAMEWORKS)
    for name in chosen:
        if name not in own:
            models.check(name)
    return {"workloads": chosen, "frameworks": names}


def check_cloud(wanted: Wanted) -> None:
    """Refuse what cannot be trained on machines that share no folder with this one."""
    if weights := wanted.weights_needed():
        raise InputError(
            f"{', '.join(weights)} are not sent to rented machines; leave the workloads out that "
            "start from weights, or measure the machine as a bare host (scripts/remote.py)"
        )
    if wanted.precision:
        raise InputError("a precision is for this machine and shared folders; say runs=6 instead")
    if LOCAL in wanted.hardware:
        raise InputError(
            "hardware local is this machine, and the profile sends trainings elsewhere"
        )


def _expanded(names: list[str], known: Iterable[str]) -> list[str]:
    """The names, or all known ones for `all`."""
    return list(known) if names == ["all"] else names


def _trained(recipe: dict[str, Any], names: list[str]) -> bool:
    """Whether one of the frameworks trains a workload."""
    return not set(names).isdisjoint(recipe["frameworks"])


def _check_all(what: str, names: list[str], known: Mapping[str, Any]) -> None:
    for name in names:
        check_name(what, name, known)


def _check_alike(hardware: list[str]) -> None:
    """Refuse ids whose rules would have one name, as a rule's name has neither `-` nor `.`."""
    rules: dict[str, str] = {}
    for name in hardware:
        other = rules.setdefault(re.sub(r"[-.]", "_", name), name)
        if other != name:
            raise InputError(
                f"config: hardware: {other} and {name} differ only in signs that no rule can have "
                "in its name; rename one in config/hardware.yaml"
            )


def _check_combinations(wanted: Wanted) -> None:
    if variants.TUNED in wanted.variants:
        if wanted.hardware != [LOCAL]:
            raise InputError(
                "the variant tuned is for hardware local alone: the search runs on the machine "
                "that it is for"
            )
        if wanted.batch_size:
            raise InputError("the variant tuned is for the recipes' own batch_size alone")
    for name in wanted.variants:
        variants.variant_of(name)
        able = with_variant(name, wanted.frameworks)
        if not able:
            raise InputError(
                f"the variant {name} is not for {', '.join(wanted.frameworks)}; "
                f"it is for {', '.join(with_variant(name, list(FRAMEWORKS)))}"
            )
    _check_division(wanted)
    _check_fine_tuning(wanted.recipes)
    _check_own_parts(wanted.recipes)
    for workload in wanted.workloads:
        if not wanted.frameworks_of(workload):
            able = ", ".join(wanted.recipes_to_train[workload]["frameworks"])
            raise InputError(
                f"{workload} is not trained by {', '.join(wanted.frameworks)}; "
                f"frameworks that train it: {able}"
            )


def _left_out(wanted: Wanted, workloads: bool, frameworks: bool) -> Iterable[str]:
    """What is configured and cannot be trained, beside what can.

    Args:
        workloads, frameworks: whether they were named; `all` means those that can be trained.
    """
    if not frameworks:
        return
    names = wanted.frameworks
    if not workloads:
        for workload, recipe in wanted.recipes.items():
            if not _trained(recipe, names):
                yield f"{workload} is not trained by {', '.join(names)}"
    for workload in wanted.reference_workloads if workloads else ():
        able = wanted.frameworks_of(workload)
        unable = [name for name in names if name not in able]
        if unable:
            all_able = ", ".join(wanted.recipes[workload]["frameworks"])
            yield (
                f"{workload} is not trained by {', '.join(unable)} (frameworks that train it: "
                f"{all_able})"
            )
    for variant in wanted.variants:
        for name in names:
            if name not in with_variant(variant, names):
                yield f"{name} has no variant {variant}"


def _check_fine_tuning(recipes: Mapping[str, dict[str, Any]]) -> None:
    """Refuse recipes with fine-tuning that cannot be trained as they say."""
    for name, recipe in recipes.items():
        if "fine_tuning" not in recipe:
            continue
        others = [framework for framework in recipe["frameworks"] if framework != "fastai"]
        if others:
            raise InputError(
                f"workloads.yaml: {name}: only fastai trains recipes with fine_tuning, "
                f"not {', '.join(others)}"
            )
        if recipe["optimizer"]["name"] != "adam":
            raise InputError(f"workloads.yaml: {name}: fine_tuning needs the optimizer adam")
        if recipe["fine_tuning"]["frozen_epochs"] >= recipe["epochs"]:
            raise InputError(
                f"workloads.yaml: {name}: frozen_epochs must be below its {recipe['epochs']} epochs"
            )


def _check_own_parts(recipes: Mapping[str, dict[str, Any]]) -> None:
    """Refuse a loss or an optimiser of one's own for what does not take it."""
    for name, recipe in recipes.items():
        own = own_parts(recipe)
        others = [framework for framework in recipe["frameworks"] if framework != "pytorch"]
        if own and others:
            raise InputError(
                f"workloads.yaml: {name}: only pytorch trains with {own[0]} own, "
                f"not {', '.join(others)}"
            )
        metric = recipe["quality"]["metric"]
        if "loss" in own and metric == "val_accuracy":
            raise InputError(
                f"workloads.yaml: {name}: a loss of one's own gives no accuracy; "
                "judge quality by val_loss or loss"
            )
        if "loss" not in own and metric == "val_loss":
            raise InputError(
                f"workloads.yaml: {name}: val_loss is of a loss of one's own (loss: own); "
                "judge quality by val_accuracy or loss"
            )


def _check_division(wanted: Wanted) -> None:
    """Refuse batches that Keras cannot divide over several devices.

    On TensorFlow the last batch of an epoch may be uneven. JAX cannot divide an uneven one, which a
    training checks, as it knows how many samples there are.
    """
    pairs = product(wanted.reference_workloads, map(variants.devices_of, wanted.variants))
    for workload, devices in pairs:
        batch = wanted.recipes_to_train[workload]["batch_size"]
        for framework in ("keras-tensorflow", "keras-jax"):
            if framework in wanted.frameworks_of(workload) and batch % devices:
                raise InputError(
                    f"{framework} cannot divide the batches of {workload}, {batch} samples, over "
                    f"{devices} devices; take a number that divides {batch}, or leave {framework} "
                    f"or {workload} out"
                )
