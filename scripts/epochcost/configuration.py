"""The configuration, checked before anything starts.

Every file of config/ has a JSON Schema in config/schemas/. A mistake is reported in one line
that names the file, the key and the closest valid name.
"""

import math
import os
import re
from collections.abc import Iterable, Mapping
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

from epochcost import durations, files, schemas
from epochcost import models as workload_modules
from epochcost.data import preparation
from epochcost.errors import InputError, nearest
from epochcost.frameworks import FRAMEWORKS, variants, with_variant
from epochcost.frameworks.registry import that_train
from epochcost.hardware import LOCAL
from epochcost.models import recipes
from epochcost.money import prices
from epochcost.settings import Keys

ROOT = Path(__file__).resolve().parents[2]
MIRROR_VARIABLE = "EPOCHCOST_MIRROR"
_PUBLISHED_PRICES = ROOT / "data/published/prices.csv"
# Text, even where it is just a number, which is seconds.
_DURATIONS = ("every", "up")
_DECIMAL = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")


class Configuration(Keys):
    """config/config.yaml (its keys are the object's), and what it may choose from; all checked.

    catalogue: config/hardware.yaml.
    recipes: config/workloads.yaml as it is.
    recipes_to_train: the same with the changes of config.yaml (`batch_size`).
    datasets: config/datasets.yaml.
    left_out: what was asked for and is no combination, each in a few words.
    """

    catalogue: dict[str, dict[str, Any]]
    recipes: dict[str, dict[str, Any]]
    recipes_to_train: dict[str, dict[str, Any]]
    datasets: dict[str, dict[str, Any]]
    left_out: tuple[str, ...] = ()

    @property
    def mirror(self) -> Path | None:
        """The mirror folder; the configuration overrides the environment variable."""
        folder = self.data.mirror or os.environ.get(MIRROR_VARIABLE)
        return Path(folder).expanduser() if folder else None

    def check_dataset(self, name: str) -> None:
        """Raise an InputError with the closest valid name if there is no data set `name`."""
        _check_names("data set", [name], self.datasets)

    def preparation_of(self, dataset: str) -> str:
        """The Python module that prepares a data set."""
        own = self.datasets[dataset].get("prepared_by")
        return f"epochcost.models.{own}" if own else preparation.module_of(dataset)

    def frameworks_of(self, workload: str) -> list[str]:
        """The configured frameworks that can train `workload`."""
        able = self.recipes_to_train[workload]["frameworks"]
        return [name for name in self.frameworks if name in able]

    def datasets_needed(self) -> list[str]:
        """The data sets of the configured workloads, sorted."""
        return sorted({self.recipes_to_train[name]["dataset"] for name in self.workloads})

    def complete_samples(self) -> dict[str, int]:
        """Training samples of each workload's complete data, where they are known."""
        return {
            name: self.datasets[recipe["dataset"]]["train_samples"]
            for name, recipe in self.recipes_to_train.items()
            if "train_samples" in self.datasets[recipe["dataset"]]
        }

    def weights_needed(self) -> list[str]:
        """The weights that the configured workloads start from, sorted."""
        recipes = (self.recipes_to_train[name] for name in self.workloads)
        return sorted({recipe["weights"] for recipe in recipes if "weights" in recipe})


def load(overrides: Mapping[str, Any] | None = None, root: Path = ROOT) -> Configuration:
    """Read and check all of config/.

    Args:
        overrides: the settings as the caller merged them (Snakemake's `config`);
            config/config.yaml when None.
        root: the folder that holds config/.

    Raises:
        InputError: one line that names what is wrong and the closest valid name.
    """
    config = root / "config"
    hardware = _read_checked(config / "hardware.yaml", root)
    workloads = _read_checked(config / "workloads.yaml", root)
    for name, entry in recipes.in_folders().items():
        where = f"scripts/epochcost/models/{name}/workload.yaml"
        if name in workloads:
            raise InputError(f"{where}: {name} is in config/workloads.yaml already")
        schemas.check({name: entry}, root / "config/schemas/workloads.schema.json", where)
        workloads[name] = entry
    workloads, brought = recipes.separate(workloads)
    for name, recipe in workloads.items():
        workloads[name] = recipe | {"frameworks": that_train(name, recipe["frameworks"])}
    datasets = _read_checked(config / "datasets.yaml", root)
    datasets |= _check_brought(brought, datasets, root)
    # Also where Snakemake has read it: that takes the last of a key that is given twice.
    written = files.read_yaml(config / "config.yaml")
    overrides = written if overrides is None else overrides
    if not isinstance(overrides, Mapping):
        raise InputError("config/config.yaml: it holds no keys")
    settings = _normalised(overrides)
    schemas.check(settings, root / "config/schemas/config.schema.json", "config")
    _check_values(settings, hardware)
    _check_names("hardware", settings["hardware"], hardware)
    _check_alike(settings["hardware"])
    named = {key: settings[key] != ["all"] for key in ("workloads", "frameworks")}
    settings["frameworks"] = _expanded(settings["frameworks"], FRAMEWORKS)
    trained = [name for name, one in workloads.items() if _trained(one, settings["frameworks"])]
    settings["workloads"] = _expanded(settings["workloads"], trained)
    _check_names("workload", settings["workloads"], workloads)
    if settings["workload"]:
        _check_names("workload", [settings["workload"]], workloads)
    _check_names("framework", settings["frameworks"], FRAMEWORKS)
    for name, workload in workloads.items():
        _check_names(f"workloads.yaml: {name}: framework", workload["frameworks"], FRAMEWORKS)
        _check_names(f"workloads.yaml: {name}: dataset", [workload["dataset"]], datasets)
        if "weights" in workload:
            _check_names(f"workloads.yaml: {name}: weights", [workload["weights"]], datasets)
    recipes_there = dict(workloads)
    for name in settings["workloads"]:
        workload_modules.check(name)
        if settings["batch_size"]:
            workloads[name] = workloads[name] | {"batch_size": settings["batch_size"]}
    configuration = Configuration.model_construct(
        **dict(Keys.model_validate(settings)),
        catalogue=hardware,
        recipes=recipes_there,
        recipes_to_train=workloads,
        datasets=datasets,
    )
    _check_combinations(configuration)
    left_out = tuple(_left_out(configuration, **named))
    return configuration.model_copy(update={"left_out": left_out})


