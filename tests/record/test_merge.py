import argparse
import json
import re
import stat
import subprocess
import sys

import pytest

from epochcost import ROOT, lock
from epochcost.record import merge as merging
from epochcost.record import place as places
from epochcost.record import record as records
from epochcost.record.names import RunName
from epochcost.record.types import parse
from epochcost.results import noise, rows

HARDWARE = ("local", "gce-t4")


@pytest.fixture
def put(tmp_path, record):
    """Writes a record below a folder: of a machine, begun in a minute of an hour."""

    def write(folder, machine, minute, trial=1, **changed):
        content = json.loads(json.dumps(record))
        content["machine"]["id"] = machine * 12
        content["run"] |= {"started_at": f"2026-11-24T10:{minute:02}:00+00:00", "trial": trial}
        content |= changed
        name = RunName.of(argparse.Namespace(**content["run"]))
        content["run"]["id"] = str(name)
        path = name.path(tmp_path / folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        return path

    return write


def merge(tmp_path):
    return merging.merge(tmp_path / "theirs", tmp_path / "own", HARDWARE)


def test_records_of_two_machines_stand_beside_each_other_unchanged(tmp_path, put):
    put("own", "a", 1), put("theirs", "b", 2)
    (theirs,) = records.find(tmp_path / "theirs")
    merged = merge(tmp_path)
    (target,) = merged.added.values()
    assert target.name == "default-1@bbbbbbbbbbbb-20261124T100200.json"
    assert target.read_bytes() == theirs.read_bytes()
    assert stat.S_IMODE(target.stat().st_mode) == 0o444
    read = [content for _, content in records.read_all(tmp_path / "own")]
    assert [(one.machine.id, one.run.trial) for one in read] == [
        ("a" * 12, 1),
        ("b" * 12, 1),
    ]
    found = rows.of_folder(tmp_path / "own", {}).runs
    assert [run.run_id[-14:] for run in found] == ["1@aaaaaaaaaaaa", "1@bbbbbbbbbbbb"]


def test_runs_of_one_name_are_told_apart_in_tables(tmp_path, put):
    for minute in (1, 2):
        put("theirs", "a", minute)
        merge(tmp_path)
    found = rows.of_folder(tmp_path / "own", {}, also=noise.noise_row)
    names = [run.run_id.split("/")[-1] for run in found.runs]
    assert names == ["default-1@aaaaaaaaaaaa", "default-1@aaaaaaaaaaaa-20261124T100200"]
    assert [row.run_id for row in found.more] == [run.run_id for run in found.runs]


def test_the_same_run_is_known_also_under_another_name(tmp_path, put):
    put("own", "a", 1)
    again = put("theirs", "a", 1, trial=7)
    merged = merge(tmp_path)
    assert (merged.added, merged.known, merged.refused) == ({}, [again], {})
    assert merge(tmp_path) == merged


def test_runs_of_cloned_machines_in_the_same_second_are_two(tmp_path, put):
    put("own", "a", 1, seed=2)
    other = put("theirs", "a", 1, seed=3)
    assert list(merge(tmp_path).added) == [other]
    assert len(list(records.read_all(tmp_path / "own"))) == 2


def test_a_copy_made_by_hand_is_not_counted_twice(tmp_path, put):
    path = put("own", "a", 1)
    path.with_name("default-2.json").write_bytes(path.read_bytes())
    aside = {}
    assert [found for found, _ in records.read_all(tmp_path / "own", aside)] == [path]
    (reason,) = aside.values()
    assert re.search("default-2.json is a copy of .*default-1.json", reason)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"energy": 0}, "unknown key 'energy'"),
        ({"energy_j": "much"}, "energy_j: 'much' is not a number or empty"),
        (
            {"quality": {"metric": "val_accuracy", "value": 0.5, "target": 0.98, "reached": True}},
            "says that it reached its target, with val_accuracy 0.5 for 0.98",
        ),
    ],
)
def test_a_record_that_cannot_be_is_refused_with_its_reason(tmp_path, put, changed, reason):
    good, bad = put("theirs", "b", 1), put("theirs", "b", 2, trial=2, **changed)
    merged = merge(tmp_path)
    assert list(merged.added) == [good]
    assert list(merged.refused) == [bad]
    assert reason in merged.refused[bad]


