"""Nietzsche: one long text; every third window of 40 characters, and the character after it."""

from collections import Counter
from pathlib import Path

import numpy as np

from epochcost.data.dataset import DataSet
from epochcost.errors import InputError

WINDOW, STEP = 40, 3
_LENGTH, _ALPHABET = 600_893, 57
_MOST_CHARACTERS = 256  # that fit into uint8


class Nietzsche(DataSet):
    """One text file."""

    def prepare(self, paths: dict[str, Path], skipped: Counter) -> dict[str, np.ndarray]:
        """Read the text, converted to lower case.

        Returns:
            text (600893,) uint8, each character as its place in the alphabet, and alphabet (57,)
            uint32, the sorted code points. `windows` turns a text into what a model trains on.
        """
        path = paths["nietzsche.txt"]
        try:
            text = path.read_text(encoding="utf-8").lower()
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is not UTF-8 (byte {error.start})") from None
        if "\0" in text:
            raise InputError(f"{path} has a NUL byte (character {text.index(chr(0))})")
        points = np.array([ord(character) for character in text], np.uint32)
        alphabet, codes = np.unique(points, return_inverse=True)
        if len(text) <= WINDOW:
            raise InputError(
                f"{path} has {len(text)} characters, no more than one window of {WINDOW}"
            )
        if len(alphabet) > _MOST_CHARACTERS:
            raise InputError(
                f"{path} has {len(alphabet)} different characters, too many for one text"
            )
        return {"text": codes.astype(np.uint8), "alphabet": alphabet}

    def synthetic(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """A text of the same length and alphabet size; letters tend to have the same successor."""
        step = rng.choice([1, 2, 3, 7], size=_LENGTH, p=[0.7, 0.15, 0.1, 0.05])
        text = np.cumsum(step) % _ALPHABET
        return {
            "text": text.astype(np.uint8),
            "alphabet": np.arange(97, 97 + _ALPHABET, dtype=np.uint32),
        }


def windows(text: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The training pairs of a text, as a view.

    Returns:
        x (200285, 40), a view into `text`, and y (200285,), the character after each window.
    """
    starts = np.lib.stride_tricks.sliding_window_view(text[:-1], WINDOW)[::STEP]
    return starts, text[WINDOW::STEP][: len(starts)]
