import gzip
import io
import struct
import tarfile

import numpy as np
import pytest

from epochcost import configuration
from epochcost.datasets import arrays, cifar10, download, mnist, nietzsche, preparation
from epochcost.errors import InputError

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


@pytest.mark.parametrize("name", ["mnist", "nietzsche"])
def test_generated_data_is_the_same_every_time(tmp_path, name):
    first = preparation.prepare(name, "synthetic", tmp_path, tmp_path / "1").read_text()
    second = preparation.prepare(name, "synthetic", tmp_path, tmp_path / "2").read_text()
    assert first == second


@pytest.mark.parametrize("name", SHAPES)
def test_real_and_generated_arrays_have_the_same_shapes_and_types(tmp_path, mirror, name):
    raw, known = tmp_path / "raw", configuration.load().datasets
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


def test_real_mnist_is_mnist(tmp_path, mirror):
    raw, known = tmp_path / "raw", configuration.load().datasets
    download.fetch("mnist", "complete", "mirror", known, raw, mirror)
    preparation.prepare("mnist", "complete", raw, tmp_path / "real")
    real = arrays.load(tmp_path / "real")
    assert real["y_train"][:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert np.bincount(real["y_validation"]).tolist() == [
        980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009,
    ]  # fmt: skip


def test_nietzsche_has_the_published_number_of_windows():
    text = nietzsche.synthetic(np.random.default_rng(0))["text"]
    x, y = nietzsche.windows(text)
    assert x.shape == (200_285, 40)
    assert np.shares_memory(x, text)
    assert y.shape == (200_285,)
    assert y[0] == text[40]
    assert y[-1] == text[3 * 200_284 + 40]


def test_data_sets_that_are_not_ready_say_so(tmp_path):
    with pytest.raises(InputError, match="imdb cannot be prepared yet; data sets that can"):
        preparation.prepare("imdb", "complete", tmp_path, tmp_path / "out")


def test_an_altered_archive_is_set_aside_before_it_is_read(tmp_path, mirror):
    raw, known = tmp_path / "raw", configuration.load().datasets
    download.fetch("nietzsche", "complete", "mirror", known, raw, mirror)
    with open(raw / "nietzsche/nietzsche.txt", "ab") as file:
        file.write(b"!")
    with pytest.raises(InputError, match="is damaged"):
        preparation.prepare("nietzsche", "complete", raw, tmp_path / "out")
    assert (raw / "nietzsche/nietzsche.txt.damaged-1").exists()
    assert not (tmp_path / "out").exists()


def test_a_file_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "labels.gz"
    path.write_bytes(gzip.compress(struct.pack(">ii", 2049, 2) + b"\x01\x02"))
    assert mnist._read_idx(path, 2049).tolist() == [1, 2]
    with pytest.raises(InputError, match="magic 2049, not 2051"):
        mnist._read_idx(path, 2051)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(InputError, match="not a whole gzip file"):
        mnist._read_idx(path, 2049)


def test_cifar_is_read_from_its_archive_and_nothing_is_unpacked(tmp_path):
    record = bytes([7]) + bytes([1] * 1024 + [2] * 1024 + [3] * 1024)
    path = tmp_path / "cifar-10-binary.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        names = [*cifar10._TRAIN_FILES, cifar10._VALIDATION_FILE]
        for name in [*names, "../outside.bin"]:
            member = tarfile.TarInfo(name)
            member.size = len(record)
            tar.addfile(member, io.BytesIO(record))
    values = cifar10.prepare({"cifar-10-binary.tar.gz": path})
    assert values["x_train"].shape == (5, 32, 32, 3)
    assert values["x_train"][0, 0, 0].tolist() == [1, 2, 3]
    assert values["y_validation"].tolist() == [7]
    assert not (tmp_path.parent / "outside.bin").exists()


def test_arrays_that_are_not_what_the_manifest_says_are_refused(tmp_path):
    arrays.save(tmp_path, {"x": np.zeros(3, np.uint8)}, "toy", "complete", "mirror", {})
    np.save(tmp_path / "x.npy", np.ones(3, np.uint8))
    with pytest.raises(InputError, match=r"x\.npy is missing or damaged"):
        arrays.load(tmp_path)
    with pytest.raises(InputError, match="holds no prepared data"):
        arrays.load(tmp_path / "nothing")
