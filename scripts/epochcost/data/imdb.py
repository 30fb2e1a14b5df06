"""IMDb: 25,000 + 25,000 film reviews, good or bad, as word numbers by frequency.

Words are split as in the Keras data set of 2017: lower case, punctuation except the apostrophe
treated as spaces (so that the markup `<br />` leaves a word `br`), a number for the start of a
review and one for all words that are too rare for the 20,000 numbers.
"""

import re
import tarfile
from collections import Counter
from pathlib import Path

import numpy as np

from epochcost.data.corrupt import NOT_WHOLE, decoded, read_to_end
from epochcost.data.dataset import DataSet
from epochcost.data.synthetic import mislabel
from epochcost.errors import InputError

# 0 is for padding.
START, UNKNOWN, _FIRST_WORD, _NUMBERS = 1, 2, 3, 20_000
REVIEWS = 25_000
_MEMBER = re.compile(r"aclImdb/(train|test)/(neg|pos)/(\d+)_\d+\.txt")
_SPACES = str.maketrans({c: " " for c in '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'})


class Imdb(DataSet):
    """The archive of reviews."""

    def prepare(self, paths: dict[str, Path], skipped: Counter) -> dict[str, np.ndarray]:
        """Read the labelled reviews in the archive, in the order of their numbers.

        Reviews that are not UTF-8, hold NUL bytes or have no words are left out and counted in
        `skipped`.

        Returns:
            words_<part> and bigrams_<part>, the numbers of all reviews one after the other, with
            ends_<part> and bigram_ends_<part>; y_<part> (1 is good); vocabulary and
            vocabulary_with_bigrams, how many numbers there are. `part` is train or validation.
        """
        (path,) = paths.values()
        reviews = _read(path, skipped)
        texts = {part: [words for _, words in reviews[part]] for part in reviews}
        labels = {part: [label for label, _ in reviews[part]] for part in reviews}
        for part, found in labels.items():
            if set(found) != {0, 1}:
                raise InputError(f"{path} does not hold good and bad reviews of its {part} part")
        numbers = _number_words(texts["train"])
        return {
            **_numbered(texts, numbers),
            **{f"y_{part}": np.array(labels[part], np.uint8) for part in labels},
        }

    def synthetic(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Reviews of about IMDb's lengths; words follow Zipf's law, and half lean to each class."""
        values = {}
        for part in ("train", "validation"):
            labels = rng.integers(0, 2, REVIEWS, dtype=np.uint8)
            lengths = np.clip(rng.lognormal(5.2, 0.65, REVIEWS).astype(int), 12, 2400)
            ends = np.cumsum(lengths)
            words = rng.zipf(1.24, ends[-1]) % (_NUMBERS - _FIRST_WORD) + _FIRST_WORD
            # Odd numbers are a little more frequent in good reviews, even ones in bad reviews.
            leaning = rng.random(ends[-1]) < 0.05
            side = np.repeat(labels, lengths)
            words = np.where(leaning & (words < _NUMBERS - 1), words // 2 * 2 + side, words)
            words[ends - lengths] = START
            values |= {
                f"words_{part}": np.minimum(words, _NUMBERS - 1).astype(np.uint16),
                f"ends_{part}": ends,
                f"y_{part}": mislabel(rng, labels, 2),
            }
        return _with_bigrams(values)


def _read(path: Path, skipped: Counter) -> dict[str, list[tuple[int, list[str]]]]:
    """(label, words) of each review by part; the archive is read once and never unpacked."""
    found = {"train": [], "validation": []}
    try:
        with tarfile.open(path) as tar:
            for member in tar:
                match = _MEMBER.fullmatch(member.name)
                if not match or not member.isfile():
                    continue
                words = _words(tar.extractfile(member).read(), skipped)
                if words:
                    part = "train" if match[1] == "train" else "validation"
                    found[part].append((int(match[3]), int(match[2] == "pos"), words))
            read_to_end(tar)
    except NOT_WHOLE as error:
        raise InputError(f"{path} is not a whole tar archive: {error}") from None
    return {
        part: [(label, words) for _, label, words in sorted(reviews, key=lambda r: r[:2])]
        for part, reviews in found.items()
    }


def _words(content: bytes, skipped: Counter) -> list[str]:
    text = decoded(content, skipped)
    if text is None:
        return []
    words = text.lower().translate(_SPACES).split()
    if not words:
        skipped["no words"] += 1
    return words


def _number_words(texts: list[list[str]]) -> dict[str, int]:
    """Numbers of the most frequent words; words of the same frequency alphabetically."""
    counts = Counter(word for words in texts for word in words)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: _FIRST_WORD + rank for rank, word in enumerate(ranked[: _NUMBERS - _FIRST_WORD])}


def _numbered(texts: dict[str, list[list[str]]], numbers: dict[str, int]) -> dict[str, np.ndarray]:
    values = {}
    for part, reviews in texts.items():
        flat = []
        for words in reviews:
            flat.append(START)
            flat.extend(numbers.get(word, UNKNOWN) for word in words)
        values[f"words_{part}"] = np.array(flat, np.uint16)
        values[f"ends_{part}"] = np.cumsum([len(words) + 1 for words in reviews])
    return _with_bigrams(values)


def _with_bigrams(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays with the bi-grams of each review added, if the training reviews have them."""
    pairs, kept = _pairs(values["words_train"], values["ends_train"])
    known = np.unique(pairs[kept])
    for part in ("train", "validation"):
        ends = values[f"ends_{part}"]
        pairs, kept = _pairs(values[f"words_{part}"], ends)
        places = np.minimum(np.searchsorted(known, pairs), len(known) - 1)
        kept &= known[places] == pairs
        values[f"bigrams_{part}"] = (_NUMBERS + places[kept]).astype(np.int32)
        values[f"bigram_ends_{part}"] = np.cumsum(kept)[ends - 1]
    values["vocabulary"] = np.array(_NUMBERS)
    values["vocabulary_with_bigrams"] = np.array(_NUMBERS + len(known))
    return values


def _pairs(words: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each word and the one after it as one number, and which of these are within a review."""
    pairs = words.astype(np.int64) * _NUMBERS
    pairs[:-1] += words[1:]
    within = np.ones(len(words), bool)
    within[ends - 1] = False
    return pairs, within
