"""PyTorch settings that apply to the whole process."""

import torch

from epochcost.frameworks.registry import FLUSH_DENORMAL

# How many it takes by itself, one per physical core.
DEFAULT_THREADS = torch.get_num_threads()


def flush_choices() -> dict[str, list]:
    """Whether denormal numbers are flushed to 0, where PyTorch can do so on this processor."""
    return {FLUSH_DENORMAL: [False, True]} if torch.set_flush_denormal(False) else {}


def apply(settings: dict) -> None:
    """Apply them; call this before PyTorch does anything.

    PyTorch tells only one thread to flush denormal numbers to 0. Others inherit this from the
    thread that starts them, when they are first needed; those that already exist are not told.
    """
    torch.set_flush_denormal(settings.get(FLUSH_DENORMAL, False))
    if settings.get("threads"):
        torch.set_num_threads(settings["threads"])
    torch.backends.mkldnn.enabled = settings.get("onednn", True)
