import json
import os
import re
from pathlib import Path

import pytest
from observed import coherent, typed

from epochcost import ROOT, files
from epochcost.data.registry import Origin
from epochcost.errors import InputError
from epochcost.plan import runs, wanted
from epochcost.record import record as records
from epochcost.record.names import RunName
from epochcost.record.types import Machine

HERE, ELSEWHERE = "0123456789ab", "ba9876543210"


@pytest.fixture
def known():
    settings = files.read_yaml(ROOT / "config/config.yaml")
    return lambda **change: wanted.read(
        settings | {"workloads": ["mnist_mlp"], "frameworks": ["pytorch"]} | change
    )


@pytest.fixture
def keep(tmp_path, record):
    """Puts a record of mnist_mlp with pytorch on hardware local into the folder."""

    def put(trial: int, machine: str = HERE, hardware: str = "local", **run) -> Path:
        content = json.loads(json.dumps(record))
        content["run"] |= {"trial": trial, "hardware": hardware, "framework": "pytorch"} | run
        content["machine"]["id"] = machine
        framework = content["run"]["framework"]
        path = RunName(hardware, "mnist_mlp", framework, "default", trial).path(tmp_path)
        if hardware == "gce-t4":
            gpu = {"name": "Tesla T4", "uuid": "GPU-1", "memory_gib": 15.0, "power_limit_w": 70.0}
            content["machine"] |= {"gpus": [gpu], "logical_cores": 4, "usable_cores": 4}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        return path

    return put


