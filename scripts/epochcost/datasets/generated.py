"""What generated data sets share."""

import numpy as np


def mislabel(rng: np.random.Generator, labels: np.ndarray, classes: int) -> np.ndarray:
    """Labels of which one in ten is drawn anew.

    Without errors a model learns generated data to a loss of 0, and vanishing gradients change
    the time of a step.
    """
    drawn = rng.integers(0, classes, len(labels), dtype=labels.dtype)
    return np.where(rng.random(len(labels)) < 0.1, drawn, labels)
