"""Keras 2 on TensorFlow 1."""

from epochcost.frameworks import keras2
from epochcost.frameworks.keras2 import FAILURES, choices, device, threads

__all__ = ["FAILURES", "SOFTWARE", "VERSION", "choices", "device", "threads", "train"]

SOFTWARE = keras2.software("tensorflow")
VERSION = keras2.version(SOFTWARE)


def train(recipe: dict, definition, split, clock, seed: int, settings: dict) -> None:
    """Train a workload; arguments as for `keras2.train`."""
    keras2.train("tensorflow", recipe, definition, split, clock, seed)
