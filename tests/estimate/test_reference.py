"""The reference speeds are whole: unique, with sources and GPUs, positive, and small enough."""

import csv
import math
from collections import Counter

import pytest

from epochcost import ROOT, files, schemas
from epochcost.errors import InputError
from epochcost.estimate import guesses, reference, transfer

FOLDER = reference.FOLDER


@pytest.fixture(scope="module")
def tables() -> dict[str, list[dict]]:
    return {name: reference.rows(name) for name in reference.FILES}


def test_keys_are_unique(tables):
    for name, key in (("gpus", "gpu"), ("sources", "source_id"), ("intervals", "kind")):
        assert max(Counter(row[key] for row in tables[name]).values()) == 1
    whole = Counter(tuple(row.items()) for row in tables["speeds"])
    assert max(whole.values()) == 1


def test_sources_and_gpus_exist_and_all_sources_are_used(tables):
    speeds = tables["speeds"]
    assert {row["source_id"] for row in speeds} == {row["source_id"] for row in tables["sources"]}
    assert {row["gpu"] for row in speeds} <= {row["gpu"] for row in tables["gpus"]}


def test_a_workload_is_of_one_network_and_unit_in_its_suite(tables):
    for what in ("network", "unit"):
        keys = ("suite", "workload", "quantity", what)
        found = {tuple(row[key] for key in keys) for row in tables["speeds"]}
        assert max(Counter(one[:3] for one in found).values()) == 1


def test_every_workload_makes_a_ratio(tables):
    keys = ("suite", "framework", "quantity", "gpu_count", "workload")
    pairs = {(*(row[key] for key in keys), row["gpu"]) for row in tables["speeds"]}
    assert min(Counter(one[:-1] for one in pairs).values()) > 1


def test_tf32_is_told_from_fp32(tables):
    stated = {row["precision"] for row in tables["speeds"] if row["suite"].startswith("lambda")}
    assert stated == {"tf32", "fp16"}


def test_times_to_a_quality_are_not_here(tables):
    assert "seconds_to_train" not in {row["quantity"] for row in tables["speeds"]}


def test_every_gpu_of_the_catalogue_is_known():
    known = {gpu.catalogue for gpu in reference.gpus().values()}
    wanted = {entry["gpu"] for entry in schemas.read("hardware").values() if "gpu" in entry}
    assert wanted <= known


def test_every_kind_of_estimate_has_been_judged(tables):
    kinds = {row["kind"] for row in tables["intervals"]}
    two = {f"{kind}{guesses.TWO}" for kind in (guesses.EQUAL, guesses.RATIOS)}
    assert kinds == {*guesses.KINDS, *two, transfer.HOST}


def test_it_is_small_and_names_no_column_in_vain():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1.5e6
    for name in reference.FILES:
        schema = files.read_json(ROOT / f"config/schemas/reference_{name}.schema.json")
        with open(FOLDER / f"{name}.csv", newline="", encoding="utf-8") as file:
            assert next(csv.reader(file)) == list(schema["properties"])


def test_a_wrong_value_is_named(tmp_path):
    text = (FOLDER / "gpus.csv").read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("K80,"))
    text = text.replace(line, line.replace(",12,", ",-12,"))
    (tmp_path / "gpus.csv").write_text(text)
    with pytest.raises(InputError, match=r"gpus.csv, line 3: memory_gib: -12.0 is not above 0"):
        reference.rows("gpus", tmp_path)


def test_repeated_runs_are_one_cell():
    row = dict.fromkeys(reference.rows("speeds")[0], None) | {
        "suite": "s", "framework": "f", "quantity": "seconds_per_step", "precision": "fp32",
        "gpu_count": 1.0, "workload": "w", "network": "n", "gpu": "K80", "source_id": "x",
    }  # fmt: skip
    cells = reference.cells_of([row | {"value": value} for value in (2.0, 9.0, 4.0)])
    assert [cell.rate for cell in cells] == [-math.log(4)]
