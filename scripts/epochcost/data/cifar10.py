"""CIFAR-10: 50,000 + 10,000 colour pictures of 32 x 32, in ten classes (binary form)."""

import tarfile
from collections import Counter
from pathlib import Path

import numpy as np

from epochcost.data.corrupt import NOT_WHOLE, read_to_end
from epochcost.data.dataset import DataSet
from epochcost.data.synthetic import mislabel
from epochcost.errors import InputError

_FOLDER = "cifar-10-batches-bin"
TRAIN_FILES = [f"{_FOLDER}/data_batch_{number}.bin" for number in range(1, 6)]
VALIDATION_FILE = f"{_FOLDER}/test_batch.bin"
_ARCHIVE = "cifar-10-binary.tar.gz"
TRAIN, VALIDATION = 50_000, 10_000
_RECORD = 1 + 3 * 32 * 32  # a label byte, then the red, green and blue plane


class Cifar10(DataSet):
    """The binary batches."""

    def prepare(self, paths: dict[str, Path], skipped: Counter) -> dict[str, np.ndarray]:
        """Read the binary batches, from the archive or from single files.

        Returns:
            x_train (50000, 32, 32, 3), x_validation (10000, 32, 32, 3), y_train and y_validation,
            uint8.
        """
        wanted = [*TRAIN_FILES, VALIDATION_FILE]
        if _ARCHIVE in paths:
            batches = _members(paths[_ARCHIVE], wanted)
        else:
            batches = {name: paths[name].read_bytes() for name in wanted}
        x_train, y_train = _pictures(b"".join(batches[name] for name in TRAIN_FILES))
        x_validation, y_validation = _pictures(batches[VALIDATION_FILE])
        return {
            "x_train": x_train,
            "y_train": y_train,
            "x_validation": x_validation,
            "y_validation": y_validation,
        }

    def synthetic(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Arrays of CIFAR-10's shape and type: a coarse colour pattern per class, with noise."""
        patterns = np.kron(rng.integers(0, 150, (10, 8, 8, 3)), np.ones((1, 4, 4, 1))).astype(
            np.uint8
        )
        values = {}
        for split, count in (("train", TRAIN), ("validation", VALIDATION)):
            labels = rng.integers(0, 10, count, dtype=np.uint8)
            pictures = rng.integers(0, 100, (count, 32, 32, 3), dtype=np.uint8)
            pictures += patterns[labels]
            values |= {f"x_{split}": pictures, f"y_{split}": mislabel(rng, labels, 10)}
        return values


def _members(archive: Path, wanted: list[str]) -> dict[str, bytes]:
    """The wanted members, read into memory: nothing is unpacked to disk."""
    found = {}
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.isfile() and member.name in wanted:
                    found[member.name] = tar.extractfile(member).read()
            read_to_end(tar)
    except NOT_WHOLE as error:
        raise InputError(f"{archive} is not a whole tar archive: {error}") from None
    for name in wanted:
        if name not in found:
            raise InputError(f"{archive} does not hold {name}")
    return found


def _pictures(batch: bytes) -> tuple[np.ndarray, np.ndarray]:
    if len(batch) % _RECORD:
        raise InputError(f"a CIFAR-10 batch of {len(batch)} bytes is not whole")
    records = np.frombuffer(batch, np.uint8).reshape(-1, _RECORD)
    planes = records[:, 1:].reshape(-1, 3, 32, 32)
    return np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), records[:, 0].copy()