def check_cloud(configuration: Configuration) -> None:
    """Refuse what cannot be trained on machines that share no folder with this one."""
    if weights := configuration.weights_needed():
        raise InputError(
            f"{', '.join(weights)} are not sent to rented machines; leave the workloads out that "
            "start from weights, or measure the machine as a bare host (scripts/remote.py)"
        )
    if configuration.precision:
        raise InputError("a precision is for this machine and shared folders; say runs=6 instead")
    if LOCAL in configuration.hardware:
        raise InputError(
            "hardware local is this machine, and the profile sends trainings elsewhere"
        )


def _read_checked(path: Path, root: Path) -> dict[str, dict[str, Any]]:
    content = files.read_yaml(path)
    schemas.check(content, root / f"config/schemas/{path.stem}.schema.json", f"config/{path.name}")
    return content


def _normalised(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Command-line settings (`workloads=mnist_mlp`, text for numbers) in the schema's form."""
    result = {key: dict(v) if isinstance(v, Mapping) else v for key, v in settings.items()}
    for key in ("hardware", "workloads", "frameworks", "variants"):
        if isinstance(result.get(key), str):
            result[key] = [name.strip() for name in result[key].split(",")]
    for key in ("again", "keep_disturbed"):
        # Snakemake converts True from a command line, and leaves true as text.
        if result.get(key) in ("true", "false"):
            result[key] = result[key] == "true"
    if isinstance(result.get("price_book"), date):  # as Snakemake reads an unquoted day
        result["price_book"] = result["price_book"].isoformat()
    if isinstance(result.get("precision"), str):
        result["precision"] = _share(result["precision"])
    if isinstance(result.get("price"), str):
        raise InputError(f"config: price: '{result['price']}' is not a number, such as price=0.10")
    if isinstance(result.get("price"), int | float) and not isinstance(result["price"], bool):
        result["price"] = {"per_hour_usd": result["price"], "kind": "on_demand"}
    for key in ("price", "owned", "exchange_rates", "billing", "spot", "schedule"):
        if key in result:
            result[key] = _numbers_of(result[key])
    price = result.get("price")
    if isinstance(price, dict) and price.get("per_hour_usd") == "":
        price["per_hour_usd"] = None
    return result


def _numbers_of(value: Any) -> Any:
    """A section with the numbers that Snakemake leaves as text converted to numbers."""
    if isinstance(value, Mapping):
        return {
            key: part if key in _DURATIONS else _numbers_of(part) for key, part in value.items()
        }
    if isinstance(value, list):
        return [_numbers_of(part) for part in value]
    return float(value) if isinstance(value, str) and _DECIMAL.fullmatch(value) else value


def _expanded(names: list[str], known: Iterable[str]) -> list[str]:
    """The names, or all known ones for `all`."""
    return list(known) if names == ["all"] else names


def _trained(recipe: dict[str, Any], names: list[str]) -> bool:
    """Whether one of the frameworks trains a workload."""
    return not set(names).isdisjoint(recipe["frameworks"])


def _share(text: str) -> float | str | None:
    """`2%` as 0.02."""
    value = _number(text.removesuffix("%"))
    return value / 100 if isinstance(value, float) and text.endswith("%") else value


def _number(text: str) -> float | str | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _check_values(settings: dict[str, Any], hardware: Mapping[str, Any]) -> None:
    """Check what a schema cannot express."""
    _check_finite(settings, "config")
    price = settings["price"]["per_hour_usd"]
    if price is not None and (price == 0) != (settings["price"]["kind"] == "free"):
        raise InputError(
            "config: price: 0 and the kind 'free' go together; leave an unknown price empty"
        )
    if settings["owned"] and not (settings["owned"]["purchase_usd"] or settings["owned"]["watts"]):
        raise InputError("config: owned: a machine that costs nothing is of the price kind 'free'")
    if settings["again"] and settings["precision"]:
        raise InputError("config: again and precision both say how many runs are wanted")
    if settings["deadline"] is not None:
        _check_deadline(settings["deadline"])
    _check_book(settings["price_book"], settings["exchange_rates"], hardware)
    if settings["owned"] and price is not None:
        raise InputError("config: owned and price.per_hour_usd both say what this machine costs")
    if settings["precision"] and settings["scale"] != "full":
        raise InputError(
            "config: precision: a quick run predicts, and more of them make no prediction better; "
            "add scale=full"
        )
    if LOCAL in settings["hardware"]:
        for family, python in settings["python"].items():
            if not Path(python).exists():
                raise InputError(f"config: python: {family}: {python} does not exist")


def _check_finite(value: Any, where: str) -> None:
    """Refuse infinity and what is not a number, which no limit of a schema excludes."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            _check_finite(part, f"{where}: {key}")
    elif isinstance(value, list):
        for part in value:
            _check_finite(part, where)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{where}: {value} is not a finite number")


def _check_deadline(text: str) -> None:
    if not durations.seconds_of(text):
        raise InputError("config: deadline: nothing is trained in no time; such as 1h")


def _check_book(book: str, rates: Mapping[str, float], hardware: Mapping[str, Any]) -> None:
    """Refuse an invalid price book, and a user's own file with mistakes."""
    prices.check_book(book)
    if prices.is_file(book):
        published = {price.hardware_id for price in prices.load(_PUBLISHED_PRICES)}
        prices.of_file(Path(book), rates, published.union(hardware))


def _check_brought(
    brought: dict[str, dict[str, Any]], datasets: dict[str, dict[str, Any]], root: Path
) -> dict[str, dict[str, Any]]:
    """Check the data sets that workloads bring along like those of datasets.yaml."""
    for name, entry in brought.items():
        where = f"config/workloads.yaml: {entry['prepared_by']}: dataset"
        if name in datasets:
            raise InputError(f"{where}: {name} is in datasets.yaml already; say dataset: {name}")
        plain = {key: value for key, value in entry.items() if key != "prepared_by"}
        schemas.check({name: plain}, root / "config/schemas/datasets.schema.json", where)
    return brought


def _check_names(what: str, names: list[str], known: Mapping[str, Any]) -> None:
    for name in names:
        if name not in known:
            raise InputError(f"unknown {what} '{name}'; {nearest(name, known)}")


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


def _check_combinations(configuration: Configuration) -> None:
    if variants.TUNED in configuration.variants:
        if configuration.hardware != [LOCAL]:
            raise InputError(
                "the variant tuned is for hardware local alone: the search runs on the machine "
                "that it is for"
            )
        if configuration.batch_size:
            raise InputError("the variant tuned is for the recipes' own batch_size alone")
    for name in configuration.variants:
        variants.variant_of(name)
        able = with_variant(name, configuration.frameworks)
        if not able:
            raise InputError(
                f"the variant {name} is not for {', '.join(configuration.frameworks)}; "
                f"it is for {', '.join(with_variant(name, list(FRAMEWORKS)))}"
            )
    _check_division(configuration)
    _check_fine_tuning(configuration.recipes)
    for workload in configuration.workloads:
        if not configuration.frameworks_of(workload):
            able = ", ".join(configuration.recipes_to_train[workload]["frameworks"])
            raise InputError(
                f"{workload} is not trained by {', '.join(configuration.frameworks)}; "
                f"frameworks that train it: {able}"
            )


def _left_out(configuration: Configuration, workloads: bool, frameworks: bool) -> Iterable[str]:
    """What is configured and cannot be trained, beside what can.

    Args:
        workloads, frameworks: whether they were named; `all` means those that can be trained.
    """
    if not frameworks:
        return
    names = configuration.frameworks
    if not workloads:
        for workload, recipe in configuration.recipes.items():
            if not _trained(recipe, names):
                yield f"{workload} is not trained by {', '.join(names)}"
    for workload in configuration.workloads if workloads else ():
        able = configuration.frameworks_of(workload)
        unable = [name for name in names if name not in able]
        if unable:
            all_able = ", ".join(configuration.recipes[workload]["frameworks"])
            yield (
                f"{workload} is not trained by {', '.join(unable)} (frameworks that train it: "
                f"{all_able})"
            )
    for variant in configuration.variants:
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


def _check_division(configuration: Configuration) -> None:
    """Refuse batches that Keras cannot divide over several devices.

    On TensorFlow the last batch of an epoch may be uneven. JAX cannot divide an uneven one, which a
    training checks, as it knows how many samples there are.
    """
    pairs = product(configuration.workloads, map(variants.devices_of, configuration.variants))
    for workload, devices in pairs:
        batch = configuration.recipes_to_train[workload]["batch_size"]
        for framework in ("keras-tensorflow", "keras-jax"):
            if framework in configuration.frameworks_of(workload) and batch % devices:
                raise InputError(
                    f"{framework} cannot divide the batches of {workload}, {batch} samples, over "
                    f"{devices} devices; leave one of the three out"
                )
