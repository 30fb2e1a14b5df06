"""Own trainings in the workflow: the command, the record, the tables, an entry, another host."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml
from clones import make_clone

from epochcost import ROOT
from epochcost.own import recipe
from epochcost.record import check, record
from epochcost.record.types import Failure, document
from epochcost.results import rows, tables
from epochcost.show import measured
from epochcost.statistics import own as statistics

# Ten milliseconds a step, forty steps, and an output of its own.
SCRIPT = """\
import sys, time
import epochcost
count = int(sys.argv[1])
for step in epochcost.steps(range(count), total=count):
    time.sleep(0.01)
print("the end")
"""


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone with a training script in its folder `mine`."""
    made = make_clone(tmp_path / "epochcost")
    (made.folder / "mine").mkdir()
    (made.folder / "mine/train.py").write_text(SCRIPT)
    return made


def measure(clone, *words: str, check: bool = True):
    """Run the command in the folder of the script."""
    return clone.run("python", "../scripts/measure.py", *words, check=check, inside="mine")


def the_record(clone, name: str = "train"):
    (path,) = (clone.folder / f"results/runs/local/{name}/own").glob("*.json")
    return record.read(path)


def test_a_script_that_ends_by_itself_is_measured(clone):
    done = measure(clone, "--price", "3.6", "--", sys.executable, "train.py", "40")
    assert done.stdout == "the end\n"
    assert "epochcost: train took " in done.stderr and "(measured, 40 steps" in done.stderr
    assert "at $3.60 an hour" in done.stderr
    one = the_record(clone)
    assert (one.run.scale, one.run.framework, one.own.ended) == ("full", "own", "finished")
    assert one.own.steps == 40 and one.own.command[1:] == ("train.py", "40")
    row = rows.run_row(one, "")
    assert (row.status, row.predicted, row.time_low) in (
        ("ok", False, None), ("unusable", False, None),
    )  # fmt: skip
    assert row.overhead_s > 0 and row.synthetic is False
    # Once more, and it has the next number.
    measure(clone, "--", sys.executable, "train.py", "4")
    folder = clone.folder / "results/runs/local/train/own"
    assert [path.name.partition("@")[0] for path in sorted(folder.glob("*.json"))] == [
        "default-1", "default-2",
    ]  # fmt: skip
    taken = measure(clone, "--trial", "1", "--", sys.executable, "train.py", "4", check=False)
    assert taken.returncode == 1 and "records are never overwritten" in taken.stderr


def test_a_script_that_was_stopped_is_predicted_and_ends_well(clone):
    done = measure(clone, "--stop-after", "50", "--", sys.executable, "train.py", "4000")
    assert done.stdout == "" and done.returncode == 0
    one = the_record(clone)
    assert (one.run.scale, one.own.ended, one.own.planned) == ("quick", "steps", 4000)
    whole = statistics.whole(one.own)
    assert whole.predicted and whole.loop_s == pytest.approx(40, rel=0.2)
    assert "of 4,000 steps" in done.stderr


def test_a_script_that_fails_keeps_its_traceback_and_status_and_is_recorded(clone):
    (clone.folder / "mine/train.py").write_text(SCRIPT.replace("print(", "sys.exit(7) or print("))
    done = measure(clone, "--", sys.executable, "train.py", "30", check=False)
    assert done.returncode == 7
    one = the_record(clone)
    assert (one.status, one.failure.phase, one.own.status) == ("failed", "train", 7)
    assert rows.run_row(one, "").time_s is None


def test_memory_that_does_not_suffice_for_a_step_is_a_row_with_phase_and_peak(clone):
    (clone.folder / "mine/train.py").write_text("import numpy\nnumpy.empty(10**16)\n")
    done = measure(clone, "--", sys.executable, "train.py", check=False)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    one = the_record(clone)
    assert (one.status, one.failure.phase, one.own.steps) == ("failed", "first_step", 0)
    assert "MemoryError: Unable to allocate" in one.failure.reason
    assert one.own.host_mib > 10 and one.own.packages["numpy"]
    (said,) = (line for line in done.stderr.splitlines() if "failed before the end" in line)
    assert "Unable to allocate" in said and "GiB by its process" in said
    row = rows.run_row(one, "")
    assert (row.time_s, row.status) == (None, "failed")
    assert "first_step" in row.reason


