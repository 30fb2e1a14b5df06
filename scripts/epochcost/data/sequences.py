"""Texts as numbers: all of them in one flat array, with the position where each one ends."""

import numpy as np

# Enough rows at a time to be fast, few enough to need little memory.
ROWS = 65_536


def padded(tokens: np.ndarray, ends: np.ndarray, length: int, zeros: str = "ahead") -> np.ndarray:
    """One row of `length` per text; a longer text keeps its end.

    Args:
        tokens: the numbers of all texts, one text after the other.
        ends: where each text ends in `tokens`.
        zeros: where a shorter text is padded, `ahead` of it or `behind` it.

    Returns:
        (texts, length), int32.
    """
    result = np.zeros((len(ends), length), np.int32)
    starts = np.concatenate([[0], ends[:-1]])
    places = np.arange(length)
    for first in range(0, len(ends), ROWS):
        rows = slice(first, first + ROWS)
        kept = np.minimum(ends[rows] - starts[rows], length)[:, np.newaxis]
        used = places >= length - kept if zeros == "ahead" else places < kept
        # Rows are read in order, and so are the tokens that they keep.
        sources = ranges(ends[rows] - kept[:, 0], kept[:, 0])
        result[rows][used] = tokens[sources]
    return result


def joined(*parts: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Several (tokens, ends) of the same texts as one: each text's parts one after the other."""
    lengths = [np.diff(ends, prepend=0) for _, ends in parts]
    ends = np.cumsum(sum(lengths))
    tokens = np.empty(ends[-1], np.result_type(*(tokens for tokens, _ in parts)))
    starts = ends - sum(lengths)
    for (part, _), counts in zip(parts, lengths, strict=True):
        tokens[ranges(starts, counts)] = part
        starts = starts + counts
    return tokens, ends


def ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """start, start + 1, ... of each range, one range after the other."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(counts.sum())
