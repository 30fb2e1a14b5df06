"""Cats and dogs: 25,000 pictures, decoded once to 224 x 224.

The shorter side is scaled to 224 and the centre cropped, as validation pictures are treated.
The whole set as uint8 takes 3.8 GB on disk and, while it is prepared, in memory.
"""

import io
import re
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

from epochcost.data.corrupt import NOT_WHOLE
from epochcost.data.dataset import DataSet
from epochcost.errors import InputError

SIDE = 224
_CLASSES = ("cat", "dog")
# fast.ai's layout has its own split; in Microsoft's, the last 1,000 numbers of each class are
# held out.
_FASTAI = re.compile(r"dogscats/(train|valid)/(cat|dog)s/(?:cat|dog)\.(\d+)\.jpg")
_MICROSOFT = re.compile(r"PetImages/(Cat|Dog)/(\d+)\.jpg")
_FIRST_HELD_OUT = 11_500
# Generated pictures.
TRAIN, VALIDATION = 800, 200


class CatsVsDogs(DataSet):
    """Microsoft's archive, or fast.ai's."""

    def prepare(self, paths: dict[str, Path], skipped: Counter) -> dict[str, np.ndarray]:
        """Decode the pictures in the archive, in the order of their numbers.

        Pictures that cannot be decoded are left out and counted in `skipped`.

        Returns:
            x_train (pictures, 224, 224, 3), x_validation, y_train (1 is a dog) and y_validation,
            uint8.
        """
        (path,) = paths.values()
        try:
            with zipfile.ZipFile(path) as archive:
                values = {}
                for part, members in _members(archive.namelist()).items():
                    pictures, labels = _decode_all(archive, members, skipped)
                    _refuse_empty_classes(path, part, labels)
                    values |= {f"x_{part}": pictures, f"y_{part}": labels}
                return values
        except NOT_WHOLE as error:
            raise InputError(f"{path} is not a whole zip archive: {error}") from None

    def synthetic(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """800 + 200 pictures (not 25,000, which would be 3.8 GB): a coarse pattern per class."""
        patterns = rng.integers(0, 150, (2, 7, 7, 3), dtype=np.uint8).repeat(32, 1).repeat(32, 2)
        values = {}
        for part, count in (("train", TRAIN), ("validation", VALIDATION)):
            labels = rng.integers(0, 2, count, dtype=np.uint8)
            pictures = rng.integers(0, 100, (count, SIDE, SIDE, 3), dtype=np.uint8)
            pictures += patterns[labels]
            values |= {f"x_{part}": pictures, f"y_{part}": labels}
        return values


def _members(names: list[str]) -> dict[str, list[tuple[int, int, str]]]:
    """(number, class, name) of each picture by part, sorted."""
    found = {"train": [], "validation": []}
    for name in names:
        if match := _FASTAI.fullmatch(name):
            part = "train" if match[1] == "train" else "validation"
            found[part].append((int(match[3]), _CLASSES.index(match[2]), name))
        elif match := _MICROSOFT.fullmatch(name):
            number = int(match[2])
            part = "train" if number < _FIRST_HELD_OUT else "validation"
            found[part].append((number, _CLASSES.index(match[1].lower()), name))
    return {part: sorted(pictures) for part, pictures in found.items()}


def _refuse_empty_classes(path: Path, part: str, labels: np.ndarray) -> None:
    for number, name in enumerate(_CLASSES):
        if number not in labels:
            raise InputError(f"{path} holds no pictures of {name}s for {part}")


def _decode_all(
    archive: zipfile.ZipFile, members: list[tuple[int, int, str]], skipped: Counter
) -> tuple[np.ndarray, np.ndarray]:
    """The pictures that can be decoded, and their labels."""
    pictures = np.empty((len(members), SIDE, SIDE, 3), np.uint8)
    labels = []
    for _, label, name in members:
        picture = _decode(archive, name)
        if picture is None:
            skipped["not a whole picture"] += 1
        else:
            pictures[len(labels)] = picture
            labels.append(label)
    return pictures[: len(labels)], np.array(labels, np.uint8)


def _decode(archive: zipfile.ZipFile, name: str) -> np.ndarray | None:
    """A picture with its shorter side scaled to 224 and its centre cropped; None if damaged."""
    from PIL import Image, ImageOps

    try:
        content = archive.read(name)
    except NOT_WHOLE:
        return None
    try:
        with Image.open(io.BytesIO(content)) as picture:
            return np.asarray(ImageOps.fit(picture.convert("RGB"), (SIDE, SIDE)))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None
