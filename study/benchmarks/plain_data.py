"""The arrays that the plain scripts train on. Reading them is outside of the clock."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Data(NamedTuple):
    """Inputs and labels; no validation for nietzsche_lstm; `vocabulary` is 0 for pictures."""

    x: np.ndarray
    y: np.ndarray
    x_validation: np.ndarray | None
    y_validation: np.ndarray | None
    vocabulary: int


def read(workload: str, folder: Path) -> Data:
    """All samples."""
    if workload == "nietzsche_lstm":
        x, y = windows(folder)
        return Data(x, y, None, None, len(np.load(folder / "alphabet.npy")))
    return Data(
        inputs(workload, folder, "train"),
        np.load(folder / "y_train.npy"),
        inputs(workload, folder, "validation"),
        np.load(folder / "y_validation.npy"),
        vocabulary(workload, folder),
    )


def short(samples: int, batch: int, steps: int | None) -> int:
    """The samples of a pass of so many steps, whose last batch is as large as that of a whole one.

    Args:
        steps: None for all.
    """
    whole = math.ceil(samples / batch)
    return samples - (whole - min(steps or whole, whole)) * batch


def inputs(workload: str, folder: Path, part: str) -> np.ndarray:
    """The inputs of a part, `train` or `validation`."""
    match workload:
        case "imdb_fasttext":
            return texts(folder, part, length=400, bigrams=True)
        case "imdb_bilstm":
            return texts(folder, part, length=100, bigrams=False)
        case "twitter_bilstm":
            longest = int(np.load(folder / "longest.npy"))
            return texts(folder, part, longest, bigrams=False, zeros="behind")
    pictures = np.load(folder / f"x_{part}.npy").astype("float32") / 255
    match workload:
        case "mnist_mlp":
            return pictures.reshape(-1, 784)
        case "mnist_cnn":
            return pictures.reshape(-1, 28, 28, 1)
    return pictures


def texts(
    folder: Path, part: str, length: int, bigrams: bool, zeros: str = "in front"
) -> np.ndarray:
    """The last `length` words (and bi-grams) of each text; shorter ones are filled with zeros."""
    kinds = [(np.load(folder / f"words_{part}.npy"), np.load(folder / f"ends_{part}.npy"))]
    if bigrams:
        kinds.append(
            (np.load(folder / f"bigrams_{part}.npy"), np.load(folder / f"bigram_ends_{part}.npy"))
        )
    count = len(kinds[0][1])
    rows = np.zeros((count, length), "int32")
    for row in range(count):
        pieces = [tokens[ends[row - 1] if row else 0 : ends[row]] for tokens, ends in kinds]
        kept = np.concatenate(pieces)[-length:]
        if zeros == "behind":
            rows[row, : len(kept)] = kept
        else:
            rows[row, length - len(kept) :] = kept
    return rows


def windows(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Windows of 40 characters, every third one, and the character after each."""
    text = np.load(folder / "text.npy")
    starts = range(0, len(text) - 40, 3)
    return np.array([text[i : i + 40] for i in starts]), np.array([text[i + 40] for i in starts])


def vocabulary(workload: str, folder: Path) -> int:
    """How many different words there are; 0 for pictures."""
    match workload:
        case "imdb_fasttext":
            return int(np.load(folder / "vocabulary_with_bigrams.npy"))
        case "imdb_bilstm" | "twitter_bilstm":
            return int(np.load(folder / "vocabulary.npy"))
    return 0
