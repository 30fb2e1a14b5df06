"""The recipes of workloads, as a training reads them: with nothing but a YAML reader.

Those of config/workloads.yaml, and the `workload.yaml` in the folder of a workload of one's own. A
workload may bring its data set along: its `dataset` is then the data set's whole entry, as in
config/datasets.yaml, plus an `id`. A recipe of one's own has a `code`: a checksum of its Python.
"""

import hashlib
from pathlib import Path
from typing import Any

from epochcost import files
from epochcost.errors import InputError, check_name, nearest

# The workloads of the study. Tests hold their models to the published ones, so a change of their
# files changes no model.
STUDY = frozenset(
    ("mnist_mlp", "mnist_cnn", "cifar10_cnn", "imdb_fasttext", "imdb_bilstm", "twitter_bilstm",
     "nietzsche_lstm", "catsdogs_resnet50")
)  # fmt: skip
MODELS = Path(__file__).parent
_TEMPLATES = ("template", "template_torch")


class HyperParameters(dict):
    """The `model` entry of a recipe; a missing one that a model's file asks for is bad input."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__({name: _asked_for(value) for name, value in values.items()})

    def __missing__(self, name: str) -> None:
        raise InputError(
            f"config/workloads.yaml: `model` has no '{name}', which the model's file asks for; "
            f"{nearest(name, self)}"
        )


def _asked_for(value: Any) -> Any:
    """A value of `model`, with the mappings in it, at any depth, as hyper-parameters."""
    if isinstance(value, dict):
        return HyperParameters(value)
    return [_asked_for(part) for part in value] if isinstance(value, list) else value


def load(path: Path) -> dict[str, dict[str, Any]]:
    """The recipes by workload; the `dataset` of each is an id."""
    content = files.read_yaml(path)
    try:
        return separate(content | in_folders())[0]
    except (AttributeError, KeyError, TypeError):
        raise InputError(f"{path}: it holds no workloads; config/README.md says how") from None


def in_folders() -> dict[str, dict[str, Any]]:
    """The entries of the workloads that have a folder of their own, by its name."""
    entries = (
        path for path in MODELS.glob("*/workload.yaml") if path.parent.name not in _TEMPLATES
    )
    return {path.parent.name: files.read_yaml(path) for path in sorted(entries)}


def own_parts(recipe: dict[str, Any]) -> list[str]:
    """What the Python file of a recipe gives, by a `torch_` method: `loss`, `optimizer`."""
    named = {"loss": recipe["loss"], "optimizer": recipe["optimizer"]["name"]}
    return [part for part, name in named.items() if name == "own"]


def of(workload: str, path: Path) -> dict[str, Any]:
    """The recipe of one workload.

    Raises:
        InputError: there is no such workload.
    """
    known = load(path)
    check_name("workload", workload, known)
    return known[workload]


def separate(
    workloads: dict[str, dict[str, Any]],
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Recipes with the id of their data set, and the data sets that workloads brought along.

    Returns:
        The recipes by workload, and the data sets by id; each of these says in `prepared_by`
        which workload's module prepares it.
    """
    recipes, datasets = {}, {}
    for name, recipe in workloads.items():
        if "command" in recipe:  # an own training, which has neither
            continue
        own = recipe["dataset"]
        if isinstance(own, dict):
            if own["id"] in datasets:
                raise InputError(f"config/workloads.yaml: two workloads bring {own['id']} along")
            datasets[own["id"]] = {key: value for key, value in own.items() if key != "id"}
            datasets[own["id"]]["prepared_by"] = name
            recipe = recipe | {"dataset": own["id"]}
        recipes[name] = recipe if name in STUDY else recipe | {"code": _code_of(name)}
    return recipes, datasets


def _code_of(workload: str) -> str:
    """A checksum of the code in a workload's Python file, or in its folder; "" without any."""
    paths = [MODELS / f"{workload}.py", *sorted((MODELS / workload).rglob("*.py"))]
    code = b"".join(files.code(path) for path in paths if path.is_file())
    return hashlib.sha256(code).hexdigest()[:8] if code else ""
