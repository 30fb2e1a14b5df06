"""Records that contradict themselves, or the schema: refused by a merge, set aside by analysis."""

import json
import os
import shutil

import measured
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epochcost import ROOT, files, schemas
from epochcost.errors import InputError
from epochcost.record import merge
from epochcost.record import record as records
from epochcost.record.types import encoded, parse
from epochcost.results import rows

TRAINING = ("mnist_mlp", "pytorch", "default")
T4 = {"name": "Tesla T4", "uuid": "GPU-1", "memory_gib": 15.0, "power_limit_w": 70.0}
CORES = {"logical_cores": 8, "usable_cores": 8}


@pytest.fixture(scope="module")
def shipped() -> dict[str, dict]:
    """A full and a quick run that ship with the project."""
    found = {}
    for one in measured.read():
        if (one.run.workload, one.run.framework, one.run.variant) == TRAINING:
            found.setdefault(one.run.scale, json.loads(encoded(one)))
    return found


@pytest.fixture
def reason_of(tmp_path):
    """Why analysis and a merge leave a record out; None where they do not."""

    def ask(content: dict | str) -> str | None:
        text = content if isinstance(content, str) else json.dumps(content)
        run = json.loads(text)["run"]
        place = "/".join(run[key] for key in ("hardware", "workload", "framework"))
        path = tmp_path / "runs" / place / f"{run['variant']}-3.json"
        shutil.rmtree(tmp_path / "runs", ignore_errors=True)
        path.parent.mkdir(parents=True)
        path.write_text(text)
        merged = merge.merge(path, tmp_path / "own", schemas.read("hardware"))
        found = rows.of_folder(tmp_path / "runs", {})
        assert len(found.runs) + len(found.aside) == 1
        assert found.aside == merged.refused
        return found.aside.get(path)

    return ask


def drop_half(content):
    del content["epochs"][10:]


def double_an_epoch(content):
    content["epochs"][4] = content["epochs"][3]


def change(where: str, value):
    """Sets what is at a place: run.trial."""

    def set_it(content):
        *keys, last = where.split(".")
        for key in keys:
            content = content[int(key) if key.isdigit() else key]
        content[int(last) if last.isdigit() else last] = value

    set_it.__name__ = f"{where}={value!r:.30}"
    return set_it


def both(*changes):
    def all_of_them(content):
        for one in changes:
            one(content)

    all_of_them.__name__ = " and ".join(one.__name__ for one in changes)
    return all_of_them


def of_hardware(name, **machine):
    def set_it(content):
        content["run"]["hardware"] = name
        content["machine"] |= machine

    set_it.__name__ = f"{name} {machine!r:.40}"
    return set_it


USE = {
    "uuid": "GPU-0", "share": 0.5, "peak_memory_mib": 1.0, "power_w": -3.0, "clock_mhz": None,
    "held_down_by": None, "processes_before": 0, "energy_j": 1.0, "energy_method": None,
}  # fmt: skip
PAUSE = {"seconds": 1e9, "during": None, "cause": "stopped"}
FAILURE = {"phase": "train", "reason": "out of memory"}


