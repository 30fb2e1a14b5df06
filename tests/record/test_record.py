import json
import multiprocessing
import os
import signal
import stat

import jsonschema
import pytest

from epochcost import ROOT, files
from epochcost.errors import InputError
from epochcost.record import place as places
from epochcost.record import record as records
from epochcost.record.names import RunName, path_of
from epochcost.record.schema import json_schema
from epochcost.record.types import Record, encoded, parse


@pytest.fixture
def path(tmp_path):
    return RunName("local", "mnist_mlp", "keras-tensorflow", "default", 1).path(tmp_path)


def test_the_schema_is_that_of_the_types(record):
    """`PYTHONPATH=scripts python -m epochcost.record.types` writes it."""
    schema = files.read_json(ROOT / "config/schemas/record.schema.json")
    assert schema == json_schema(Record)
    validator = jsonschema.Draft202012Validator(schema)
    assert list(validator.iter_errors(record)) == []
    assert list(validator.iter_errors(record | {"energy": 0})) != []


def test_what_is_read_is_written_byte_for_byte():
    text = (ROOT / "tests/record/quick.json").read_bytes()
    assert encoded(parse(json.loads(text))) == text


def test_a_record_is_written_whole_and_read_only(path, record):
    places.Place(path).write(encoded(parse(record)))
    assert records.read(path) == parse(record)
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert list(path.parent.iterdir()) == [path]


def test_a_record_is_never_overwritten(path, record):
    places.Place(path).write(encoded(parse(record)))
    with pytest.raises(InputError, match="never overwritten"):
        places.Place(path)
    assert records.read(path) == parse(record)
    assert list(path.parent.iterdir()) == [path]


def test_a_record_that_appears_during_the_run_stays(path, record):
    place = places.Place(path)
    path.write_text("somebody else's")
    with pytest.raises(FileExistsError):
        place.write(encoded(parse(record)))
    assert path.read_text() == "somebody else's"


def test_a_record_gets_a_name_of_its_machine_and_start(tmp_path, record):
    one = parse(record)
    name, machine = RunName.of(one.run), one.machine.id
    path = places.keep(places.reserve(tmp_path, name, machine), tmp_path, one)
    assert path.name == f"default-1@{machine}-20261124T212827.json"
    assert list(path.parent.iterdir()) == [path]
    assert records.read(path) == one
    with pytest.raises(InputError, match="never overwritten"):
        places.reserve(tmp_path, name, machine)
    # Another machine has runs of the same name.
    places.reserve(tmp_path, name, "ffffffffffff").leave()
    assert name.records(tmp_path) == name.records(tmp_path, machine) == [path]
    assert name.records(tmp_path, "ffffffffffff") == []


def test_what_has_the_name_of_a_record_stays_and_the_record_is_kept_beside_it(tmp_path, record):
    one = parse(record)
    place = places.reserve(tmp_path, RunName.of(one.run), one.machine.id)
    own = path_of(one, tmp_path)
    own.write_text("somebody else's")
    other = places.keep(place, tmp_path, one)
    assert own.read_text() == "somebody else's"
    assert other == path_of(one, tmp_path, trial=2)
    assert other.read_bytes() == encoded(one)
    assert sorted(own.parent.iterdir()) == [own, other]


def test_records_of_early_versions_get_names_of_their_own(path, tmp_path, record):
    places.Place(path).write(encoded(parse(record)))
    damaged = path.with_name("default-2.json")
    damaged.write_text("{}")
    was = path.read_bytes(), path.stat().st_mtime_ns, records.read(path)
    records.migrate(tmp_path)
    own, left = records.find(tmp_path)
    assert (left, own) == (damaged, path_of(parse(record), tmp_path))
    assert (own.read_bytes(), own.stat().st_mtime_ns, records.read(own)) == was
    records.migrate(tmp_path)
    assert len(records.find(tmp_path)) == 2


