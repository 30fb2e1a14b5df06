import gzip
import io
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from epochcost import ROOT, files, plugins
from epochcost.data import (
    arrays,
    cats_vs_dogs,
    cifar10,
    download,
    imdb,
    mnist,
    nietzsche,
    preparation,
    twitter,
)
from epochcost.data.dataset import DataSet
from epochcost.data.sequences import padded
from epochcost.errors import InputError
from epochcost.measure import observation
from epochcost.models import workloads

SHAPES = {
    "mnist": {
        "x_train": (60_000, 28, 28),
        "y_train": (60_000,),
        "x_validation": (10_000, 28, 28),
        "y_validation": (10_000,),
    },
    "cifar10": {
        "x_train": (50_000, 32, 32, 3),
        "y_train": (50_000,),
        "x_validation": (10_000, 32, 32, 3),
        "y_validation": (10_000,),
    },
    "nietzsche": {"text": (600_893,), "alphabet": (57,)},
}


SETS = {
    "mnist": mnist.Mnist, "cifar10": cifar10.Cifar10, "imdb": imdb.Imdb, "twitter": twitter.Twitter,
    "cats-vs-dogs": cats_vs_dogs.CatsVsDogs, "nietzsche": nietzsche.Nietzsche,
}  # fmt: skip


def prepared(name: str, paths: dict, skipped: Counter | None = None) -> dict[str, np.ndarray]:
    """What a data set makes of its files."""
    return SETS[name]().prepare(paths, Counter() if skipped is None else skipped)


def refused(name: str, paths: dict, said: str) -> None:
    """Expect that a data set refuses its files."""
    with pytest.raises(InputError, match=said):
        prepared(name, paths)


@pytest.fixture
def of_mirror(tmp_path, mirror):
    """The arrays of a data set as the mirror has it."""

    def prepare(name: str, kind: str = "complete") -> arrays.Arrays:
        raw, known = tmp_path / "raw", workloads.read().datasets
        download.fetch(name, kind, "mirror", known, raw, mirror)
        preparation.prepare(name, kind, raw, tmp_path / "real")
        return arrays.load(tmp_path / "real")

    return prepare


@pytest.mark.parametrize("name", ["mnist", "nietzsche"])
def test_generated_data_is_the_same_every_time(tmp_path, name):
    first = preparation.prepare(name, "synthetic", tmp_path, tmp_path / "1").read_text()
    second = preparation.prepare(name, "synthetic", tmp_path, tmp_path / "2").read_text()
    assert first == second


@pytest.mark.parametrize("name", SHAPES)
def test_real_and_generated_arrays_have_the_same_shapes_and_types(tmp_path, mirror, name):
    raw, known = tmp_path / "raw", workloads.read().datasets
    download.fetch(name, "complete", "mirror", known, raw, mirror)
    preparation.prepare(name, "complete", raw, tmp_path / "real")
    preparation.prepare(name, "synthetic", raw, tmp_path / "made")
    real, made = arrays.load(tmp_path / "real"), arrays.load(tmp_path / "made")
    assert {key: value.shape for key, value in real.values.items()} == SHAPES[name]
    for key, value in real.values.items():
        assert made[key].shape == value.shape
        assert made[key].dtype == value.dtype
    assert real.manifest["source"] == "mirror"
    assert made.manifest["source"] == "synthetic"


