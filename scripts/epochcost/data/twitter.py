"""Tweets, happy or not, as word numbers: Sentiment140, Thinknook's edition, or two text files.

The text is cleaned and split as in the study of 2018 (user names and links are one word each;
letters, digits and a few marks; no character more than twice in a row; marks and the ends of
contractions are words of their own), every word has a number, and one tweet in ten, drawn at
random, is held out. Files are read as streams: all the tweets need less than 2 GiB.
"""

import csv
import io
import re
import zipfile
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import numpy as np

from epochcost.data.corrupt import NOT_WHOLE, decoded
from epochcost.data.dataset import DataSet
from epochcost.data.sequences import ranges
from epochcost.data.synthetic import mislabel
from epochcost.errors import InputError

_SENTIMENT140 = "training.1600000.processed.noemoticon.csv"
_POLARITIES = {"0": 0, "4": 1}
_THINKNOOK = re.compile(rb"\d+,(?:([01]),[^,]*|[^,]*,(?:Sentiment140|Kaggle)),(.*)", re.DOTALL)
_THINKNOOK_HEADER = b"ItemID,Sentiment,SentimentSource,SentimentText"
# What the study (Manne 2018) replaces before it splits, in this order. Its white space is ASCII's.
_REPLACED = [
    (re.compile(r"\S*@\S*", re.ASCII), "NAME"),
    (re.compile(r"\S*http://\S*", re.ASCII), "LINK"),
    (re.compile("#"), " HASHTAG "),
    (re.compile("&(?:quot|amp|gt|lt);"), " "),
]
_NO_MARK = re.compile(r"[^A-Za-z0-9(),!?'`]")
_MORE_THAN_TWICE = re.compile(r"(.)\1+")
_SPLIT_OFF = re.compile(r"(n't|'(?:s|ve|re|d|ll)|[(),!?])")
# Generated data take these from the study (Manne 2018) and the longest of 100,000 real tweets.
TWEETS, _VOCABULARY, _LONGEST = 1_578_627, 274_562, 117
_HELD_OUT = 0.1
_SEED = 123


