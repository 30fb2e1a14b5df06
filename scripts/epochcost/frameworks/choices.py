"""Settings that several frameworks have, as far as they count on this machine."""

from epochcost.errors import InputError
from epochcost.frameworks import memory
from epochcost.frameworks.registry import FLUSH_DENORMAL, KEEP_MEMORY
from epochcost.measure import machine

_OF_PROCESSOR = (KEEP_MEMORY, FLUSH_DENORMAL, "threads", "onednn")


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