def test_a_machine_that_is_busy_is_said_before(clone):
    """As it always is where others may use nothing."""
    limit = clone.folder / "scripts/epochcost/record/usable.py"
    allowed = limit.read_text()
    limit.write_text(allowed.replace("MOST_TAKEN = 1.0", "MOST_TAKEN = -1.0"))
    try:
        done = measure(clone, "--", "no-such-program", check=False)
    finally:
        limit.write_text(allowed)
    assert done.stderr.startswith("epochcost: others use ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "what is to be measured? Say: measure.py -- python train.py"),
        (("--workload", "mine"), "has no entry with a command, and so none for mine"),
        (("--stop-after", "soon", "--", "true"), "--stop-after soon: it is stable, never, or a"),
        (("--for", "long", "--", "true"), "'long' is not a duration"),
        (("--for", "0", "--", "true"), "--for 0: nothing is measured in no time"),
        (("--hardware", "gce-p1000", "--", "true"), "did you mean 'gce-p100'"),
        (("--environment", "no.txt", "--", "true"), "no.txt is no requirements file"),
        (("--", "no-such-program"), "no-such-program"),
        (("--workload", "mnist_mlp", "--", "true"), "mnist_mlp is a reference workload; choose"),
        (("--host=-oProxyCommand=x", "--", "true"), "is no name or address of a host"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(clone, words, said):
    done = measure(clone, *words, check=False)
    assert done.returncode == 1
    assert said in done.stderr and "Traceback" not in done.stderr
    # A busy machine is said, too.
    lines = [line for line in done.stderr.splitlines() if "others use" not in line]
    assert len(lines) == 1
    assert not list((clone.folder / "results").rglob("*.json"))


@pytest.mark.slow
def test_an_entry_is_planned_trained_and_not_trained_again(clone):
    path = clone.folder / "config/workloads.yaml"
    entry = {"title": "Mine", "command": [sys.executable, "train.py", "40"], "folder": "mine"}
    path.write_text(f"{path.read_text()}\n{yaml.safe_dump({'mine': entry})}")
    words = ("--config", "workloads=mine", "price=3.6")
    clone.snakemake("measure", *words)
    assert the_record(clone, "mine").own.steps == 40
    assert "train_local" not in clone.snakemake("-n", "measure", *words).stdout
    clone.snakemake("tables", *words)
    runs = pd.read_csv(clone.folder / "results/tables/runs.csv")
    assert runs[runs.workload.eq("mine")].framework.to_list() == ["own"]
    # Other code is another training.
    script = clone.folder / "mine/train.py"
    script.write_text(script.read_text().replace("0.01", "0.02"))
    assert "train_local" in clone.snakemake("-n", "measure", *words).stdout


def test_an_entry_with_a_mistake_is_named(clone):
    path = clone.folder / "config/workloads.yaml"
    path.write_text(f"{path.read_text()}\nmine: {{command: [python], epoch: 3}}\n")
    failed = clone.snakemake("-n", check=False)
    assert "config/workloads.yaml: mine: unknown key 'epoch'" in failed.stderr + failed.stdout


def test_the_entry_is_written_on_request(clone):
    words = ("--write-entry", "--workload", "new_one", "--total-steps", "40", "--")
    measure(clone, *words, sys.executable, "train.py", "40")
    listed = yaml.safe_load((clone.folder / "config/workloads.yaml").read_text())
    assert listed["new_one"] == {
        "title": "new_one", "command": [sys.executable, "train.py", "40"], "folder": "mine",
        "total_steps": 40,
    }  # fmt: skip
    again = measure(clone, *words, sys.executable, "train.py", "40", check=False)
    assert "has an entry new_one already" in again.stderr


@pytest.fixture
def one(clone):
    """The record of a training of 40 steps, as if nobody else had been on the machine."""
    measure(clone, "--", sys.executable, "train.py", "40")
    record = the_record(clone)
    quiet = replace(record.noise, others_cpu_share=0.0, steal_share=0.0)
    return replace(record, noise=quiet)


def test_what_cannot_be_is_not_believed(one):
    own = one.own
    assert check.contradiction(one) is None
    for changed, said in (
        ({"steps": 41}, "it has 41 steps, and its stretches have 40"),
        ({"ended": "failed"}, "its status is ok, and its script failed"),
        ({"ended": "stable"}, "it is a full run, and its script stable"),
        ({"start_s": 1e6}, "its parts took"),
    ):
        reason = check.contradiction(replace(one, own=replace(own, **changed)))
        assert reason.startswith(said)


def test_a_record_is_read_as_it_was_written(one):
    assert json.loads(json.dumps(document(one)))["own"]["steps"] == 40


def test_of_one_name_the_newest_code_counts(one):
    newer = replace(
        one,
        settings=one.settings | {"code": "00000000"},
        run=replace(one.run, id="x", trial=2, started_at="2030-01-01T00:00:00+00:00"),
    )
    table = tables.runs_table([rows.run_row(one, ""), rows.run_row(newer, "")])
    assert list(tables.of_newest_code(table).trial) == [2]
    # So does the newest length; a few steps fewer are the same.
    for steps, trials in ((4_000, [2]), (39, [1, 2])):
        longer = replace(newer, settings=one.settings, own=replace(one.own, steps=steps))
        table = tables.runs_table([rows.run_row(one, ""), rows.run_row(longer, "")])
        assert list(tables.of_newest_code(table).trial) == trials


def test_newer_code_counts_once_it_has_a_time_and_its_length_is_its_own(one):
    unknown = replace(one.own, planned=None, planned_by=None, ended="limit")
    for changed, trials in (
        ({"own": unknown}, [2]),  # of unknown length, where the older code had one
        ({"status": "failed", "failure": Failure("train", "it raised")}, [1]),
    ):
        newer = replace(
            one,
            settings=one.settings | {"code": "00000000"},
            run=replace(one.run, id="x", trial=2, started_at="2030-01-01T00:00:00+00:00"),
            **changed,
        )
        table = tables.runs_table([rows.run_row(one, ""), rows.run_row(newer, "")])
        assert list(tables.of_newest_code(table).trial) == trials
    assert len(tables.of_newest_code(table.assign(framework="pytorch"))) == 2


def test_a_first_step_alone_is_no_time_of_a_step(one):
    own = replace(one.own, steps=1, stretches=(), gaps=(), ended="steps", planned=300)
    said = measured.lines(replace(one, own=own), Path(check.__file__), 3.6)
    assert "one step alone says nothing of the whole" in said[0]
    assert not any("advise" in line or " 0 s" in line for line in said)
    assert rows.run_row(replace(one, own=own), "").time_s is None


def test_of_an_unknown_number_of_steps_a_thousand_is_told(one):
    own = replace(one.own, planned=None, planned_by=None, ended="limit", samples=32.0)
    run = replace(one.run, scale="quick", trial=2, started_at="2030-01-01T00:00:00+00:00")
    unknown = replace(one, own=own, run=run)
    said = measured.lines(unknown, ROOT / "results/runs/x.json", 3.6)
    assert "how many there are is not known" in said[0]
    assert "for 1,000 steps" in said[1] and "for a million samples" in said[1]
    assert said[-1].endswith("advise --config workload=train price=3.6 steps=N")
    assert not any("advise" in line for line in measured.lines(unknown, Path("x.json"), 3.6))
    row = rows.run_row(unknown, "")
    assert row.steps is None and row.predicted
    assert row.time_s == pytest.approx(1000 * statistics.whole(own).step_s)
    assert row.time_low < row.time_s < row.time_high
    # It counts where nothing else does, but not for what a plan will cost: that trains the whole.
    alone = tables.runs_table([row])
    assert len(tables.of_newest_code(alone)) == 1 and tables.of_known_length(alone).empty
    both = tables.runs_table([rows.run_row(one, ""), row])
    assert list(tables.of_newest_code(both).trial) == [1]


def test_the_code_of_a_training_is_that_below_its_folder(tmp_path):
    (tmp_path / "train.py").write_text("x = 1\n")
    (tmp_path / "data.txt").write_text("1")
    command = ["python", "train.py", "data.txt"]
    first = recipe.of(command, tmp_path)
    (tmp_path / "train.py").write_text("# a comment\nx = 1\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden/other.py").write_text("y = 1\n")
    assert recipe.of(command, tmp_path) == first
    (tmp_path / "data.txt").write_text("2")
    assert recipe.of(command, tmp_path) != first
    assert record.recipe_id(first) != record.recipe_id(recipe.of(["python"], tmp_path))


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["python", "train.py", "--epochs", "3"], "train"),
        (["torchrun", "--nproc-per-node=2", "src/Fine-Tune.py"], "fine_tune"),
        (["python", "-m", "pkg.trainer"], "trainer"),
        (["./run.sh"], "training"),
    ],
)
def test_a_training_is_called_as_its_script(command, name):
    assert recipe.name_of(command) == name