def plan(known, folder, kind="complete", markers=None):
    return runs.plan(
        known,
        typed({"id": HERE, "usable_cores": 2}, Machine),
        folder,
        {"mnist": Origin("mirror", kind)},
        folder / "tuned.yaml",
        markers,
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


def test_runs_of_two_machines_under_one_number_are_two(known, tmp_path, keep):
    keep(1, machine=ELSEWHERE, hardware="gce-t4")
    records.migrate(tmp_path)
    keep(1, hardware="gce-t4")
    result = plan(known(hardware=["gce-t4"], runs=3), tmp_path)
    assert trials(result) == [2]
    assert len(result.files(result.round(1), tmp_path, tmp_path / "made")) == 2
    assert result.inputs(tmp_path, tmp_path / "made", missing=False) == sorted(
        map(str, records.find(tmp_path))
    )


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


def test_other_variables_that_change_how_a_framework_computes_are_a_new_trial(
    known, tmp_path, keep, monkeypatch
):
    keep(1)
    keep(1, machine=ELSEWHERE, hardware="gce-t4")
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    assert trials(plan(known(), tmp_path)) == [2]
    # Which variables another machine has is not known here.
    assert plan(known(hardware=["gce-t4"]), tmp_path).missing == []
    path = keep(2)
    content = json.loads(path.read_text())
    content["software"]["variables"] = {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true"}
    path.write_text(json.dumps(content))
    assert plan(known(), tmp_path).missing == []


def test_another_title_or_target_is_the_same_recipe(known, tmp_path, keep):
    path = keep(1)
    content = json.loads(path.read_text())
    content["settings"] |= {"title": "other", "quality": {"metric": "val_accuracy", "target": 1}}
    content["quality"]["target"] = 1
    path.write_text(json.dumps(content))
    assert plan(known(), tmp_path).missing == []


def test_the_analysis_waits_for_the_same_files_before_and_after(known, tmp_path, keep):
    records, markers = tmp_path, tmp_path / "made"
    before = plan(known(), tmp_path).inputs(records, markers)
    path = keep(1)
    marker = markers / "local/mnist_mlp/pytorch/default-1"
    marker.parent.mkdir(parents=True)
    marker.touch()
    assert plan(known(), tmp_path).inputs(records, markers) == before == [str(marker)]
    os.utime(marker, (0, 0))  # the record came later, in place of the one that was made
    assert str(path) in plan(known(), tmp_path).inputs(records, markers)
    elsewhere = keep(2, machine=ELSEWHERE)
    assert str(elsewhere) in plan(known(), tmp_path).inputs(records, markers)


def test_a_run_whose_record_is_gone_is_made_again_under_the_next_name(known, tmp_path):
    marker = tmp_path / "made/local/mnist_mlp/pytorch/default-1"
    marker.parent.mkdir(parents=True)
    marker.touch()
    assert trials(plan(known(), tmp_path / "runs", markers=tmp_path / "made")) == [2]


def test_a_failed_run_counts(known, tmp_path, keep):
    path = keep(1)
    content = json.loads(path.read_text())
    content |= {"status": "failed", "failure": {"phase": "train", "reason": "out of memory"}}
    path.write_text(json.dumps(content))
    assert plan(known(), tmp_path).missing == []


def test_the_pattern_matches_no_run_that_is_there(known, tmp_path, keep):
    keep(1)
    result = plan(known(runs=2, frameworks=["pytorch", "keras-tensorflow"]), tmp_path)
    pattern = re.compile(rf"^results/made/local/(?P<run>{result.pattern('local')})$")
    root = Path("results/made/local")
    assert pattern.match(str(root / "mnist_mlp/pytorch/default-2"))
    assert pattern.match(str(root / "mnist_mlp/pytorch/default-11"))
    assert pattern.match(str(root / "mnist_mlp/keras-tensorflow/default-1"))
    assert not pattern.match(str(root / "mnist_mlp/pytorch/default-1"))


def test_a_hardware_without_missing_runs_matches_nothing(known, tmp_path):
    assert not re.match(plan(known(), tmp_path).pattern("gce-k80"), "mnist_mlp/pytorch/default-1")


def test_half_written_files_are_not_read(known, tmp_path, keep):
    path = keep(1)
    path.with_name(".default-2.json.part").write_text('{"schema_')
    assert plan(known(), tmp_path).missing == []


@pytest.mark.parametrize("what", ["text", "contradiction", "folder", "pipe", "link to nothing"])
def test_what_cannot_be_believed_does_not_count_and_its_number_is_not_free(
    known, tmp_path, keep, what
):
    keep(1)
    path = keep(2)
    content = json.loads(path.read_text()) | {"epochs": []}
    path.unlink()
    match what:
        case "text":
            path.write_text('{"schema_')
        case "contradiction":
            path.write_text(json.dumps(content))
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "link to nothing":
            path.symlink_to("nothing")
    assert trials(plan(known(runs=2), tmp_path)) == [3]


def test_a_record_in_the_wrong_place_counts_for_nothing(known, tmp_path, keep):
    path = keep(1)
    path.rename(path.with_name("tuned-1.json"))
    assert trials(plan(known(), tmp_path)) == [1]


@pytest.fixture
def keep_full(keep):
    """Puts a full run of so many seconds into the folder, of a framework."""

    def put(trial: int, seconds: float, framework: str = "pytorch", **change) -> None:
        path = keep(trial, scale="full", framework=framework)
        content = json.loads(path.read_text())
        epochs = content["settings"]["epochs"]
        epoch = content["epochs"][0] | {"train_s": seconds / epochs - 1, "eval_s": 1.0}
        content["epochs"] = [epoch] * epochs
        path.write_text(json.dumps(coherent(content, wall_s=600) | change))

    return put


BOTH = ["pytorch", "keras-tensorflow"]


def test_runs_are_made_in_rounds_in_an_order_that_follows_from_the_seed(known, tmp_path):
    def order(seed: int):
        return plan(known(runs=20, frameworks=BOTH, seed=seed), tmp_path).missing

    runs = order(1)
    assert [run.trial for run in runs] == [trial for trial in range(1, 21) for _ in range(2)]
    first = [run.framework for run in runs[::2]]
    assert 3 <= first.count("pytorch") <= 17, "in some rounds the one is first, in some the other"
    assert order(1) == runs != order(2)
    wanted = plan(known(runs=20, frameworks=BOTH), tmp_path)
    names = [f"{run.workload}/{run.framework}/{run.variant}-{run.trial}" for run in runs]
    priorities = [wanted.priority("local", name) for name in names]
    assert priorities == list(range(40, 0, -1))


def test_a_precision_wants_six_runs_and_then_more_until_it_is_reached(known, tmp_path, keep_full):
    wanted = {"precision": "2%", "scale": "full", "frameworks": BOTH, "budget_hours": 100}
    assert len(plan(known(**wanted), tmp_path).missing) == 12
    for trial in range(1, 7):
        keep_full(trial, 100 + trial / 10)
        keep_full(trial, 100 + 2 * trial, "keras-tensorflow")
    (more,) = plan(known(**wanted), tmp_path).missing
    assert (more.framework, more.trial) == ("keras-tensorflow", 7)
    for trial in range(7, 15):
        keep_full(trial, 107, "keras-tensorflow")
    result = plan(known(**wanted), tmp_path)
    assert result.missing == []
    assert result.round(13) == []
    # What a round wants does not depend on what was made after it.
    assert [(run.framework, run.trial) for run in result.round(7)] == [("keras-tensorflow", 7)]


def test_the_budget_ends_the_rounds(known, tmp_path, keep_full):
    for trial in range(1, 8):
        keep_full(trial, 100 + 5 * trial)  # ten minutes each
    wanted = {"precision": "1%", "scale": "full"}
    assert plan(known(**wanted, budget_hours=1), tmp_path).missing == []
    assert trials(plan(known(**wanted, budget_hours=2), tmp_path)) == [8]


def test_disturbed_runs_count_less_and_failed_ones_are_not_tried_for_ever(
    known, tmp_path, keep_full, record
):
    wanted = {"precision": "2%", "scale": "full", "budget_hours": 100}
    for trial in range(1, 7):
        keep_full(trial, 100)
    keep_full(3, 100, noise=record["noise"] | {"flags": ["load from others"]})
    assert trials(plan(known(**wanted), tmp_path)) == [7]
    failed = {"status": "failed", "failure": {"phase": "train", "reason": "out of memory"}}
    for trial in range(1, 7):
        keep_full(trial, 100, **failed)
    assert plan(known(**wanted), tmp_path).missing == []


def test_the_pattern_lets_a_precision_ask_for_more_runs(known, tmp_path, keep_full):
    keep_full(1, 100)
    result = plan(known(precision=0.02, scale="full"), tmp_path)
    pattern = re.compile(result.pattern("local"))
    assert not pattern.match("mnist_mlp/pytorch/default-1")
    assert pattern.match("mnist_mlp/pytorch/default-2")
    assert pattern.match("mnist_mlp/pytorch/default-60")


def test_files_stand_for_runs_of_here_and_of_elsewhere(known, tmp_path, keep):
    path, markers = keep(1), tmp_path / "made"
    result = plan(known(runs=2), tmp_path)
    marker = markers / "local/mnist_mlp/pytorch/default-2"
    runs = [*result.round(1), *result.round(2)]
    assert result.files(runs, tmp_path, markers) == sorted([str(path), str(marker)])


def test_again_is_one_more_of_each_whatever_there_is(known, tmp_path, keep):
    keep(1)
    keep(2)
    frameworks = ["pytorch", "keras-tensorflow"]
    wanted = plan(known(again=True, frameworks=frameworks), tmp_path)
    assert {(run.framework, run.trial) for run in wanted.missing} == {
        ("pytorch", 3),
        ("keras-tensorflow", 1),
    }
    pattern = re.compile(wanted.pattern("local"))
    assert pattern.match("mnist_mlp/pytorch/default-3")
    assert not pattern.match("mnist_mlp/pytorch/default-2")


def test_again_and_a_precision_contradict_each_other(known):
    with pytest.raises(InputError, match="again and precision"):
        known(again=True, precision=0.02, scale="full")
