"""What a model is trained and validated on, and what is wrong with it where something is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from epochcost.errors import InputError
from epochcost.models.recipes import own_parts


@dataclass(frozen=True)
class Split:
    """What a model is trained and validated on.

    x_train, x_validation: samples first; float32, uint8 for photographs, or integers for
        words and characters.
    y_train, y_validation: class numbers; for two classes, 0 and 1. For a loss of one's own, any
        numbers, samples first.
    vocabulary: for words and characters, how many different ones there are.
    alphabet: for characters, which ones.
    weights: a file of weights that the model starts from; None to start from random ones.

    For a recipe without validation, its two arrays are None.
    """

    x_train: np.ndarray
    y_train: np.ndarray
    x_validation: np.ndarray | None = None
    y_validation: np.ndarray | None = None
    vocabulary: int = 0
    alphabet: str = ""
    weights: Path | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one sample."""
        return self.x_train.shape[1:]

    @property
    def validation_samples(self) -> int:
        """How many samples the model is validated on; 0 if the recipe has no validation."""
        return 0 if self.x_validation is None else len(self.x_validation)


def check_split(split: Split, recipe: dict[str, Any]) -> None:
    """Refuse what a framework would fail on in the middle of a training, or not notice.

    Raises:
        InputError: it holds something else than arrays; there are no samples, or not as many
            labels; a label is no class number; it or a word is outside of its range; or accuracy on
            held-out data is wanted and there are none.
    """
    if not isinstance(split, Split):
        raise InputError(f"`inputs` gives a {type(split).__name__}, not a Split")
    for part in ("train", "validation"):
        x, y = (getattr(split, f"{name}_{part}") for name in "xy")
        for name, values in (("x", x), ("y", y)):
            may_lack = part == "validation" and values is None
            if not (may_lack or (isinstance(values, np.ndarray) and values.ndim)):
                kind = type(values).__name__
                raise InputError(f"{name}_{part} is no NumPy array of samples, but a {kind}")
        if (samples := _length(x)) != (labels := _length(y)):
            raise InputError(f"x_{part} has {samples} samples, y_{part} {labels}")
        if y is not None and y.ndim != 1 and "loss" not in own_parts(recipe):
            raise InputError(
                f"y_{part} has the shape {y.shape}; it holds class numbers, one per sample"
            )
    if not len(split.x_train):
        raise InputError("`inputs` gives nothing to train on")
    metric = recipe["quality"]["metric"]
    if metric.startswith("val_") and not split.validation_samples:
        raise InputError(
            f"its quality is judged by {metric}, and `inputs` gives nothing to validate on"
        )
    two = recipe["loss"] == "binary_crossentropy"
    classes = 2 if two else recipe["model"].get("classes", split.vocabulary)
    classes = None if "loss" in own_parts(recipe) else classes
    words = split.vocabulary if split.x_train.ndim == 2 else None  # and not pictures of them
    for name, below in (("y", classes), ("x", words)):
        for part in ("train", "validation"):
            values = getattr(split, f"{name}_{part}")
            if isinstance(below, int) and below and values is not None and values.size:
                _check_range(f"{name}_{part}", values, below)


def check_outputs(outputs: int, loss: str, labels: np.ndarray) -> None:
    """Refuse a number of outputs of a model that does not fit its loss and its labels.

    Raises:
        InputError: it does not.
    """
    if loss == "binary_crossentropy":
        if outputs != 1:
            raise InputError(f"the model has {outputs} outputs; {loss} wants 1, a logit")
    elif outputs <= labels.max():
        raise InputError(f"the model has {outputs} outputs, and a label is {labels.max()}")


def _length(values: np.ndarray | None) -> int:
    return 0 if values is None else len(values)


def _check_range(name: str, values: np.ndarray, below: int) -> None:
    low, high = values.min(), values.max()
    if low < 0 or high > below - 1:
        raise InputError(f"{name} holds {low} to {high}; it can be 0 to {below - 1}")


def from_zero_to_one(pictures: np.ndarray) -> np.ndarray:
    """Bytes as float32 from 0 to 1, of the same shape; in one pass, with no second copy."""
    return np.divide(pictures, 255, dtype=np.float32)
