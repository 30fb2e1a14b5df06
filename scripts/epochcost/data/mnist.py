"""MNIST: 60,000 + 10,000 pictures of digits, 28 x 28 grey values."""

import gzip
from collections import Counter
from pathlib import Path

import numpy as np

from epochcost.data.corrupt import NOT_WHOLE
from epochcost.data.dataset import DataSet
from epochcost.data.synthetic import mislabel
from epochcost.errors import InputError

_IMAGES, _LABELS = 2051, 2049  # magic numbers of the IDX format
TRAIN, VALIDATION, _SIDE, _CLASSES = 60_000, 10_000, 28, 10


class Mnist(DataSet):
    """The four IDX files."""

    def prepare(self, paths: dict[str, Path], skipped: Counter) -> dict[str, np.ndarray]:
        """Read the four IDX files.

        Returns:
            x_train (60000, 28, 28), x_validation (10000, 28, 28), y_train and y_validation, uint8.
        """
        values = {}
        for part, name in (("train", "train"), ("validation", "t10k")):
            pictures = paths[f"{name}-images-idx3-ubyte.gz"]
            x = _read_idx(pictures, _IMAGES)
            y = _read_idx(paths[f"{name}-labels-idx1-ubyte.gz"], _LABELS)
            if len(x) != len(y):
                raise InputError(f"{pictures} has {len(x)} pictures, and there are {len(y)} labels")
            values |= {f"x_{part}": x, f"y_{part}": y}
        return values

    def synthetic(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Arrays of MNIST's shape and type: a coarse shape per class, shifted and with noise."""
        coarse = rng.random((_CLASSES, 7, 7)) > 0.6
        shapes = np.kron(coarse, np.ones((4, 4))).astype(np.float32) * 160
        return {
            **_draw(rng, shapes, TRAIN, "train"),
            **_draw(rng, shapes, VALIDATION, "validation"),
        }


def _draw(
    rng: np.random.Generator, shapes: np.ndarray, count: int, split: str
) -> dict[str, np.ndarray]:
    labels = rng.integers(0, _CLASSES, count, dtype=np.uint8)
    pictures = rng.integers(0, 96, (count, _SIDE, _SIDE), dtype=np.uint8)
    pictures += shapes.astype(np.uint8)[labels]
    shift = rng.integers(-2, 3, count)
    for offset in range(-2, 3):
        chosen = shift == offset
        pictures[chosen] = np.roll(pictures[chosen], offset, axis=2)
    return {f"x_{split}": pictures, f"y_{split}": mislabel(rng, labels, _CLASSES)}


def _read_idx(path: Path, magic: int) -> np.ndarray:
    """An IDX file of unsigned bytes: magic number, one length per axis, then the values."""
    try:
        content = gzip.decompress(path.read_bytes())
    except NOT_WHOLE as error:
        raise InputError(f"{path} is not a whole gzip file: {error}") from None
    found, axes = int.from_bytes(content[:4]), magic % 256
    if found != magic:
        raise InputError(f"{path} is not the IDX file it should be (magic {found}, not {magic})")
    head = 4 + 4 * axes
    whole = len(content) >= head
    shape = np.frombuffer(content[4:head], ">u4") if whole else np.array([])
    if not whole or len(content) - head != shape.prod(dtype=np.int64):
        raise InputError(f"{path} does not hold as many values as it says")
    return np.frombuffer(content, np.uint8, offset=head).reshape(shape)