def test_real_mnist_is_mnist(of_mirror):
    real = of_mirror("mnist")
    assert real["y_train"][:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert np.bincount(real["y_validation"]).tolist() == [
        980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009,
    ]  # fmt: skip


def test_nietzsche_has_the_published_number_of_windows():
    text = nietzsche.Nietzsche().synthetic(np.random.default_rng(0))["text"]
    x, y = nietzsche.windows(text)
    assert x.shape == (200_285, 40)
    assert np.shares_memory(x, text)
    assert y.shape == (200_285,)
    assert y[0] == text[40]
    assert y[-1] == text[3 * 200_284 + 40]


def test_what_has_no_preparation_says_so(tmp_path):
    with pytest.raises(InputError, match="resnet50-imagenet cannot be prepared: there is no modul"):
        preparation.prepare("resnet50-imagenet", "complete", tmp_path, tmp_path / "out")
    with pytest.raises(InputError, match=r"mnist_mlp\.py is to define one class that is a DataSet"):
        preparation.prepare(
            "own", "synthetic", tmp_path, tmp_path / "out", "epochcost.models.mnist_mlp"
        )


@pytest.mark.parametrize(
    ("gives", "message"),
    [
        ("{'x': rng.nothing}", r"own_data\.py, line 3: AttributeError: .*nothing"),
        ("[1, 2]", r"own_data\.py: `synthetic` gives a list, not a dict of arrays by name"),
        ("{'x': [1, 2]}", r"own_data\.py: `synthetic` gives x, which is no NumPy array, or one"),
        ("{'x': np.array(['a', None])}", "`synthetic` gives x, which is no NumPy array, or one"),
        ("(", r"own_data\.py, line 3: SyntaxError"),
    ],
)
def test_a_mistake_in_a_data_set_of_ones_own_is_one_line(tmp_path, monkeypatch, gives, message):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_data", raising=False)
    (tmp_path / "own_data.py").write_text(
        "import numpy as np\nfrom epochcost.data.dataset import DataSet\n"
        f"class Own(DataSet): synthetic = lambda self, rng: {gives}"
    )
    with pytest.raises(InputError, match=message):
        preparation.prepare("own", "synthetic", tmp_path, tmp_path / "out", "own_data")
    assert not (tmp_path / "out").exists()


def test_an_altered_archive_is_set_aside_before_it_is_read(tmp_path, mirror):
    raw, known = tmp_path / "raw", workloads.read().datasets
    download.fetch("nietzsche", "complete", "mirror", known, raw, mirror)
    with open(raw / "nietzsche/nietzsche.txt", "ab") as file:
        file.write(b"!")
    with pytest.raises(InputError, match="is damaged"):
        preparation.prepare("nietzsche", "complete", raw, tmp_path / "out")
    assert (raw / "nietzsche/nietzsche.txt.damaged-1").exists()
    assert not (tmp_path / "out").exists()


def digits(tmp_path):
    """Two grey pictures of 28 x 28 and their labels, twice."""
    paths = {}
    for part in ("train", "t10k"):
        for kind, content in (
            ("images-idx3", struct.pack(">iiii", 2051, 2, 28, 28) + bytes(range(98)) * 16),
            ("labels-idx1", struct.pack(">ii", 2049, 2) + b"\x01\x02"),
        ):
            path = tmp_path / f"{part}-{kind}-ubyte.gz"
            path.write_bytes(gzip.compress(content))
            paths[path.name] = path
    return paths


def test_a_damaged_stream_and_missing_labels_are_refused(tmp_path):
    paths = digits(tmp_path)
    whole = prepared("mnist", paths)["x_train"]
    assert whole.shape == (2, 28, 28)
    assert whole[0, 1, 3] == 31  # the second row begins with the 29th value
    labels = paths["t10k-labels-idx1-ubyte.gz"]
    labels.write_bytes(gzip.compress(struct.pack(">ii", 2049, 1) + b"\x01"))
    refused("mnist", paths, r"t10k.* has 2 pictures, and there are 1 labels")
    whole = bytearray(labels.read_bytes())
    whole[10] ^= 255  # the first byte that is compressed
    labels.write_bytes(whole)
    refused("mnist", paths, "not a whole gzip file")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not the IDX file it should be"),
        (struct.pack(">ii", 2051, 2) + b"\x01\x02", "magic 2051, not 2049"),
        (struct.pack(">i", 2049) + b"\0", "does not hold as many values as it says"),
        (struct.pack(">i", 2049), "does not hold as many values as it says"),
        (struct.pack(">ii", 2049, 3) + b"\x01\x02", "does not hold as many values as it says"),
        (struct.pack(">ii", 2049, 1) + b"\x01\x02", "does not hold as many values as it says"),
    ],
)
def test_a_table_of_bytes_that_is_not_whole_is_refused(tmp_path, content, said):
    paths = digits(tmp_path)
    paths["train-labels-idx1-ubyte.gz"].write_bytes(gzip.compress(content))
    refused("mnist", paths, said)


