"""Settings of PyTorch that concern its whole process."""

import torch


def apply(settings: dict) -> None:
    """Apply them; to be called before PyTorch does anything.

    PyTorch tells one thread to take the smallest numbers for 0. Its others do as the thread does
    that starts them, when they are first needed: of those that are there already none is told.
    """
    torch.set_flush_denormal(settings.get("flush_denormal", False))
    if settings.get("threads"):
        torch.set_num_threads(settings["threads"])
    torch.backends.mkldnn.enabled = settings.get("onednn", True)
