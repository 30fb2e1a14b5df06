"""Little data for trainings, in the form of each data set, and trainings that tests share."""

from functools import cache

import numpy as np
import pytest
from trainings import train

from epochcost.data import arrays


@pytest.fixture(scope="session")
def quick(pythons, few, tmp_path_factory):
    """Makes quick runs with given options; the record, made once for the same ones."""

    @cache
    def made(workload, framework, *options, data=few):
        path = tmp_path_factory.mktemp("run") / "r.json"
        return train(pythons[framework], workload, framework, data, path, *options)

    return made


def texts(rng, count: int, words: int, part: str) -> dict[str, np.ndarray]:
    """A few texts in which a word below the middle of the vocabulary means class 0."""
    labels = rng.integers(0, 2, count, dtype=np.uint8)
    lengths = rng.integers(5, 30, count)
    sides = np.repeat(labels, lengths)
    tokens = rng.integers(1, words // 2, lengths.sum()) + sides * (words // 2)
    return {
        f"words_{part}": tokens.astype(np.int32),
        f"ends_{part}": np.cumsum(lengths),
        f"y_{part}": labels,
    }


@pytest.fixture(scope="session")
def little_text(tmp_path_factory):
    """Folders of a few generated samples in the form of each data set of texts."""
    folder, rng = tmp_path_factory.mktemp("texts"), np.random.default_rng(3)
    parts = texts(rng, 960, 100, "train") | texts(rng, 320, 100, "validation")
    bigrams = {
        key.replace("words", "bigrams").replace("ends", "bigram_ends"): value
        for key, value in parts.items()
        if key[0] != "y"
    }
    sizes = {"vocabulary": np.array(100), "vocabulary_with_bigrams": np.array(100)}
    characters, alphabet = np.arange(4_003) % 13, np.arange(97, 110)
    for name, values in (
        ("imdb", parts | bigrams | sizes),
        ("twitter", parts | {"vocabulary": np.array(100), "longest": np.array(29)}),
        ("nietzsche", {"text": characters[:4_000].astype(np.uint8), "alphabet": alphabet}),
    ):
        arrays.save(folder / name, values, name, "synthetic", "synthetic", {}, {})
    # 1,321 windows, so that the last batch is odd.
    values = {"text": characters.astype(np.uint8), "alphabet": alphabet}
    arrays.save(folder / "odd", values, "nietzsche", "synthetic", "synthetic", {}, {})
    return folder


@pytest.fixture(scope="session")
def few_pictures(tmp_path_factory):
    """A folder of a few generated pictures of 224 x 224."""
    rng = np.random.default_rng(5)
    folder = tmp_path_factory.mktemp("pictures")
    values = {}
    for part, count in (("train", 6), ("validation", 4)):
        values[f"x_{part}"] = rng.integers(0, 255, (count, 224, 224, 3), dtype=np.uint8)
        values[f"y_{part}"] = np.arange(count, dtype=np.uint8) % 2
    arrays.save(folder, values, "cats-vs-dogs", "synthetic", "synthetic", {}, {})
    return folder


@pytest.fixture(scope="session")
def little_pictures(tmp_path_factory):
    """Folders of 200 + 40 pictures, dark or bright, in the form of MNIST and CIFAR-10."""
    folder, rng = tmp_path_factory.mktemp("small"), np.random.default_rng(5)
    for dataset, shape in (("mnist", (28, 28)), ("cifar10", (32, 32, 3))):
        values = {}
        for part, count in (("train", 200), ("validation", 40)):
            labels = rng.integers(0, 2, count, dtype=np.uint8)
            noise = rng.integers(0, 128, (count, *shape), dtype=np.uint8)
            values[f"x_{part}"] = noise + 120 * labels.reshape(-1, *[1] * len(shape))
            values[f"y_{part}"] = labels
        arrays.save(folder / dataset, values, dataset, "synthetic", "synthetic", {}, {})
    return lambda workload: folder / workload.partition("_")[0]
