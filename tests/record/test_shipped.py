"""Measurements that come with the clone, and files of records that others send."""

import json
import subprocess
import sys
from dataclasses import replace

import jsonschema
import measured
import pytest

from epochcost import ROOT, files, schemas
from epochcost.record import merge, place, shipped
from epochcost.record import record as records
from epochcost.record.schema import json_schema
from epochcost.record.types import Record, document, encoded
from epochcost.results import rows

CATALOGUE = schemas.read("hardware")


def test_the_schema_is_that_of_the_types_and_holds_every_header():
    """`PYTHONPATH=scripts python -m epochcost.record.shipped` writes it."""
    schema = files.read_json(ROOT / "config/schemas/measured.schema.json")
    assert schema == json_schema(shipped.Header)
    for path in shipped.files_in(measured.MEASURED):
        with path.open() as lines:
            header = json.loads(next(lines))
        jsonschema.validate(header, schema)
        assert path.name == f"{header['hardware']}-{header['machine']}.jsonl"


@pytest.mark.parametrize("name", ["axes", "software"])
def test_no_record_of_the_study_contradicts_itself(name):
    aside = {}
    assert len(list(shipped.read_all(ROOT / f"study/benchmarks/results/{name}.jsonl", aside))) > 15
    assert aside == {}


def test_the_shipped_records_are_believed_and_follow_the_schema():
    schema = files.read_json(ROOT / "config/schemas/record.schema.json")
    validator = jsonschema.Draft202012Validator(schema)
    assert len(measured.read()) == 342
    assert [one.run.id for one in measured.read() if not validator.is_valid(document(one))] == []


@pytest.fixture(scope="module")
def some() -> list[Record]:
    """Three runs of one machine."""
    return [one for one in measured.read() if one.machine.id == "98bf594c8309"][:3]


def test_what_is_shared_is_merged_and_shared_again_unchanged(tmp_path, some):
    (path,) = shipped.write(some[:2], tmp_path / "mine", "on demand")
    assert shipped.write(some[1:], tmp_path / "mine", "on demand") == [path]
    merged = merge.merge(path, tmp_path / "runs", CATALOGUE)
    assert len(merged.added) == 3 and not merged.refused
    read = {one.run.id: one for _, one in records.read_all(tmp_path / "runs")}
    assert read == {one.run.id: one for one in some}
    again = merge.merge(tmp_path / "mine", tmp_path / "runs", CATALOGUE)
    assert (len(again.known), again.added, again.left) == (3, {}, [])
    command = [sys.executable, ROOT / "scripts/bundle.py", "--rented=on demand", "--machine=all"]
    options = ["--records", tmp_path / "runs", "--output", tmp_path / "theirs"]
    subprocess.run([*command, *options], check=True, cwd=tmp_path)
    assert (tmp_path / "theirs" / path.name).read_bytes() == path.read_bytes()


def test_a_shipped_run_is_a_marked_row_unless_it_is_here_too(tmp_path, some):
    shipped.write(some, tmp_path / "measured", "unknown")
    place.add(tmp_path / "runs", some[0], encoded(some[0]))
    found = rows.of_folder(tmp_path / "runs", {}, measured=tmp_path / "measured")
    assert found.aside == {}
    made = {run.run_id: run for run in found.runs}
    marks = ["", *(one.run.started_at[:10] for one in some[1:])]
    assert [made[rows.run_id(one)].shipped for one in some] == marks
    assert rows.run_row(some[1], "") == replace(made[rows.run_id(some[1])], shipped="")


@pytest.mark.parametrize(
    ("number", "change", "reason"),
    [
        (0, lambda line: line.replace('"rented"', '"hired"'), "(no rented)"),
        (0, lambda line: "", "has no header of measurements"),
        (1, lambda line: "{", "is not a record"),
        (1, lambda line: line.replace('"epochs":[', '"epoch":['), "is not a record"),
        (1, lambda line: line.replace("98bf594c8309", "0" * 12), "is of another machine"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_set_aside_with_its_line(tmp_path, some, number, change, reason):
    (path,) = shipped.write(some, tmp_path, "unknown")
    lines = path.read_text().splitlines()
    lines[number] = change(lines[number])
    path.write_text("\n".join(lines) + "\n")
    aside = {}
    kept = len(list(shipped.read_all(tmp_path, aside)))
    assert kept == (2 if number else 0)
    ((where, said),) = aside.items()
    assert reason in said and said.startswith(str(where))
    assert number == 0 or str(where).endswith(f":{number + 1}")
