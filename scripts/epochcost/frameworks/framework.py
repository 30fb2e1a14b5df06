"""What a framework is to epochcost, and how its module is imported."""

import atexit
import importlib
import importlib.util
import os
import shutil
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from epochcost import plugins
from epochcost.frameworks import memory
from epochcost.frameworks.registry import FRAMEWORKS, KEEP_MEMORY
from epochcost.measure.clock import Clock
from epochcost.models import Model, Split


@dataclass(frozen=True)
class Task:
    """What a framework is to train.

    recipe: the workload's entry in config/workloads.yaml.
    model: the workload's model.
    split: the samples that it is trained and validated on.
    seed: of all that is random.
    settings: those of the framework that differ from its own choice (`Framework.choices`), and what
        a variant changes: devices, precision.
    """

    recipe: dict[str, Any]
    model: Model
    split: Split
    seed: int
    settings: dict[str, Any]


class Framework(ABC):
    """How a framework trains a workload's model.

    To add one:

    - Write a file here with one class like this one. It is imported in the framework's own
      environment only, so it may import the framework at its top.
    - Give it an entry in registry.py: its name, its environment, the variants that it has, and the
      methods of a workload's model that it needs.
    - Pin its environment, unless an existing one contains it: envs/<environment>-cpu.txt and -gpu.
      A new family of environments is named in settings.py (`Pythons`), rules/environments.smk and
      the images of envs/, too.
    - Name it in the `frameworks` of the workloads that it trains (config/workloads.yaml).
    - Give it a name and its place in the order of tables (show/wording/names.py), and a mark in
      pictures (show/figures/style.py).

    VERSION: its name and version, and those of what it builds on.
    FAILURES: the exceptions that a failed training run can raise.
    """

    VERSION: ClassVar[str]
    FAILURES: ClassVar[tuple[type[Exception], ...]] = (RuntimeError, MemoryError, ArithmeticError)

    @abstractmethod
    def train(self, task: Task, clock: Clock) -> Callable[[np.ndarray], np.ndarray] | None:
        """Train to the end of the clock's extent; everything measured is left in the clock.

        Returns:
            The trained model as a function: a batch of samples -> logits. None if it is not kept.

        Raises:
            InputError: the workload's model does not fit its recipe.
        """

    @abstractmethod
    def device(self) -> str:
        """What it trains on: "gpu" or "cpu"."""

    @abstractmethod
    def threads(self) -> int | None:
        """Threads within one operation; 0 for one per core, None if unknown."""

    @abstractmethod
    def choices(self, recipe: dict[str, Any]) -> dict[str, list]:
        """Settings that do not change the mathematics: values by name, its own choice first."""

    def devices(self) -> int:
        """How many devices it can train one model on; more than 1 where it has such variants."""
        return 1

    def software(self) -> dict[str, Any]:
        """What a record says otherwise on software, where it trains in a Python of its own."""
        return {}


def load(name: str, settings: dict[str, Any] | None = None) -> Framework:
    """The framework called `name` (slow: it imports the framework).

    Args:
        settings: those that a framework reads when it is imported are set first.
    """
    prepare(settings or {})
    return plugins.the_one(_module(FRAMEWORKS[name].module), Framework)


def prepare(settings: dict[str, Any]) -> None:
    """Set what a framework reads when it is imported."""
    if not settings.get("onednn", True):
        os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    if settings.get(KEEP_MEMORY):
        memory.keep()
    if settings.get("devices", 1) > 1:
        # Without a GPU, JAX treats the processor as this many devices.
        more = f"--xla_force_host_platform_device_count={settings['devices']}"
        os.environ["XLA_FLAGS"] = f"{os.getenv('XLA_FLAGS', '')} {more}".strip()
    if compiles(settings):
        # PyTorch would find what earlier trainings compiled; a machine that is new has nothing.
        for kind in ("TORCHINDUCTOR", "TRITON"):
            os.environ[f"{kind}_CACHE_DIR"] = _folder_of_this_process()


def compiles(settings: dict[str, Any]) -> bool:
    """Whether the model is compiled on top of what a framework does by default."""
    return any(
        settings.get(name, "auto") not in (False, "auto") for name in ("compile", "jit_compile")
    )


def _module(place: str) -> ModuleType:
    """A module of this package by its name, or another by its path."""
    if not place.endswith(".py"):
        return importlib.import_module(place)
    name = Path(place).stem
    specification = importlib.util.spec_from_file_location(name, place)
    module = sys.modules[name] = importlib.util.module_from_spec(specification)
    sys.path.insert(0, str(Path(place).parent))  # for what stands beside it
    specification.loader.exec_module(module)
    return module


def _folder_of_this_process() -> str:
    """A new, empty folder that goes when this process ends."""
    folder = tempfile.mkdtemp(prefix="epochcost-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
