"""The results of a machine as a table: for a terminal, and to paste."""

import csv
import io
import subprocess
import sys

import pandas as pd
import pytest

from epochcost import ROOT
from epochcost.show import table

HOSTILE = '=HYPERLINK("x") | <b> \x1b[31m & $x_1$'


@pytest.fixture
def rows() -> pd.DataFrame:
    cells = ["mnist_mlp", "PyTorch", "33 s", "30 s to 40 s", "0.51x", "$0.0009", "0.10x", ""]
    poor = ["own", "Keras JAX", "1,250 h", "", "", "", "", "a remark of many words " * 9]
    return pd.DataFrame([cells, poor], columns=list(table.COLUMNS))


def test_in_a_terminal_no_line_is_longer_than_a_hundred_columns(rows):
    lines = table.written(rows, "text").splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[1].split("  ")[0] == "mnist_mlp"
    assert lines[2].startswith("own")


def test_no_remark_is_lost_in_a_terminal(rows):
    """Marks such as predicted are remarks."""
    remarks = "synthetic data, predicted, disturbed"
    text = table.written(rows.assign(remarks=[remarks, ""]), "text")
    below = [line for line in text.splitlines()[1:] if not line.startswith("own")]
    assert " ".join(" ".join(below).split()).endswith(remarks)


def test_what_no_row_has_is_no_column(rows):
    head = table.written(rows.assign(cost="", **{"cost vs K80": ""}), "text").splitlines()[0]
    assert "cost" not in head
    assert "time" in head


def test_markdown_latex_and_csv_hold_the_same_cells(rows):
    markdown = table.written(rows, "markdown").splitlines()
    assert markdown[0].startswith("| workload | framework | time |")
    assert markdown[1].startswith("|---|---|---:|")
    assert len(markdown) == 4
    latex = table.written(rows, "latex")
    assert "mnist\\_mlp & PyTorch & 33 s & 30 s to 40 s & 0.51x & \\$0.0009" in latex
    read = list(csv.reader(io.StringIO(table.written(rows, "csv"))))
    assert read[0] == list(table.COLUMNS)
    assert read[1][:3] == ["mnist_mlp", "PyTorch", "33 s"]


def test_hostile_text_is_text_in_all_of_them(rows):
    rows = rows.assign(workload=HOSTILE)
    assert "&lt;b&gt;" in table.written(rows, "markdown")
    assert "\\|" in table.written(rows, "markdown")
    assert "\\& \\$x\\_1\\$" in table.written(rows, "latex")
    read = list(csv.reader(io.StringIO(table.written(rows, "csv"))))
    assert read[1][0].startswith("'=HYPERLINK")


def test_without_a_result_that_is_said():
    nothing = pd.DataFrame(columns=list(table.COLUMNS))
    assert table.written(nothing, "text") == "Nothing was measured on this machine yet.\n"


def test_where_runs_are_there_and_none_counts_that_is_said(make_tables, record, tmp_path):
    """Others used nearly all of the machine: the record is there, and its time says nothing."""
    crowded = record | {"noise": record["noise"] | {"others_cpu_share": 0.87}}
    runs, _, relative = make_tables(crowded)
    for name, made in (("runs", runs), ("relative", relative)):
        made.to_csv(tmp_path / f"{name}.csv", index=False)
    script, here = ROOT / "scripts/table.py", crowded["machine"]["id"]
    done = subprocess.run(
        [sys.executable, script, "--tables", tmp_path, "--machine", here],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("No run on this machine has a time that counts:\nmnist_mlp with")
    assert "others used 87% of the processors" in done.stdout
