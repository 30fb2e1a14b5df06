"""The second copy of each record."""

import json
import multiprocessing
import os

import pytest
from observed import coherent

from epochcost.record import backup
from epochcost.record import place as places
from epochcost.record import record as records
from epochcost.record.names import RunName
from epochcost.record.types import parse


@pytest.fixture
def root(tmp_path):
    return tmp_path / "runs"


@pytest.fixture
def made(root, record):
    """Makes a record as a training does: of a second run, with its trial."""

    def make(second: int, trial: int):
        content = coherent(record)
        content["run"] |= {"started_at": f"2026-11-24T10:00:{second:02}+00:00", "trial": trial}
        one = parse(content)
        return places.keep(places.reserve(root, RunName.of(one.run), one.machine.id), root, one)

    return make


def copies(root):
    return records.find(places.copies(root))


def contents(root):
    return {path.name: path.read_bytes() for path in records.find(root)}


def test_a_record_has_a_copy_at_once_and_comes_back_as_it_was(root, made):
    path = made(1, 1)
    (copy,) = copies(root)
    before = path.read_bytes()
    assert copy.read_bytes() == before
    assert copy.stat().st_ino != path.stat().st_ino
    path.unlink()
    assert backup.gone(root) == [copy]
    assert backup.settle(root) == {path: copy}
    assert path.read_bytes() == before
    assert backup.gone(root) == [] and backup.settle(root) == {}


def test_a_record_that_was_damaged_comes_back_beside_what_is_left(root, made):
    path = made(1, 1)
    before = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(before[:100])
    (back,) = backup.settle(root)
    assert back.name == path.name.replace("-1@", "-2@")
    assert back.read_bytes() == before
    assert path.read_bytes() == before[:100]
    assert backup.settle(root) == {}


def test_one_comes_back_beside_that_of_another_machine_with_its_number(root, made, record):
    path = made(1, 1)
    mine = path.read_bytes()
    path.unlink()
    theirs = coherent(record)
    theirs["machine"]["id"] = "f" * 12
    (path.parent / "default-1.json").write_text(json.dumps(theirs))
    assert list(backup.settle(root)) == [path]
    assert path.read_bytes() == mine
    assert [one.name[:22] for one in copies(root)] == [
        "default-1@9552f777d6a3",
        "default-1@ffffffffffff",
    ]
    before = contents(root), contents(places.copies(root))
    assert backup.settle(root) == {}
    assert (contents(root), contents(places.copies(root))) == before


def test_who_deletes_both_is_rid_of_a_record(root, made):
    path, other = made(1, 1), made(2, 2)
    path.unlink()
    (places.copies(root) / path.relative_to(root)).unlink()
    assert backup.settle(root) == {}
    assert records.find(root) == [other]


def test_what_came_from_elsewhere_gets_its_copy_and_what_is_no_record_none(root, record):
    folder = root / "local/mnist_mlp/keras-tensorflow"
    folder.mkdir(parents=True)
    (folder / "default-1.json").write_text(json.dumps(record))
    (folder / "default-2.json").write_text("{}")
    os.mkfifo(folder / "default-3.json")
    assert backup.settle(root) == {}
    assert [path.name[:22] for path in copies(root)] == ["default-1@9552f777d6a3"]
    (folder / "default-2.json").unlink()
    assert backup.settle(root) == {}


def test_a_copy_with_an_edited_record_stays_and_brings_nothing_twice(root, made):
    path = made(1, 1)
    content = json.loads(path.read_text())
    path.chmod(0o644)
    path.write_text(json.dumps(content | {"sample": "edited"}))
    assert backup.settle(root) == {}
    assert len(records.find(root)) == 1


def test_a_copy_that_does_not_fit_is_made_later(root, made, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(places, "put", full)
        path = made(1, 1)
    assert f"{path} has no copy yet: No space left on device" in capsys.readouterr().err
    assert copies(root) == []
    backup.settle(root)
    assert len(copies(root)) == 1


def test_of_two_calls_at_once_one_brings_a_record_back(root, made):
    path = made(1, 1)
    path.unlink()
    context = multiprocessing.get_context("fork")
    calls = [context.Process(target=backup.settle, args=(root,)) for _ in range(4)]
    with backup.alone(root):
        for call in calls:
            call.start()
    for call in calls:
        call.join(60)
        assert call.exitcode == 0
    assert records.find(root) == [path]
    assert len(copies(root)) == 1
