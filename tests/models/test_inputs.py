"""What each workload takes of its data set's arrays, sample by sample."""

import numpy as np
import pytest

from epochcost import ROOT, models
from epochcost.data import arrays
from epochcost.models import recipes

RECIPES = recipes.load(ROOT / "config/workloads.yaml")


def split_of(name, **values):
    hyper = RECIPES[name]["model"]
    prepared = arrays.Arrays(values, {"dataset": RECIPES[name]["dataset"]})
    return models.load(name).inputs(prepared, hyper)


def of_both_parts(**values):
    """The same values for training and, in the other order, for validation."""
    return {
        f"{key}_{part}": value[::step]
        for key, value in values.items()
        for part, step in (("train", 1), ("validation", -1))
    }


@pytest.mark.parametrize(
    ("name", "stored", "shape"),
    [
        ("mnist_mlp", (28, 28), (784,)),
        ("mnist_cnn", (28, 28), (28, 28, 1)),
        ("cifar10_cnn", (32, 32, 3), (32, 32, 3)),
    ],
)
def test_pictures_are_numbers_from_0_to_1(name, stored, shape):
    bytes_ = np.random.default_rng(0).integers(0, 256, (2, *stored), dtype=np.uint8)
    bytes_[0].flat[:2] = 0, 255
    split = split_of(name, **of_both_parts(x=bytes_, y=np.array([3, 4], np.uint8)))
    expected = (bytes_ / 255).reshape(2, *shape)
    assert split.shape == shape
    assert split.x_train.dtype == split.x_validation.dtype == np.float32
    assert split.x_train == pytest.approx(expected, abs=1e-7)
    assert split.x_validation == pytest.approx(expected[::-1], abs=1e-7)
    assert split.y_train.tolist() == [3, 4]
    assert split.y_validation.tolist() == [4, 3]


def test_pictures_to_fine_tune_on_stay_bytes():
    bytes_ = np.arange(2 * 224 * 224 * 3).astype(np.uint8).reshape(2, 224, 224, 3)
    split = split_of("catsdogs_resnet50", **of_both_parts(x=bytes_, y=np.array([0, 1])))
    assert split.x_train is not None and (split.x_train == bytes_).all()
    assert (split.x_validation == bytes_[::-1]).all()
    assert split.y_validation.tolist() == [1, 0]


# Two texts of the words 1 2 3 and 4, and one of 450 words that is longer than any row.
WORDS = {
    "words_train": np.array([1, 2, 3, 4]),
    "ends_train": np.array([3, 4]),
    "y_train": np.array([0, 1]),
    "words_validation": np.arange(450),
    "ends_validation": np.array([450]),
    "y_validation": np.array([1]),
}


def ends_with(row, tail) -> bool:
    """Whether a row is zeros and then so many numbers."""
    return row.tolist() == [0] * (len(row) - len(tail)) + list(tail)


def test_reviews_keep_their_last_words_behind_zeros():
    split = split_of("imdb_bilstm", **WORDS, vocabulary=np.array(20_000))
    assert split.x_train.shape == (2, 100)
    assert ends_with(split.x_train[0], [1, 2, 3])
    assert ends_with(split.x_train[1], [4])
    assert split.x_validation[0].tolist() == list(range(350, 450))
    assert split.vocabulary == 20_000
    assert (split.y_train.tolist(), split.y_validation.tolist()) == ([0, 1], [1])


def test_bigrams_stand_behind_the_words_of_their_review():
    pairs = {
        "bigrams_train": np.array([20_001, 20_002, 20_003]),
        "bigram_ends_train": np.array([2, 3]),
        "bigrams_validation": np.array([20_004]),
        "bigram_ends_validation": np.array([1]),
    }
    sizes = {"vocabulary": np.array(20_000), "vocabulary_with_bigrams": np.array(20_005)}
    split = split_of("imdb_fasttext", **WORDS, **pairs, **sizes)
    assert split.x_train.shape == (2, 400)
    assert ends_with(split.x_train[0], [1, 2, 3, 20_001, 20_002])
    assert ends_with(split.x_train[1], [4, 20_003])
    assert split.x_validation[0].tolist() == [*range(51, 450), 20_004]
    assert split.vocabulary == 20_005


def test_tweets_are_as_long_as_the_longest_with_zeros_behind():
    split = split_of("twitter_bilstm", **WORDS, vocabulary=np.array(451), longest=np.array(450))
    assert split.x_train.shape == (2, 450)
    assert split.x_train[0].tolist() == [1, 2, 3] + [0] * 447
    assert split.x_train[1].tolist() == [4] + [0] * 449
    assert split.x_validation[0].tolist() == list(range(450))
    assert split.vocabulary == 451


def test_characters_are_windows_of_forty_with_the_one_after_and_no_validation():
    text = np.arange(100, dtype=np.uint8) % 26
    split = split_of("nietzsche_lstm", text=text, alphabet=np.arange(97, 123, dtype=np.uint32))
    assert split.x_train[1].tolist() == text[3:43].tolist()
    assert split.y_train[1] == text[43]
    assert split.alphabet == "abcdefghijklmnopqrstuvwxyz"
    assert split.vocabulary == 26
    assert split.x_validation is None
    assert split.validation_samples == 0


def test_every_workload_is_here():
    assert set(RECIPES) >= {
        "mnist_mlp", "mnist_cnn", "cifar10_cnn", "imdb_bilstm", "imdb_fasttext",
        "twitter_bilstm", "nietzsche_lstm", "catsdogs_resnet50",
    }  # fmt: skip
