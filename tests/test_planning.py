import json
import re
from pathlib import Path

import pytest

from epochcost import configuration, planning
from epochcost.datasets.registry import Origin
from epochcost.errors import InputError
from epochcost.records.record import path_of

HERE, ELSEWHERE = "0123456789ab", "ba9876543210"


@pytest.fixture
def known():
    settings = configuration.read_yaml(configuration.ROOT / "config/config.yaml")
    return lambda **change: configuration.load(
        settings | {"workloads": ["mnist_mlp"], "frameworks": ["pytorch"]} | change
    )


@pytest.fixture
def keep(tmp_path, record):
    """Puts a record of mnist_mlp with pytorch on hardware local into the folder."""

    def put(trial: int, machine: str = HERE, hardware: str = "local", **run) -> Path:
        content = json.loads(json.dumps(record))
        content["run"] |= {"trial": trial, "hardware": hardware, "framework": "pytorch"} | run
        content["machine"]["id"] = machine
        path = path_of(tmp_path, hardware, "mnist_mlp", "pytorch", "default", trial)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        return path

    return put


def plan(known, folder, kind="complete"):
    return planning.plan(
        known,
        {"id": HERE, "usable_cores": 2},
        folder,
        {"mnist": Origin("mirror", kind)},
        folder / "tuned.yaml",
    )


def trials(result):
    return [run.trial for run in result.missing]


def test_nothing_is_there_so_everything_is_missing(known, tmp_path):
    assert trials(plan(known(runs=3), tmp_path)) == [1, 2, 3]


def test_a_record_that_is_there_counts_and_is_never_planned_again(known, tmp_path, keep):
    path = keep(1)
    result = plan(known(), tmp_path)
    assert result.missing == []
    assert result.existing == [path]


def test_gaps_are_filled_with_free_numbers(known, tmp_path, keep):
    keep(2)
    assert trials(plan(known(runs=3), tmp_path)) == [1, 3]


def test_another_machine_counts_for_rented_hardware_but_not_for_local(known, tmp_path, keep):
    keep(1, machine=ELSEWHERE)
    assert trials(plan(known(), tmp_path)) == [2]
    keep(1, machine=ELSEWHERE, hardware="gce-t4")
    assert plan(known(hardware=["gce-t4"]), tmp_path).missing == []


def test_another_scale_or_other_data_is_a_new_trial(known, tmp_path, keep):
    keep(1)
    assert trials(plan(known(scale="full"), tmp_path)) == [2]
    assert trials(plan(known(), tmp_path, kind="synthetic")) == [2]


def test_another_recipe_or_number_of_cores_is_a_new_trial(known, tmp_path, keep):
    path = keep(1)
    content = json.loads(path.read_text())
    for change in ({"settings": {"epochs": 2}}, {"machine": {"usable_cores": 1}}):
        other = json.loads(json.dumps(content))
        for part, values in change.items():
            other[part] |= values
        path.write_text(json.dumps(other))
        assert trials(plan(known(), tmp_path)) == [2]


def test_another_title_or_target_is_the_same_recipe(known, tmp_path, keep):
    path = keep(1)
    content = json.loads(path.read_text())
    content["settings"] |= {"title": "other", "quality": {"metric": "val_accuracy", "target": 1}}
    path.write_text(json.dumps(content))
    assert plan(known(), tmp_path).missing == []


def test_the_analysis_waits_for_the_same_files_before_and_after(known, tmp_path, keep):
    records, markers = tmp_path, tmp_path / "made"
    before = plan(known(), tmp_path).inputs(records, markers)
    keep(1)
    marker = markers / "local/mnist_mlp/pytorch/default-1"
    marker.parent.mkdir(parents=True)
    marker.touch()
    assert plan(known(), tmp_path).inputs(records, markers) == before == [str(marker)]
    plan(known(), tmp_path).drop_stale_markers(records, markers)
    assert marker.exists()
    elsewhere = keep(2, machine=ELSEWHERE)
    assert str(elsewhere) in plan(known(), tmp_path).inputs(records, markers)


def test_a_run_whose_record_is_gone_is_made_again(known, tmp_path):
    marker = tmp_path / "made/local/mnist_mlp/pytorch/default-1"
    marker.parent.mkdir(parents=True)
    marker.touch()
    result = plan(known(), tmp_path / "runs")
    result.drop_stale_markers(tmp_path / "runs", tmp_path / "made")
    assert trials(result) == [1]
    assert not marker.exists()


def test_a_failed_run_counts(known, tmp_path, keep):
    path = keep(1)
    content = json.loads(path.read_text())
    content |= {"status": "failed", "failure": {"phase": "train", "reason": "out of memory"}}
    path.write_text(json.dumps(content))
    assert plan(known(), tmp_path).missing == []


def test_the_pattern_matches_missing_runs_alone(known, tmp_path, keep):
    keep(1)
    result = plan(known(runs=2, frameworks=["pytorch", "keras-tensorflow"]), tmp_path)
    pattern = re.compile(
        rf"^results/made/local/(?P<workload>{result.workload_pattern('local')})"
        r"/(?P<framework>[a-z0-9-]+)/(?P<variant>[a-z0-9_]+)-(?P<trial>[0-9]+)$"
    )
    root = Path("results/made/local")
    assert pattern.match(str(root / "mnist_mlp/pytorch/default-2"))
    assert pattern.match(str(root / "mnist_mlp/keras-tensorflow/default-1"))
    assert not pattern.match(str(root / "mnist_mlp/pytorch/default-1"))
    assert not pattern.match(str(root / "mnist_mlp/pytorch/default-3"))
    assert not pattern.match(str(root / "mnist_cnn/pytorch/default-2"))


def test_a_hardware_without_missing_runs_matches_nothing(known, tmp_path):
    assert not re.match(plan(known(), tmp_path).workload_pattern("gce-k80"), "mnist_mlp")


def test_half_written_files_are_not_read_and_broken_records_are_named(known, tmp_path, keep):
    path = keep(1)
    path.with_name(".default-2.json.part").write_text('{"schema_')
    assert plan(known(), tmp_path).missing == []
    path.write_text('{"schema_')
    with pytest.raises(InputError, match=r"default-1\.json is not a record"):
        plan(known(), tmp_path)


def test_a_record_in_the_wrong_place_is_refused(known, tmp_path, keep):
    path = keep(1)
    path.rename(path.with_name("default-7.json"))
    with pytest.raises(InputError, match="put it back where it belongs"):
        plan(known(), tmp_path)
