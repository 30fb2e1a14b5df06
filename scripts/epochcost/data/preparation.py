"""From verified files, or from nothing at all, to arrays."""

import hashlib
import importlib.util
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from epochcost import files, plugins
from epochcost.data import arrays, download, fetched
from epochcost.data.dataset import DataSet
from epochcost.errors import InputError, blamed

_SYNTHETIC_SEED = 20171128
# The modules that those which prepare data sets have in common.
_SHARED = ("arrays", "corrupt", "dataset", "preparation", "sequences", "synthetic")


def module_of(name: str) -> str:
    """The module of this package that prepares data set `name`."""
    return f"{__package__}.{name.replace('-', '_')}"


def code_of(module: str) -> str:
    """A checksum of the code of `module`, and of what such modules share; "" if there is none.

    Snakemake makes arrays anew if this has changed. A user's module may take its functions from any
    module of this package.
    """
    found = importlib.util.find_spec(module)
    if found is None:
        return ""
    folder = Path(__file__).parent
    shared = [folder / f"{name}.py" for name in _SHARED]
    if not module.startswith(f"{__package__}."):
        shared = sorted(folder.glob("*.py"))
    content = b"".join(files.code(path) for path in (Path(found.origin), *shared))
    return hashlib.sha256(content).hexdigest()[:8]


def prepare(name: str, kind: str, raw: Path, folder: Path, module: str | None = None) -> Path:
    """Prepare data set `name` into `folder`; the same files always give the same arrays.

    Args:
        module: the module with the `DataSet`; default: `module_of(name)`.
        kind: complete or subset (from the files of `raw/name`), or synthetic (generated).

    Returns:
        The path of the manifest.

    Raises:
        InputError: the data set cannot be prepared yet, a file is missing or damaged, or the module
            has a mistake.
    """
    source, dataset = _load(name, module or module_of(name))
    if kind == "synthetic":
        with blamed(source):
            values = dataset.synthetic(np.random.default_rng(_SYNTHETIC_SEED))
        _check(values, f"{source}: `synthetic`")
        return arrays.save(folder, values, name, kind, "synthetic", {}, {})
    about, paths = fetched.read(raw / name / f"{kind}.json"), {}
    for file_name, checksum in about.checksums.items():
        path = files.below(raw / name, file_name)
        if not path.is_file():
            raise InputError(f"{path} is missing; delete {raw / name / kind}.json and run again")
        paths[file_name] = download.verified(path, checksum)
    skipped: Counter[str] = Counter()
    with blamed(source):
        values = dataset.prepare(paths, skipped)
    _check(values, f"{source}: `prepare`")
    inputs = about.checksums
    return arrays.save(folder, values, name, kind, about.source, inputs, dict(skipped))


def _load(name: str, module: str) -> tuple[str, DataSet]:
    """The file that prepares a data set, and what it defines."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise InputError(f"{name} cannot be prepared: there is no module {module}")
    with blamed(spec.origin):
        return spec.origin, plugins.the_one(importlib.import_module(module), DataSet)


def _check(values: object, who: str) -> None:
    """Refuse what is not arrays by name; those of Python's objects cannot be read back."""
    if not isinstance(values, Mapping):
        raise InputError(f"{who} gives a {type(values).__name__}, not a dict of arrays by name")
    for name, value in values.items():
        if not isinstance(value, np.ndarray | np.generic) or value.dtype.hasobject:
            raise InputError(f"{who} gives {name}, which is no NumPy array, or one of objects")