@pytest.mark.parametrize(
    ("scale", "changed", "reason"),
    [
        ("full", drop_half, "it has 10 of 20 epochs, and its status is ok"),
        ("full", double_an_epoch, "epoch 4 is there twice"),
        ("full", change("epochs.7.epoch", 21), "its 20 epochs are not numbered from 1 to 20"),
        ("full", change("epochs", []), "it is ok, and has no epochs"),
        ("quick", change("epochs", []), "it is ok, and has no epochs"),
        ("full", change("epochs.3.train_s", float("inf")), "inf is not a finite number"),
        ("full", change("epochs.3.train_s", float("nan")), "nan is not a finite number"),
        ("full", change("epochs.3.loss", float("nan")), "nan is not a finite number"),
        ("full", change("epochs.3.train_s", -1000.0), "epochs: 3: train_s: -1000.0 is below 0"),
        ("full", change("epochs.3.train_s", 0), "epoch 4 took 0 s"),
        ("full", change("epochs.3.train_s", 1e300), "its epochs took 1e+300 s"),
        ("full", change("epochs.3.train_s", 0.001), "training took"),
        ("full", change("epochs.3.train_s", 10**400), "more than 64 bits"),
        ("full", change("epochs.3.train_s", True), "True is not a number"),
        ("full", change("epochs.3.samples", 5), "epoch 4 has 5 samples, and the data 60000"),
        ("full", change("epochs.3.metric", 1.5), "epoch 4 has an accuracy of 1.5"),
        ("full", change("wall_s", 5.0), "its epochs took"),
        ("full", change("wall_s", 1e6), "it took 1e+06 s, and"),
        ("full", change("phases.build", 1e6), "its phases took"),
        ("quick", change("blocks", []), "not every epoch has its blocks"),
        ("quick", change("blocks.5.seconds", 77.0), "has blocks of"),
        ("full", change("run.finished_at", "2020-01-01T00:00:00Z"), "finished before it started"),
        ("full", change("run.started_at", "yesterday"), "'yesterday' is no date and time"),
        ("full", change("run.started_at", "2026-11-24T10:00:00"), "with its distance from UTC"),
        ("full", change("run.started_at", "0001-01-01T00:00:00+00:00"), "it is of the year 1"),
        ("full", change("run.trial", 0), "run: trial: 0 is below 1"),
        ("full", change("seed", 1.0), "seed: 1.0 is not a whole number or empty"),
        ("full", change("status", "failed"), "its status is failed, and it has no failure"),
        ("full", change("failure", FAILURE), "its status is ok, and it has a failure"),
        ("full", change("quality.reached", False), "it says that it missed its target"),
        ("full", change("quality.value", 2.0), "its accuracy is 2"),
        ("full", change("quality.target", 0.1), "its recipe asks for something else"),
        ("quick", change("quality.reached", False), "did not train to the end on real data"),
        ("full", change("data.source", "synthetic"), "did not train to the end on real data"),
        ("full", change("data.dataset", "imdb"), "and its recipe on another data set"),
        ("full", change("steady_state.samples_per_second", 0), "not between its own bounds"),
        ("full", change("machine.usable_cores", 0), "usable_cores: 0 is below 1"),
        ("full", change("machine.cpu_model", "\ud800"), "is no Unicode text"),
        ("full", change("machine.id", "0123456789ab\n"), "is not of the form"),
        ("full", change("software.settings", {"devices": "two"}), "its number of devices is none"),
        ("full", change("settings.model.deep", json.loads("[" * 99 + "]" * 99)), "too deeply"),
        ("full", change("run.finished_at", "2199-01-01T00:00:00+00:00"), "it is of 2199-01-01"),
        ("full", change("noise.others_cpu_share", 5.0), "others_cpu_share: 5.0 is above 1.1"),
        ("full", change("utilisation.cpu_share", -0.5), "cpu_share: -0.5 is below 0"),
        ("full", change("energy_j", -5.0), "energy_j: -5.0 is below 0"),
        ("full", change("utilisation.gpus", [USE]), "power_w: -3.0 is below 0"),
        ("full", change("noise.pauses", [PAUSE]), "it was paused for 1e+09 s, and took"),
        ("full", change("machine.cpu_model", "x" * 5_000), "it is text of 5,000 characters"),
        ("full", change("settings.model.rate", float("inf")), "inf is not a finite number"),
        ("full", of_hardware("gce-t4"), "its machine is not gce-t4: it has no GPU, not 1 x T4"),
        ("full", of_hardware("gce-n1-highcpu-8", gpus=[T4], **CORES), "it has Tesla T4"),
        ("full", of_hardware("gce-n1-highcpu-8"), "it has 2 usable cores, not 8"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_left_out_with_one_reason(shipped, reason_of, scale, changed, reason):
    content = json.loads(json.dumps(shipped[scale]))
    assert reason_of(content) is None
    changed(content)
    said = reason_of(content)
    assert reason in said
    assert said.isprintable()


@pytest.mark.parametrize(
    ("scale", "changed"),
    [
        ("full", both(change("status", "failed"), change("failure", FAILURE), drop_half)),
        ("full", of_hardware("own-node-7")),
        ("full", change("run.started_at", "2015-06-01T10:00:00-05:00")),
    ],
)
def test_what_can_be_is_believed(shipped, tmp_path, scale, changed):
    content = json.loads(json.dumps(shipped[scale]))
    content["quality"]["reached"] = None
    changed(content)
    run = content["run"]
    place = "/".join(run[key] for key in ("hardware", "workload", "framework"))
    path = tmp_path / place / f"{run['variant']}-3.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content))
    assert records.read(path).run.trial == 3


def test_a_key_that_is_given_twice_is_refused(shipped, reason_of):
    text = json.dumps(shipped["full"]).replace('"seed":', '"seed": 1, "seed":')
    assert "the key 'seed' is given twice" in reason_of(text)


def test_one_instant_is_one_run_however_it_is_written(shipped, tmp_path):
    content = json.loads(json.dumps(shipped["full"]))
    begun = content["run"]["started_at"]
    path = tmp_path / "theirs/local/mnist_mlp/pytorch/default-1.json"
    path.parent.mkdir(parents=True)

    def merged():
        path.write_text(json.dumps(content))
        return merge.merge(tmp_path / "theirs", tmp_path / "own", ("local",))

    assert len(merged().added) == 1
    hour = f"{int(begun[11:13]) + 1:02}" if begun[11:13] != "23" else pytest.skip("at midnight")
    for other in (
        begun.replace("+00:00", "Z"),
        begun.replace("+00:00", "z").replace("T", "t"),
        begun.replace("+00:00", ".000000+00:00"),
        begun.replace("+00:00", "-00:00"),
        f"{begun[:11]}{hour}{begun[13:19]}+01:00",
    ):
        content["run"]["started_at"] = other
        assert merged().known == [path], other
    found = rows.of_folder(tmp_path / "theirs", {})
    assert [run.started_at for run in found.runs] == [begun]


VALUES = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.text() | st.lists(
    st.none()
) | st.dictionaries(st.text(), st.none(), max_size=2)  # fmt: skip


@settings(max_examples=300, deadline=None, database=None)
@given(st.data())
def test_the_compiled_schema_agrees_with_the_validator(data):
    """But for 1.0, which is a whole number to JSON Schema, and dates, which it does not check."""
    record = json.loads((ROOT / "tests/record/quick.json").read_text())
    inside = record
    while True:
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        key = data.draw(st.sampled_from(list(keys)))
        if not isinstance(inside[key], dict | list) or not inside[key] or data.draw(st.booleans()):
            break
        inside = inside[key]
    inside[key] = data.draw(VALUES)
    if isinstance(inside[key], float) or (inside is record["run"] and key.endswith("_at")):
        return
    ours, theirs = True, True
    try:
        parse(record)
    except InputError:
        ours = False
    try:
        schemas.check(record, schemas.FOLDER / "record.schema.json", "")
    except InputError:
        theirs = False
    assert ours == theirs, (key, inside[key])


def test_what_is_no_file_or_cannot_be_read_is_set_aside_and_the_others_are_analysed(
    shipped, tmp_path, monkeypatch
):
    folder = tmp_path / "local/mnist_mlp/pytorch"
    folder.mkdir(parents=True)
    good = folder / "default-1.json"
    good.write_text(json.dumps(shipped["full"]))
    (folder / "default-2.json").mkdir()
    os.mkfifo(folder / "default-3.json")
    (folder / "default-4.json").symlink_to("/dev/zero")
    (folder / "default-5.json").symlink_to("nothing")
    with open(folder / "default-6.json", "wb") as huge:
        huge.truncate(2**30)
    forbidden = folder / "default-7.json"
    forbidden.write_text(json.dumps(shipped["quick"]))
    (folder / "default-8.json").write_bytes(b"\xff\xfe")
    (folder / "default 9.json").write_text("{}")
    read = files.read_json

    def refuse(path):
        if path == forbidden:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(files, "read_json", refuse)
    found = rows.of_folder(tmp_path, {})
    assert [run.trial for run in found.runs] == [1]
    said = {path.stem: reason.removeprefix(str(path)) for path, reason in found.aside.items()}
    assert said.pop("default-8").startswith(" is not a record ('utf-8' codec")
    assert said == {
        "default-2": " is a folder",
        "default-3": " is not a record (it is no file)",
        "default-4": " is not a record (it is no file)",
        "default-5": ": No such file or directory",
        "default-6": " is not a record (it has 1073741824 bytes)",
        "default-7": ": Permission denied",
        "default 9": f" is not at the place of a record: {records.PLACE}",
    }


def test_how_long_a_prediction_is_does_not_make_it_take_long(shipped, tmp_path):
    """A recipe of 10^9 epochs is odd, and no contradiction."""
    content = json.loads((ROOT / "tests/record/quick.json").read_text())
    content["settings"]["epochs"] = 10**9
    path = tmp_path / "local/mnist_mlp/keras-tensorflow/default-1.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content))
    (run,) = rows.of_folder(tmp_path, {}).runs
    assert run.time_s > 10**8