class Twitter(DataSet):
    """Sentiment140, Thinknook's edition, or two text files."""

    def prepare(self, paths: dict[str, Path], skipped: Counter) -> dict[str, np.ndarray]:
        """Read, clean, number, shuffle and split the tweets.

        Tweets that are not in their file's encoding, hold NUL bytes, have no text or belong to
        neither class are left out and counted in `skipped`. A tweet that cleaning leaves without
        words is kept, as in the study: as one empty word.

        Returns:
            words_<part>, the numbers of all tweets one after the other, ends_<part> and y_<part>
            (1 is happy) for the parts train and validation; vocabulary, how many numbers there are,
            including 0 for padding; longest, the number of words in the longest tweet.
        """
        numbers: dict[str, int] = {}
        tokens, lengths, labels = array("i"), array("i"), array("b")
        for label, text in tweets_of(paths, skipped):
            words = clean(text)
            tokens.extend(numbers.setdefault(word, len(numbers)) for word in words)
            lengths.append(len(words))
            labels.append(label)
        if len(set(labels)) < 2:
            raise InputError(f"{', '.join(map(str, paths.values()))}: no tweets of both classes")
        words = _by_frequency(np.frombuffer(tokens, np.int32), list(numbers))
        return _split(
            words,
            np.frombuffer(lengths, np.int32),
            np.frombuffer(labels, np.uint8),
            len(numbers) + 1,
        )

    def synthetic(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """As many tweets and words as the study had; they follow Zipf's law and lean to a class."""
        labels = rng.integers(0, 2, TWEETS, dtype=np.uint8)
        lengths = np.clip(rng.normal(15, 7, TWEETS).astype(np.int32), 1, _LONGEST)
        lengths[0] = _LONGEST
        total = int(lengths.sum())
        words = rng.zipf(1.4, total) % (_VOCABULARY - 2) + 1
        leaning = rng.random(total) < 0.2
        words = np.where(leaning, words // 2 * 2 + np.repeat(labels, lengths), words)
        words = np.maximum(words, 1).astype(np.int32)
        return _split(words, lengths, mislabel(rng, labels, 2), _VOCABULARY)


def clean(text: str) -> list[str]:
    """The words of a tweet, in lower case; of a tweet without any, one empty word."""
    for pattern, word in _REPLACED:
        text = pattern.sub(word, text)
    text = _MORE_THAN_TWICE.sub(r"\1\1", _NO_MARK.sub(" ", text))

    def apart(match: re.Match) -> str:
        return f" {match[0]} " if len(match[0]) == 1 else f" {match[0]}"

    return _SPLIT_OFF.sub(apart, text).lower().split() or [""]


def tweets_of(paths: dict[str, Path], skipped: Counter) -> Iterator[tuple[int, str]]:
    """(class, text) of each tweet that can be read."""
    if set(paths) == {"negative.txt", "positive.txt"}:
        for label, name in enumerate(["negative.txt", "positive.txt"]):
            with open(paths[name], "rb") as file:
                yield from _readable(((label, line) for line in file), skipped)
        return
    if len(paths) > 1:
        raise InputError(f"{', '.join(paths)}: tweets are in one table, or one text file per class")
    (path,) = paths.values()
    if path.suffix == ".csv":
        with open(path, "rb") as file:
            yield from _of_table(path.name, file, path, skipped)
        return
    try:
        with zipfile.ZipFile(path) as archive:
            tables = [name for name in archive.namelist() if name.endswith(".csv")]
            if not tables:
                raise InputError(f"{path} holds no table of tweets")
            name = next((name for name in tables if name.endswith(_SENTIMENT140)), tables[0])
            with archive.open(name) as file:
                yield from _of_table(name, file, path, skipped)
    except NOT_WHOLE as error:
        raise InputError(f"{path} is not a whole zip archive: {error}") from None


def _of_table(
    name: str, file: IO[bytes], path: Path, skipped: Counter
) -> Iterator[tuple[int, str]]:
    if name.endswith(_SENTIMENT140):
        yield from _sentiment140(file, skipped)
    else:
        yield from _readable(_thinknook(file, path), skipped)


def _readable(
    tweets: Iterable[tuple[int | None, bytes]], skipped: Counter
) -> Iterator[tuple[int, str]]:
    for label, content in tweets:
        if label is None:
            skipped["no tweet of the two classes"] += 1
            continue
        text = decoded(content, skipped)
        if text is None:
            continue
        if not text.strip():
            skipped["no text"] += 1
            continue
        yield label, text


def _sentiment140(file: IO[bytes], skipped: Counter) -> Iterator[tuple[int, str]]:
    """Rows of polarity, id, date, query, user, text; quoted, in Latin-1."""
    lines = io.TextIOWrapper(file, encoding="latin-1", newline="")
    for row in _rows(csv.reader(lines), skipped):
        if len(row) != 6 or row[0] not in _POLARITIES:
            # A quote that is not closed joins a row to the next one, at a cell of each.
            skipped["no tweet of the two classes"] += max(1, (len(row) - 1) // 5)
        elif "\0" in row[5]:
            skipped["NUL bytes"] += 1
        elif not row[5].strip():
            skipped["no text"] += 1
        else:
            yield _POLARITIES[row[0]], row[5]


def _rows(reader, skipped: Counter) -> Iterator[list[str]]:
    """The rows of a table; a cell that does not end is left out with all that it swallowed."""
    while True:
        begin = reader.line_num
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            skipped["a cell without an end"] += reader.line_num - begin  # each line is a tweet


def _thinknook(file: IO[bytes], path: Path) -> Iterator[tuple[int | None, bytes]]:
    """Rows of number, class, source, text; the text's quotes and commas are not escaped.

    A line that does not start like a row continues the tweet before it; without one, or with a row
    of neither class, the class is None.
    """
    header = file.readline().strip().removeprefix(b"\xef\xbb\xbf")
    if header != _THINKNOOK_HEADER:
        raise InputError(f"{path} has neither Sentiment140's nor Thinknook's table of tweets")
    row = None
    for line in file:
        begin = _THINKNOOK.fullmatch(line)
        if row and not begin:
            if row[0] is not None:
                row = (row[0], row[1] + line)
            continue
        if row:
            yield row
        row = (int(begin[1]), begin[2]) if begin and begin[1] else (None, b"")
    if row:
        yield row


def _by_frequency(tokens: np.ndarray, words: list[str]) -> np.ndarray:
    """Tokens numbered by frequency from 1, words of the same frequency alphabetically."""
    counts = np.bincount(tokens, minlength=len(words))
    order = sorted(range(len(words)), key=lambda number: (-counts[number], words[number]))
    ranks = np.empty(len(words), np.int32)
    ranks[order] = np.arange(1, len(words) + 1)
    return ranks[tokens]


def _split(
    words: np.ndarray, lengths: np.ndarray, labels: np.ndarray, vocabulary: int
) -> dict[str, np.ndarray]:
    """The parts train and validation, in a random order that is always the same."""
    order = np.random.default_rng(_SEED).permutation(len(labels))
    held_out = int(_HELD_OUT * len(labels))
    parts = {
        "train": order[: len(order) - held_out],
        "validation": order[len(order) - held_out :],
    }
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    values = {}
    for part, chosen in parts.items():
        values[f"words_{part}"] = words[ranges(starts[chosen], lengths[chosen])]
        values[f"ends_{part}"] = np.cumsum(lengths[chosen], dtype=np.int64)
        values[f"y_{part}"] = labels[chosen]
    values["vocabulary"] = np.array(vocabulary)
    values["longest"] = np.array(lengths.max())
    return values
