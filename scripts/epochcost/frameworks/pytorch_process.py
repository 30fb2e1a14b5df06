"""PyTorch settings that apply to the whole process."""

import torch


def apply(settings: dict) -> None:
    """Apply them; call this before PyTorch does anything.

    PyTorch tells only one thread to flush denormal numbers to 0. Others inherit this from the
    thread that starts them, when they are first needed; those that already exist are not told.
    """
    torch.set_flush_denormal(settings.get("flush_denormal", False))
    if settings.get("threads"):
        torch.set_num_threads(settings["threads"])
    torch.backends.mkldnn.enabled = settings.get("onednn", True)