def test_a_file_system_without_hard_links_keeps_records_too(path, record, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    places.Place(path).write(encoded(parse(record)))
    assert records.read(path) == parse(record)
    assert list(path.parent.iterdir()) == [path]


def test_two_processes_cannot_make_the_same_record(path):
    place = places.Place(path)
    with pytest.raises(InputError, match="is being made by another process"):
        places.Place(path)
    place.leave()
    places.Place(path).leave()
    assert list(path.parent.iterdir()) == []


def _hold(path, ready):
    places.Place(path)
    ready.set()
    signal.pause()


def test_what_a_killed_process_leaves_is_no_record_and_does_not_block(path, record):
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    process = context.Process(target=_hold, args=(path, ready))
    process.start()
    assert ready.wait(10)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert records.find(path.parents[3]) == []
    places.Place(path).write(encoded(parse(record)))
    assert records.find(path.parents[3]) == [path]


def test_a_writer_that_was_killed_when_it_had_become_the_record_does_no_harm(path, record):
    places.Place(path).write(encoded(parse(record)))
    os.link(path, path.with_name(f".{path.name}.part"))
    kept = path.rename(path.with_name("kept.json"))
    places.Place(path).leave()
    assert json.loads(kept.read_text()) == record


def test_space_is_taken_before_the_run(path, record):
    """What is written at the end fits into what was taken at the start."""
    place = places.Place(path)
    taken = next(path.parent.iterdir()).stat().st_size
    place.write(encoded(parse(record)))
    assert path.stat().st_size < taken


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not a record"),
        ("[]", "is not a record"),
        ('{"schema_version": 1}', "is not a record"),
        ('{"schema_version": 2}', "has schema version 2; this epochcost reads 1"),
    ],
)
def test_what_is_no_record_is_named(path, content, message):
    path.parent.mkdir(parents=True)
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        records.read(path)


@pytest.mark.parametrize(
    ("part", "missing", "said"),
    [
        ("machine", "id", "no machine id"),
        ("run", "started_at", "no run started_at"),
        ("data", "complete", "no data complete"),
        ("quality", "target", "no quality target"),
        ("epochs", "train_s", "no epochs 0 train_s"),
    ],
)
def test_a_record_that_lacks_a_part_of_a_part_is_named(path, record, part, missing, said):
    inner = record[part][0] if isinstance(record[part], list) else record[part]
    del inner[missing]
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match=rf"is not a record \({said}\)"):
        records.read(path)


def test_a_part_that_is_something_else_is_named(path, record):
    path.parent.mkdir(parents=True)
    for wrong in (
        {"quality": [1]}, {"epochs": 3}, {"epochs": None}, {"settings": None},
        {"weights": {}}, {"git": {}}, {"steady_state": {"low": 1}},
    ):  # fmt: skip
        path.write_text(json.dumps(record | wrong))
        with pytest.raises(InputError, match="is not a record"):
            records.read(path)
    for lacks in ({"quality": None}, {"data": None}, {"settings": {}}):
        path.write_text(json.dumps(record | lacks))
        with pytest.raises(
            InputError, match=r"contradicts itself: (it is of no own|no settings ep)"
        ):
            records.read(path)
    path.write_text(json.dumps(record | {"weights": None, "steady_state": None}))
    assert records.read(path).steady_state is None


def test_a_record_of_an_early_version_is_refused_in_one_line(path, record):
    del record["weights"]
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match=r"is not a record \(no weights\)"):
        records.read(path)


def test_records_are_found_at_their_depth_alone_and_none_is_passed_over(tmp_path, monkeypatch):
    for name in ("a/b/c/default-1.json", "a/b/default-2.json", "a/b/c/d/default-3.json",
                 "a/b/c/.default-4.json.part", "a/b/c/notes.json"):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert records.find(tmp_path) == [tmp_path / "a/b/c/default-1.json"]
    assert records.find(tmp_path / "nothing") == []
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/a").symlink_to(tmp_path / "a")
    assert records.find(tmp_path / "linked") == [tmp_path / "linked/a/b/c/default-1.json"]

    def closed(_):
        raise PermissionError(13, "Permission denied", "a/b")

    monkeypatch.setattr(records.os, "scandir", closed)
    with pytest.raises(PermissionError):
        records.find(tmp_path)


def test_a_record_of_another_name_is_refused(tmp_path, record):
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match="its name is not <variant>-<trial>@<machine>-<start>"):
        records.read(path)
