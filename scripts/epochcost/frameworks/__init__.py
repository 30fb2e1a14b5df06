"""The frameworks: one module for each, imported only in its own environment.

A framework's module has

    VERSION             its name and version, and those of what it builds on
    FAILURES            the exceptions that a failed training run can raise
    device()            -> "gpu" or "cpu", what it trains on
    threads()           -> threads within one operation; 0 for one per core, None if unknown
    choices(recipe)     -> the settings that do not change the mathematics: name -> values
    train(recipe, definition, split, clock, seed, settings)
                        -> the trained model as a function: samples -> logits (None: not kept)

and, where it can train one model on several devices (variants.DEVICES),

    devices()           -> how many at most

`definition` is the workload's module, `split` what it made of the arrays (workloads/__init__.py).
"""

import atexit
import importlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from types import ModuleType

from epochcost.errors import InputError
from epochcost.frameworks import memory
from epochcost.frameworks.variants import BFLOAT16, DEFAULT, DEVICES, NO_ONEDNN, TUNED, devices_of
from epochcost.measure import machine

# Without the first, a process may be slow or fast, depending on what it freed before. The second
# matters once Adam's moments of unused weights have decayed, after hundreds of steps.
KEEP_MEMORY, FLUSH_DENORMAL = "keep_memory", "flush_denormal"
_OF_PROCESSOR = (KEEP_MEMORY, FLUSH_DENORMAL, "threads", "onednn")


@dataclass(frozen=True)
class Framework:
    """A framework that epochcost can train with.

    module: the module of this package that drives it.
    environment: the family of environments in envs/ that contains it.
    needs: the functions of a workload's module that it calls.
    late: settings that a search tries only in whole epochs: a quick run may not show their effect,
        or show one by chance.
    variants: those that it has besides default and tuned; DEVICES for devices_2, devices_3, ...
    legacy: it is available on request; `make legacy` creates its environment.
    """

    module: str
    environment: str
    needs: tuple[str, ...] = ("inputs", "keras_model")
    late: tuple[str, ...] = (KEEP_MEMORY,)
    variants: tuple[str, ...] = ()
    legacy: bool = False


FRAMEWORKS = {
    "keras-tensorflow": Framework(
        module="keras_tensorflow",
        environment="tensorflow",
        late=(KEEP_MEMORY, "input_autotuning"),
        variants=(NO_ONEDNN, BFLOAT16, DEVICES),
    ),
    "keras-torch": Framework(
        module="keras_torch",
        environment="torch",
        late=(KEEP_MEMORY, FLUSH_DENORMAL),
        variants=(NO_ONEDNN, BFLOAT16),
    ),
    "keras-jax": Framework(module="keras_jax", environment="jax", variants=(BFLOAT16, DEVICES)),
    "pytorch": Framework(
        module="pytorch",
        environment="torch",
        needs=("inputs", "torch_model"),
        late=(KEEP_MEMORY, FLUSH_DENORMAL),
        variants=(NO_ONEDNN, BFLOAT16, DEVICES),
    ),
    "fastai": Framework(
        module="fastai",
        environment="torch",
        needs=("inputs", "torch_model"),
        late=(KEEP_MEMORY, FLUSH_DENORMAL),
        variants=(NO_ONEDNN,),
    ),
    "keras2-tensorflow1": Framework(
        module="keras2_tensorflow1", environment="keras2", needs=("inputs",), legacy=True
    ),
    "keras2-cntk": Framework(
        module="keras2_cntk", environment="keras2", needs=("inputs",), legacy=True
    ),
}


def with_variant(variant: str, names: list[str]) -> list[str]:
    """The frameworks in `names` that have a variant."""
    kind = DEVICES if devices_of(variant) > 1 else variant
    return [name for name in names if kind in (DEFAULT, TUNED, *FRAMEWORKS[name].variants)]


def load(name: str, settings: dict | None = None) -> ModuleType:
    """Import the module that drives framework `name` (slow: it imports the framework).

    Args:
        settings: those that a framework reads when it is imported are set first.
    """
    settings = settings or {}
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
    return importlib.import_module(f"epochcost.frameworks.{FRAMEWORKS[name].module}")


def compiles(settings: dict) -> bool:
    """Whether the model is compiled on top of what a framework does by default."""
    return any(
        settings.get(name, "auto") not in (False, "auto") for name in ("compile", "jit_compile")
    )


def _folder_of_this_process() -> str:
    """A new, empty folder that goes when this process ends."""
    folder = tempfile.mkdtemp(prefix="epochcost-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def kind_of(device: str) -> str:
    """What a record calls a framework's device: "gpu" or "cpu".

    Raises:
        InputError: it is of another kind (such as a TPU, or the GPU of a Mac), which a record could
            not describe.
    """
    known = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu"}
    if device not in known:
        raise InputError(f"it would train on '{device}'; only NVIDIA GPUs and CPUs are measured")
    return known[device]


def of_device(device: str, known: dict[str, list]) -> dict[str, list]:
    """Those of some choices that count on a device: a GPU does not heed the processor's."""
    if device == "cpu":
        return known
    return {name: values for name, values in known.items() if name not in _OF_PROCESSOR}


def memory_choices() -> dict[str, list]:
    """Whether memory that a step frees is kept for the next one; by default it is not."""
    return {KEEP_MEMORY: [False, True]} if memory.can_be_kept() else {}


def thread_choices(default: int) -> dict[str, list]:
    """Threads within one operation: 0 (left to the framework), one per core, or half as many.

    Args:
        default: what the framework takes if it is left to it.
    """
    cores = machine.usable_cores()
    others = [threads for threads in (cores, cores // 2) if threads not in (0, default)]
    return {"threads": [0, *others]} if others else {}