# A label, then the red, green and blue plane, row by row.
PLANE = np.add.outer(np.arange(32) * 6, np.arange(32) // 2)
COLOURS = bytes([7]) + np.stack([PLANE, PLANE + 10, PLANE + 20]).astype(np.uint8).tobytes()


def colours(tmp_path, *more):
    """An archive of CIFAR-10 with one picture in each of its files."""
    path = tmp_path / "cifar-10-binary.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name in [*cifar10.TRAIN_FILES, cifar10.VALIDATION_FILE, *more]:
            member = tarfile.TarInfo(name)
            member.size = len(COLOURS)
            tar.addfile(member, io.BytesIO(COLOURS))
    return {path.name: path}


def test_cifar_is_read_from_its_archive_and_nothing_is_unpacked(tmp_path):
    ((name, path),) = colours(tmp_path, "../outside.bin").items()
    values = prepared("cifar10", {name: path})
    assert values["x_train"].shape == (5, 32, 32, 3)
    # Row 2, column 9: red 2 * 6 + 9 // 2, and 10 more a plane.
    assert values["x_train"][0, 2, 9].tolist() == [16, 26, 36]
    assert values["y_validation"].tolist() == [7]
    assert not (tmp_path.parent / "outside.bin").exists()
    with tarfile.open(path) as tar:
        tar.extractall(tmp_path, filter="data", members=tar.getmembers()[:-1])
    single = [*cifar10.TRAIN_FILES, cifar10.VALIDATION_FILE]
    from_files = prepared("cifar10", {name: tmp_path / name for name in single})
    assert all((from_files[name] == values[name]).all() for name in values)
    path.write_bytes(path.read_bytes()[:-40])
    refused("cifar10", {"cifar-10-binary.tar.gz": path}, "is not a whole tar archive")


def test_arrays_that_are_not_what_the_manifest_says_are_refused(tmp_path):
    arrays.save(tmp_path, {"x": np.zeros(3, np.uint8)}, "toy", "complete", "mirror", {}, {})
    np.save(tmp_path / "x.npy", np.ones(3, np.uint8))
    with pytest.raises(InputError, match=r"x\.npy is missing or damaged"):
        arrays.load(tmp_path)
    with pytest.raises(InputError, match="holds no prepared data"):
        arrays.load(tmp_path / "nothing")


def test_arrays_of_another_version_are_one_line(tmp_path):
    arrays.save(tmp_path, {"x": np.zeros(3, np.uint8)}, "toy", "complete", "mirror", {}, {})
    with pytest.raises(
        InputError, match="the prepared toy has no array x_train, but x; another vers"
    ):
        arrays.load(tmp_path)["x_train"]
    files.write_json(tmp_path / "manifest.json", {"name": "toy"})
    with pytest.raises(InputError, match=r"is not what scripts/prepare\.py writes; delete"):
        arrays.load(tmp_path)


def test_imdb_has_the_published_number_of_words_and_bigrams(of_mirror):
    real = of_mirror("imdb")
    assert np.bincount(real["y_train"]).tolist() == [12_500, 12_500]
    assert int(real["vocabulary"]) == 20_000
    # The Keras example prints 476 as the mean length of a training review with its bi-grams.
    tokens = len(real["words_train"]) + len(real["bigrams_train"])
    assert tokens // 25_000 == 476
    assert int(real["vocabulary_with_bigrams"]) == 1_205_513
    assert real.manifest["skipped"] == {}


def reviews(path, contents):
    """An archive of reviews: inner path below aclImdb -> bytes."""
    with tarfile.open(path, "w:gz") as tar:
        for name, content in contents.items():
            member = tarfile.TarInfo(f"aclImdb/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return {path.name: path}


WHOLE = {
    "train/pos/0_9.txt": b"Good film, good fun!<br />It's good.",
    "train/neg/0_2.txt": b"bad film",
    "test/pos/0_8.txt": b"good fun film",
    "test/neg/0_1.txt": b"never seen words",
}


def test_imdb_words_are_numbered_by_frequency_and_bigrams_are_of_the_training_part(tmp_path):
    skipped = Counter()
    values = prepared("imdb", reviews(tmp_path / "a.tar.gz", WHOLE), skipped)
    # good 3, film 4, then by spelling: bad, br, fun, it's; a review starts with 1; 2 is unknown.
    assert values["words_train"].tolist() == [1, 5, 4, 1, 3, 4, 3, 7, 6, 8, 3]
    assert values["ends_train"].tolist() == [3, 11]
    assert values["y_train"].tolist() == [0, 1]
    assert values["words_validation"].tolist() == [1, 2, 2, 2, 1, 3, 7, 4]
    pairs = [(1, 3), (1, 5), (3, 4), (3, 7), (4, 3), (5, 4), (6, 8), (7, 6), (8, 3)]
    assert int(values["vocabulary_with_bigrams"]) == 20_000 + len(pairs)
    # Of the second held-out review only "start good" and "good fun" are known.
    assert values["bigrams_validation"].tolist() == [20_000, 20_003]
    assert values["bigram_ends_validation"].tolist() == [0, 2]
    assert not skipped


def test_damaged_reviews_are_counted_and_left_out(tmp_path):
    damaged = {
        "train/pos/1_9.txt": b"caf\xe9",
        "train/pos/2_9.txt": b"a\0b",
        "train/neg/1_1.txt": b"",
        "train/neg/2_1.txt": b" ... \n",
    }
    skipped = Counter()
    values = prepared("imdb", reviews(tmp_path / "a.tar.gz", WHOLE | damaged), skipped)
    assert skipped == {"not UTF-8": 1, "NUL bytes": 1, "no words": 2}
    assert len(values["y_train"]) == 2


def test_an_archive_without_one_class_or_cut_short_is_refused(tmp_path):
    half = {name: content for name, content in WHOLE.items() if "pos" in name}
    refused(
        "imdb",
        reviews(tmp_path / "a.tar.gz", half),
        "does not hold good and bad reviews of its train part",
    )
    whole = reviews(tmp_path / "b.tar.gz", WHOLE)["b.tar.gz"]
    whole.write_bytes(whole.read_bytes()[:-40])
    refused("imdb", {"b.tar.gz": whole}, "is not a whole tar archive")


def test_an_archive_that_seems_to_end_at_a_damaged_header_is_refused(tmp_path):
    (path,) = reviews(tmp_path / "a.tar.gz", WHOLE).values()
    stored = bytearray(gzip.compress(gzip.decompress(path.read_bytes()), compresslevel=0))
    last = stored.rindex(b"aclImdb/")
    stored[last : last + 8] = b"damaged!"
    path.write_bytes(stored)
    refused("imdb", {path.name: path}, "is not a whole tar archive")


def describe(raw, paths):
    """Leave what scripts/fetch.py leaves beside the files that it fetched."""
    there = [{"name": name, "sha256": files.sha256(path)} for name, path in paths.items()]
    fetched = {"dataset": raw.name, "source": "mirror", "files": there}
    files.write_json(raw / "complete.json", fetched)


def tweets(tmp_path, name, content):
    path = tmp_path / "tweets.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, content)
    return {"tweets.zip": path}


SENTIMENT140 = (
    '"0","1","Mon Apr 06","NO_QUERY","one","@me I don\'t like ""it"",\nnot at all"\r\n'
    '"4","2","Mon Apr 06","NO_QUERY","two","caf\xe9 was great!!"\r\n'
    '"2","3","Mon Apr 06","NO_QUERY","two","neither"\r\n'
    '"4","4","Mon Apr 06","NO_QUERY","two","  "\r\n'
    '"4","5","Mon Apr 06","NO_QUERY","two","a\0b"\r\n'
    '"4","6","Mon Apr 06"\r\n'
).encode("latin-1")
THINKNOOK = (
    (
        "\ufeffItemID,Sentiment,SentimentSource,SentimentText\r\n"
        '1,0,Sentiment140, "is so sad, for my\r\n'
        "2,1,Sentiment140,over two\r\nlines, and 1,1,good\r\n"
        "3,1,Sentiment140, \r\n"
    ).encode()
    + b"4,1,Sentiment140,caf\xe9\r\n5,0,Sentiment140,a\0b\r\n6,0,Sentiment140,\xe2\x99\xa5\r\n"
)


def test_both_tables_of_tweets_are_read_with_quotes_and_newlines_inside(tmp_path):
    skipped = Counter()
    archive = tweets(tmp_path, "training.1600000.processed.noemoticon.csv", SENTIMENT140)
    assert list(twitter.tweets_of(archive, skipped)) == [
        (0, '@me I don\'t like "it",\nnot at all'),
        (1, "caf\xe9 was great!!"),
    ]
    assert skipped == {"no tweet of the two classes": 2, "no text": 1, "NUL bytes": 1}
    skipped = Counter()
    archive = tweets(tmp_path, "Sentiment Analysis Dataset.csv", THINKNOOK)
    assert list(twitter.tweets_of(archive, skipped)) == [
        (0, ' "is so sad, for my\r\n'),
        (1, "over two\r\nlines, and 1,1,good\r\n"),
        (0, "\u2665\r\n"),
    ]
    assert skipped == {"no text": 1, "not UTF-8": 1, "NUL bytes": 1}


def test_rows_of_neither_class_are_counted_and_lengthen_no_other_tweet(tmp_path):
    header, *rows = THINKNOOK.splitlines(keepends=True)
    neither = b"7,2,Sentiment140,neither\r\nnor\r\n"
    table = tmp_path / "Sentiment Analysis Dataset.csv"
    table.write_bytes(header + b"a rest\r\n" + rows[0] + neither + b"8,1,Kaggle,good\r\n")
    skipped = Counter()
    assert list(twitter.tweets_of({table.name: table}, skipped)) == [
        (0, ' "is so sad, for my\r\n'),
        (1, "good\r\n"),
    ]
    assert skipped == {"no tweet of the two classes": 2}


def test_a_tweet_whose_quotes_never_close_costs_itself_and_is_counted(tmp_path):
    skipped = Counter()
    open_ended = b'"4","7","d","q","u","' + 150_000 * b"x" + b"\r\n"
    rows = b'"0","1","d","q","u","bad"\r\n' + open_ended + b'"4","2","d","q","u","good"\r\n'
    archive = tweets(tmp_path, "training.1600000.processed.noemoticon.csv", rows)
    assert list(twitter.tweets_of(archive, skipped)) == [(0, "bad"), (1, "good")]
    assert skipped == {"a cell without an end": 1}
    skipped = Counter()
    swallowed = b'"4","7","d","q","u","' + 20 * (10_000 * b"x" + b"\r\n")
    archive = tweets(tmp_path, "training.1600000.processed.noemoticon.csv", swallowed)
    assert list(twitter.tweets_of(archive, skipped)) == []
    assert skipped["a cell without an end"] == 14, "the lines up to 128 KiB"


def test_a_quote_that_the_next_row_closes_costs_both_and_both_are_counted(tmp_path):
    skipped = Counter()
    rows = ['"0","1","d","q","u","bad"', '"4","7","d","q","u","open', '"4","2","d","q","u","lost"']
    rows.append('"4","3","d","q","u","good"')
    text = "".join(f"{row}\r\n" for row in rows)
    archive = tweets(tmp_path, "training.1600000.processed.noemoticon.csv", text)
    assert list(twitter.tweets_of(archive, skipped)) == [(0, "bad"), (1, "good")]
    assert skipped == {"no tweet of the two classes": 2}


PEAKS = """
import re, sys
from pathlib import Path
from epochcost.data import arrays, preparation
# The peak that getrusage gives starts with that of the parent.
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
begin, folder = peak(), Path(sys.argv[1])
preparation.prepare("twitter", "complete", folder / "raw", folder / "arrays")
print(begin, peak(), int(arrays.load(folder / "arrays")["vocabulary"]))
"""


def test_the_tweets_in_full_need_less_than_two_gibibytes(tmp_path):
    """As far as an eighth of them tells: what it needs beyond the imports, eight times."""
    rng, count, whole = np.random.default_rng(7), 200_000, 1_600_000
    # As many words a tweet, and as many different ones for so many tweets, as in the study's data.
    words = rng.zipf(1.25, (count, 15)) % 70_000
    rows = (
        f'"{4 * (number % 2)}","1","d","q","u","{" ".join(f"word{word}" for word in tweet)}"\r\n'
        for number, tweet in enumerate(words.tolist())
    )
    raw = tmp_path / "raw/twitter"
    raw.mkdir(parents=True)
    archive = tweets(raw, "training.1600000.processed.noemoticon.csv", "".join(rows))
    describe(raw, archive)
    done = subprocess.run(
        [sys.executable, "-c", PEAKS, tmp_path],
        capture_output=True, text=True, cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "scripts"), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    begin, peak, vocabulary = map(int, done.stdout.split())  # the peaks in KiB
    assert vocabulary > 50_000
    assert begin + (peak - begin) * whole / count < 2 * 2**20


def test_tweets_keep_their_labels_in_both_parts_and_words_are_numbered_by_frequency(tmp_path):
    rows = [b"%d,%d,S,%s\r\n" % (n, n % 2, [b"bad bad", b"good"][n % 2]) for n in range(20)]
    table = b"ItemID,Sentiment,SentimentSource,SentimentText\r\n" + b"".join(rows)
    archive = tweets(tmp_path, "Sentiment Analysis Dataset.csv", table)
    files_ = {}
    for name, text in (("negative.txt", "bad bad\n"), ("positive.txt", "good\n")):
        files_[name] = tmp_path / name
        files_[name].write_text(10 * text)
    for paths in (archive, files_):
        values = prepared("twitter", paths)
        assert (len(values["y_train"]), len(values["y_validation"])) == (18, 2)
        assert set(values["y_train"]) == {0, 1}
        for part in ("train", "validation"):
            rows = padded(values[f"words_{part}"], values[f"ends_{part}"], 2, zeros="behind")
            expected = {0: [1, 1], 1: [2, 0]}  # "bad" is the more frequent word
            assert rows.tolist() == [expected[label] for label in values[f"y_{part}"]]


def test_tweets_are_cleaned_as_the_study_did():
    assert twitter.clean("I DON'T like it!! They've (all) gone...") == [
        "i", "don't", "like", "it", "!", "!", "they", "'ve", "(", "all", ")", "gone",
    ]  # fmt: skip
    assert twitter.clean("don't it's we'd") == ["do", "n't", "it", "'s", "we", "'d"]


def test_names_links_and_tags_are_one_word_each_as_in_the_vocabulary_of_the_study():
    assert twitter.clean("hi @me: see http://a.b/c?d, or.mail@me #so#sad") == [
        "hi", "name", "see", "link", "name", "hashtag", "so", "hashtag", "sad",
    ]  # fmt: skip
    assert twitter.clean("&quot;you &amp; me&quot; &lt;3 &#39;") == [
        "you", "me", "3", "hashtag", "39",
    ]  # fmt: skip


def test_no_character_stands_more_than_twice_in_a_row():
    assert twitter.clean("Sooooo awwww!!!!! AAaa") == ["soo", "aww", "!", "!", "aaaa"]


def test_a_tweet_without_words_is_kept_as_one_empty_word(tmp_path):
    assert twitter.clean("\u2665") == [""]
    values = prepared("twitter", tweets(tmp_path, "Sentiment Analysis Dataset.csv", THINKNOOK))
    assert len(values["y_train"]) + len(values["y_validation"]) == 3
    lengths = np.diff(values["ends_train"], prepend=0).tolist()
    assert sorted(lengths) == [1, 6, 10]
    assert int(values["longest"]) == 10


def test_tables_of_tweets_that_are_none_are_refused(tmp_path):
    for name, content, message in (
        ("a.csv", "x,y\n", "neither Sentiment140's nor Thinknook's"),
        ("a.txt", "x", "holds no table of tweets"),
        ("training.1600000.processed.noemoticon.csv", "", "no tweets of both classes"),
    ):
        with pytest.raises(InputError, match=message):
            prepared("twitter", tweets(tmp_path, name, content))
    refused(
        "twitter",
        {"a.txt": tmp_path, "b.txt": tmp_path},
        "txt: tweets are in one table, or one text file per",
    )
    path = tmp_path / "tweets.zip"
    path.write_bytes(b"PK")
    refused("twitter", {"tweets.zip": path}, "not a whole zip archive")


def test_the_mirrors_tweets(of_mirror):
    real = of_mirror("twitter", "subset")
    assert (len(real["y_train"]), len(real["y_validation"])) == (90_000, 10_000)
    assert np.bincount(real["y_train"]).tolist() == [45_043, 44_957]
    assert int(real["words_train"].max()) < int(real["vocabulary"]) == 51_975


# The 40 most frequent words of the study (Manne 2018), from the vocabulary that it published:
# data/vocab_inv.csv of github.com/RaRe-Technologies/benchmark_GPU_platforms.
FREQUENT = """
    i name ! to the , a my it and you is ? in for of 's n't on that me have so but i'm just do with
    be at was not this now good up day all out get
"""


def test_the_most_frequent_words_of_real_tweets_are_those_of_the_study(mirror):
    counts = Counter()
    for name in ("negative.txt", "positive.txt"):
        with open(mirror / "twitter" / name, encoding="utf-8") as file:
            counts.update(word for line in file for word in twitter.clean(line))
    ours = {word for word, _ in counts.most_common(40)}
    assert len(ours & set(FREQUENT.split())) >= 39


def jpeg(colour, size=(300, 250)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


def pictures(tmp_path, contents):
    path = tmp_path / "pictures.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return {"pictures.zip": path}


MICROSOFT = {
    "PetImages/Cat/0.jpg": jpeg("red"),
    "PetImages/Dog/0.jpg": jpeg("blue", (250, 400)),
    "PetImages/Cat/11500.jpg": jpeg("red"),
    "PetImages/Dog/12499.jpg": jpeg("blue"),
    "PetImages/Dog/Thumbs.db": b"no picture",
}


def test_pictures_of_both_layouts_are_cut_to_the_same_size(tmp_path):
    fastai = {
        "dogscats/train/cats/cat.1.jpg": jpeg("red"),
        "dogscats/train/dogs/dog.0.jpg": jpeg("blue"),
        "dogscats/valid/cats/cat.9.jpg": jpeg("red"),
        "dogscats/valid/dogs/dog.8.jpg": jpeg("blue"),
    }
    for contents, order in ((MICROSOFT, [0, 1]), (fastai, [1, 0])):
        skipped = Counter()
        values = prepared("cats-vs-dogs", pictures(tmp_path, contents), skipped)
        assert values["x_train"].shape == (2, 224, 224, 3)
        assert values["y_train"].tolist() == order
        red, green, blue = values["x_train"][order.index(1)].mean(axis=(0, 1))
        assert blue > 200 > 60 > max(red, green)
        assert len(values["y_validation"]) == 2
        assert not skipped


def test_the_middle_of_a_wide_picture_is_cut_out(tmp_path):
    wide = Image.new("RGB", (448, 224), "red")
    wide.paste("lime", (149, 0, 299, 224))
    buffer = io.BytesIO()
    wide.save(buffer, "JPEG", quality=95)
    values = prepared(
        "cats-vs-dogs", pictures(tmp_path, MICROSOFT | {"PetImages/Cat/0.jpg": buffer.getvalue()})
    )
    red, green, red_again = (values["x_train"][0][112, column] for column in (20, 55, 210))
    assert red[0] > 200 > 60 > red[1]
    assert green[1] > 200 > 60 > green[0]
    assert red_again[0] > 200 > 60 > red_again[1]


def test_pictures_that_cannot_be_decoded_are_counted_and_left_out(tmp_path):
    damaged = {
        "PetImages/Cat/666.jpg": b"",
        "PetImages/Dog/11.jpg": jpeg("blue")[:400],
        "PetImages/Dog/12.jpg": b"GIF89a, or so it says",
    }
    skipped = Counter()
    values = prepared("cats-vs-dogs", pictures(tmp_path, MICROSOFT | damaged), skipped)
    assert skipped == {"not a whole picture": 3}
    assert values["x_train"].shape == (2, 224, 224, 3)


def test_a_member_of_the_archive_that_is_damaged_is_counted_and_left_out(tmp_path):
    more = {"PetImages/Dog/11.jpg": jpeg("green")}
    (path,) = pictures(tmp_path, MICROSOFT | more).values()
    whole = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        begin = archive.getinfo("PetImages/Dog/11.jpg").header_offset
    whole[begin + 200] ^= 255
    path.write_bytes(whole)
    skipped = Counter()
    values = prepared("cats-vs-dogs", {path.name: path}, skipped)
    assert skipped == {"not a whole picture": 1}
    assert values["y_train"].tolist() == [0, 1]


def test_members_that_python_cannot_unpack_are_counted_and_left_out(tmp_path):
    more = {"PetImages/Dog/11.jpg": jpeg("green"), "PetImages/Dog/12.jpg": jpeg("green")}
    (path,) = pictures(tmp_path, MICROSOFT | more).values()
    whole = bytearray(path.read_bytes())
    for name, offset, value in (("11", 10, 9), ("12", 8, 1)):  # Deflate64; encrypted
        entry = whole.rindex(f"PetImages/Dog/{name}.jpg".encode()) - 46  # in the directory
        whole[entry + offset] = value
    path.write_bytes(whole)
    skipped = Counter()
    values = prepared("cats-vs-dogs", {path.name: path}, skipped)
    assert skipped == {"not a whole picture": 2}
    assert values["y_train"].tolist() == [0, 1]


def test_a_class_without_pictures_is_refused(tmp_path):
    cats = {name: content for name, content in MICROSOFT.items() if "Cat" in name}
    refused("cats-vs-dogs", pictures(tmp_path, cats), "holds no pictures of dogs for train")
    damaged = {"PetImages/Dog/12499.jpg": b""}
    refused(
        "cats-vs-dogs",
        pictures(tmp_path, MICROSOFT | damaged),
        "holds no pictures of dogs for validation",
    )


def test_the_mirrors_pictures_are_whole(of_mirror):
    real = of_mirror("cats-vs-dogs", "subset")
    assert real["x_train"].shape == (800, 224, 224, 3)
    assert np.bincount(real["y_train"]).tolist() == [400, 400]
    assert np.bincount(real["y_validation"]).tolist() == [100, 100]
    assert real.manifest["skipped"] == {}


def writings(tmp_path):
    path = tmp_path / "nietzsche.txt"
    path.write_text(10 * "Ab\nBa", encoding="utf-8")
    return {path.name: path}


def test_writings_are_numbers_of_their_lower_case_characters(tmp_path):
    values = prepared("nietzsche", writings(tmp_path))
    assert values["alphabet"].tolist() == [ord("\n"), ord("a"), ord("b")]
    assert values["text"].tolist() == 10 * [1, 2, 0, 2, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("too short", "has 9 characters, no more than one window of 40"),
        ("".join(map(chr, range(0x4E00, 0x4E00 + 300))), "has 300 different characters, too many"),
        (20 * "abc" + "\0", r"has a NUL byte \(character 60\)"),
    ],
)
def test_writings_that_make_no_text_are_refused(tmp_path, text, said):
    path = tmp_path / "nietzsche.txt"
    path.write_text(text, encoding="utf-8")
    refused("nietzsche", {path.name: path}, said)


SMALLEST = {
    mnist: digits,
    cifar10: colours,
    imdb: lambda folder: reviews(folder / "a.tar.gz", WHOLE),
    twitter: lambda folder: tweets(folder, "Sentiment Analysis Dataset.csv", THINKNOOK),
    cats_vs_dogs: lambda folder: pictures(folder, MICROSOFT),
    nietzsche: writings,
}
# How many samples are generated, so few that all of them are made in a second.
FEW = {
    mnist: {"TRAIN": 40, "VALIDATION": 20},
    cifar10: {"TRAIN": 40, "VALIDATION": 20},
    imdb: {"REVIEWS": 60},
    twitter: {"TWEETS": 60},
    cats_vs_dogs: {"TRAIN": 6, "VALIDATION": 6},
    nietzsche: {},
}


@pytest.mark.parametrize("module", SMALLEST, ids=lambda module: module.__name__.split(".")[-1])
def test_generated_data_have_the_form_of_real_ones(tmp_path, monkeypatch, module):
    for name, count in FEW[module].items():
        monkeypatch.setattr(module, name, count)
    dataset = plugins.the_one(module, DataSet)
    made = dataset.synthetic(np.random.default_rng(1))
    real = dataset.prepare(SMALLEST[module](tmp_path), Counter())
    forms = [
        {name: (value.dtype, value.shape[1:]) for name, value in values.items()}
        for values in (made, real)
    ]
    assert forms[0] == forms[1]
    for part in ("train", "validation"):
        if module is not nietzsche:
            classes = 10 if module in (mnist, cifar10) else 2
            assert len(set(made[f"y_{part}"])) > 1
            assert made[f"y_{part}"].max() < classes
        if module in (imdb, twitter):
            words, ends = made[f"words_{part}"], made[f"ends_{part}"]
            assert len(ends) == len(made[f"y_{part}"])
            assert (np.diff(ends, prepend=0) > 0).all()
            assert ends[-1] == len(words)
            assert 0 < words.min() <= words.max() < made["vocabulary"]


@pytest.mark.parametrize("content", [{}, [], {"dataset": "imdb", "source": "mirror", "files": []}])
def test_a_description_that_is_none_is_refused(tmp_path, content):
    files.write_json(tmp_path / "imdb/complete.json", content)
    said = r"complete\.json is no description of fetched files; delete it"
    with pytest.raises(InputError, match=said):
        preparation.prepare("imdb", "complete", tmp_path, tmp_path / "out")


def test_what_is_left_out_is_said_and_is_in_manifest_and_record(tmp_path):
    raw = tmp_path / "raw/imdb"
    raw.mkdir(parents=True)
    damaged = {"train/pos/1_9.txt": b"caf\xe9", "train/neg/1_1.txt": b"", "test/neg/1_1.txt": b"."}
    describe(raw, reviews(raw / "aclImdb_v1.tar.gz", WHOLE | damaged))
    done = subprocess.run(
        [
            *(sys.executable, ROOT / "scripts/prepare.py", "imdb"),
            *("--raw", tmp_path / "raw", "--output", tmp_path / "arrays"),
        ],
        capture_output=True,
        text=True,
    )
    assert "left out as damaged: 2 (no words), 1 (not UTF-8)" in done.stdout, done.stderr
    manifest = arrays.load(tmp_path / "arrays").manifest
    assert manifest["skipped"] == {"not UTF-8": 1, "no words": 2}
    assert observation.data_part(manifest, (2, 2)).skipped == 3
