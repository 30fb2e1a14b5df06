"""Which frameworks there are: what is known of each without importing it.

A framework that is kept elsewhere, such as one of a study, is registered by a file of its own; the
environment variable EPOCHCOST_FRAMEWORKS names it:

    my-framework: {module: my_framework.py, environment: torch, workloads: [mnist_mlp]}

`module` is a path from that file. The other keys are those of `Entry`.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epochcost import files
from epochcost.errors import SIGNATURE, InputError, one_line

MORE = "EPOCHCOST_FRAMEWORKS"
# Variants that not every framework has; DEVICES stands for devices_2, devices_3, ...
NO_ONEDNN, BFLOAT16, DEVICES = "no_onednn", "bfloat16", "devices"
# Settings that several frameworks have. Without the first, a process may be slow or fast, depending
# on what it freed before. The second matters once Adam's moments of unused weights have decayed,
# after hundreds of steps.
KEEP_MEMORY, FLUSH_DENORMAL = "keep_memory", "flush_denormal"


@dataclass(frozen=True)
class Entry:
    """A framework that epochcost can train with.

    module: the module with its class (framework.py): one of this package, or the path of a file.
    environment: the family of environments in envs/ that contains it; empty for that of the
        workflow.
    needs: the methods of a workload's model that it calls.
    late: settings that a search tries only in whole epochs: a quick run may not show their effect,
        or show one by chance.
    variants: those that it has besides default and tuned.
    workloads: those that it trains and whose recipes do not name it.
    """

    module: str
    environment: str = ""
    needs: tuple[str, ...] = ("inputs", "keras_model")
    late: tuple[str, ...] = (KEEP_MEMORY,)
    variants: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()


def _more() -> dict[str, Entry]:
    """The frameworks that are kept elsewhere."""
    if not os.environ.get(MORE):
        return {}
    path = Path(os.environ[MORE])
    try:
        return {name: _entry(path, **given) for name, given in files.read_yaml(path).items()}
    except (InputError, AttributeError, TypeError) as error:
        # Read while modules are imported, where nobody could report an exception in one line.
        sys.exit(f"{SIGNATURE}: {MORE}: {path} is no file of frameworks: {one_line(error)}")


def _entry(path: Path, module: str, **given: Any) -> Entry:
    values = {key: tuple(value) if type(value) is list else value for key, value in given.items()}
    return Entry(str(path.resolve().parent / module), **values)


_TORCH = ("inputs", "torch_model")

FRAMEWORKS = {
    "keras-tensorflow": Entry(
        "epochcost.frameworks.keras_tensorflow",
        environment="tensorflow",
        late=(KEEP_MEMORY, "input_autotuning"),
        variants=(NO_ONEDNN, BFLOAT16, DEVICES),
    ),
    "keras-torch": Entry(
        "epochcost.frameworks.keras_torch",
        environment="torch",
        late=(KEEP_MEMORY, FLUSH_DENORMAL),
        variants=(NO_ONEDNN, BFLOAT16),
    ),
    "keras-jax": Entry(
        "epochcost.frameworks.keras_jax", environment="jax", variants=(BFLOAT16, DEVICES)
    ),
    "pytorch": Entry(
        "epochcost.frameworks.pytorch",
        environment="torch",
        needs=_TORCH,
        late=(KEEP_MEMORY, FLUSH_DENORMAL),
        variants=(NO_ONEDNN, BFLOAT16, DEVICES),
    ),
    "fastai": Entry(
        "epochcost.frameworks.fastai",
        environment="torch",
        needs=_TORCH,
        late=(KEEP_MEMORY, FLUSH_DENORMAL),
        variants=(NO_ONEDNN,),
    ),
    **_more(),
}


def that_train(workload: str, named: list[str]) -> list[str]:
    """The frameworks that train a workload: those that its recipe names, and that name it."""
    return [*named, *(name for name, one in FRAMEWORKS.items() if workload in one.workloads)]