@pytest.mark.parametrize("content", ['{"machine": null}', '{"data": [], "machine": {}}', "[1]"])
def test_what_is_no_record_is_refused_and_the_others_are_merged(tmp_path, put, content):
    good = put("theirs", "b", 1)
    bad = good.with_name("default-2.json")
    bad.write_text(content)
    merged = merge(tmp_path)
    assert list(merged.added) == [good]
    assert "is not a record" in merged.refused[bad]


def test_a_record_of_unknown_hardware_or_of_another_place_is_refused(tmp_path, put):
    moved = put("theirs", "b", 1)
    unknown = tmp_path / "theirs/gce-t5/mnist_mlp/pytorch/default-1.json"
    unknown.parent.mkdir(parents=True)
    moved.rename(unknown)
    (reason,) = merge(tmp_path).refused.values()
    assert "put it back where it belongs" in reason


def test_two_merges_at_once_copy_each_record_once(tmp_path, put):
    for minute in range(1, 6):
        put("theirs", "b", minute, trial=minute)
    command = [sys.executable, ROOT / "scripts/merge.py", tmp_path / "theirs"]
    command += ["--records", tmp_path / "own"]
    with lock.alone(tmp_path / ".own.lock"):  # so that both begin before either merges
        both = [subprocess.Popen(command, stdout=-1, stderr=-1, text=True) for _ in range(2)]
        for process in both:
            line = "epochcost: waiting for another call that brings records\n"
            assert process.stderr.readline() == line
    ended = sorted(process.communicate()[0].splitlines()[-1] for process in both)
    assert ended == [
        "0 records merged, 5 here already, 0 refused",
        "5 records merged, 0 here already, 0 refused",
    ]
    assert len(list(records.read_all(tmp_path / "own"))) == 5
    assert len(records.find(tmp_path / "own")) == 5


def test_a_merge_beside_a_training_doubles_nothing(tmp_path, put, record):
    good = put("theirs", "b", 1)
    place = places.Place(tmp_path / "own" / good.relative_to(tmp_path / "theirs"))
    merge(tmp_path)
    places.keep(place, tmp_path / "own", parse(record))
    found = list(records.read_all(tmp_path / "own"))
    assert len(found) == len(records.find(tmp_path / "own")) == 2
    assert merge(tmp_path).added == {}


def test_what_is_no_record_is_named_and_left(tmp_path, put):
    good = put("theirs", "b", 1)
    for name in ("notes.txt", "local/default-1.json", "local/mnist_mlp/a b/default-1.json"):
        path = tmp_path / "theirs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    good.with_name("default-1 (copy).json").write_bytes(good.read_bytes())
    good.with_name("default-7.json").mkdir()
    good.with_name(".default-8.json.part").touch()
    merged = merge(tmp_path)
    assert list(merged.added) == [good]
    names = [str(path.relative_to(tmp_path / "theirs")) for path in merged.left]
    assert names == [
        "local/default-1.json",
        "local/mnist_mlp/a b/default-1.json",
        "local/mnist_mlp/keras-tensorflow/default-1 (copy).json",
        "local/mnist_mlp/keras-tensorflow/default-7.json",
        "notes.txt",
    ]
    assert f"left: {merged.left[0]}" in merged.lines()
    for number in range(20):
        (tmp_path / f"theirs/{number}.txt").touch()
    said = merge(tmp_path).lines()
    assert sum(line.startswith("left: ") for line in said) == 11
    assert any(line.startswith("left: 15 more; ") for line in said)


def test_deep_nesting_ends_in_one_line(tmp_path, put):
    good = put("theirs", "b", 1)
    for number, text in ((2, "[" * 100_000), (3, '{"a":' * 100_000), (4, "9" * 10_000)):
        good.with_name(f"default-{number}.json").write_text(text)
    command = [sys.executable, ROOT / "scripts/merge.py", tmp_path / "theirs"]
    done = subprocess.run([*command, "--records", tmp_path / "own"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[-1] == "1 records merged, 0 here already, 3 refused"
    assert len(done.stdout.splitlines()) == 5
