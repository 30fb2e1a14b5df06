import csv
import resource
import signal

import pandas
import pytest

from epochcost import files
from epochcost.errors import InputError


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "table.csv"
    files.write_text(path, "old")
    with pytest.raises(ZeroDivisionError), files.atomic(path) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_does_not_fit_is_an_oserror_and_leaves_nothing(tmp_path):
    # A limit on file size makes the same system call fail that a full disk makes fail.
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="too large") as raised:
            files.write_text(tmp_path / "big.txt", "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert raised.value.filename == str(tmp_path / "big.txt")
    assert list(tmp_path.iterdir()) == []


def test_broken_json_is_named(tmp_path):
    (tmp_path / "a.json").write_text('{"a": ')
    with pytest.raises(InputError, match=r"a\.json is not JSON"):
        files.read_json(tmp_path / "a.json")


def test_no_cell_of_a_table_is_a_formula(tmp_path):
    path = tmp_path / "table.csv"
    cells = ['=HYPERLINK("x")', "@a", "-2+3", "-2.5", "a=b", None]
    files.write_csv(path, pandas.DataFrame({"a": cells, "b": range(6)}))
    said = [row[0] for row in csv.reader(path.read_text().splitlines())]
    assert said == ["a", '\'=HYPERLINK("x")', "'@a", "'-2+3", "-2.5", "a=b", ""]
