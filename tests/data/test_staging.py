import numpy as np
import pytest

from epochcost.data import arrays, staging
from epochcost.errors import InputError


@pytest.fixture
def prepared(tmp_path):
    folder = tmp_path / "shared/mnist/synthetic"
    values = {"x_train": np.arange(10), "y_train": np.arange(3)}
    arrays.save(folder, values, "mnist", "synthetic", "synthetic", {}, {})
    return folder


def test_arrays_are_copied_once_and_read_from_there(prepared, tmp_path):
    there = staging.stage(prepared, tmp_path / "node")
    assert there.is_relative_to(tmp_path / "node")
    assert list(arrays.load(there)["x_train"]) == list(range(10))
    before = (there / "x_train.npy").stat().st_mtime_ns
    assert staging.stage(prepared, tmp_path / "node") == there
    assert (there / "x_train.npy").stat().st_mtime_ns == before


def test_other_data_are_another_copy(prepared, tmp_path):
    there = staging.stage(prepared, tmp_path / "node")
    arrays.save(prepared, {"x_train": np.ones(2)}, "mnist", "synthetic", "synthetic", {}, {})
    other = staging.stage(prepared, tmp_path / "node")
    assert other != there
    assert len(arrays.load(other)["x_train"]) == 2


def test_damaged_arrays_are_not_staged(prepared, tmp_path):
    (prepared / "x_train.npy").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"x_train\.npy is damaged"):
        staging.stage(prepared, tmp_path / "node")
    (own,) = (tmp_path / "node").iterdir()
    assert list(own.iterdir()) == []


def test_what_was_cleaned_up_in_part_is_staged_anew(prepared, tmp_path):
    there = staging.stage(prepared, tmp_path / "node")
    (there / "y_train.npy").unlink()
    assert staging.stage(prepared, tmp_path / "node") == there
    assert list(arrays.load(there)["y_train"]) == [0, 1, 2]
