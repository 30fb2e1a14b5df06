"""Calls that only read, calls that are only planned, and what a call prints."""

import re

import pytest
from clones import make_clone
from expect import refused
from observed import put_quick_run

from epochcost import ROOT

# Each makes something of the records that are there.
READING = ["report", "tables", "figures", "results/quality.md", "advise", "estimate"]
SYNTHETIC = "data={source: synthetic}"
SMALL = ("workloads=mnist_mlp", "frameworks=keras-tensorflow", SYNTHETIC)


def unmeasured(folder):
    clone = make_clone(folder)
    clone.configure(workloads=["mnist_mlp"], data={"source": "synthetic", "mirror": ""})
    return clone


@pytest.fixture(scope="module")
def empty(tmp_path_factory, pythons):
    """A clone without a record, to plan in."""
    return unmeasured(tmp_path_factory.mktemp("empty") / "epochcost")


@pytest.fixture
def own(tmp_path, pythons):
    """Another one, to run jobs in."""
    return unmeasured(tmp_path / "epochcost")


@pytest.fixture
def one_record(own):
    """A clone with one record of another machine."""
    path = own.folder / "results/runs/local/mnist_mlp/keras-tensorflow/default-1.json"
    path.parent.mkdir(parents=True)
    path.write_text((ROOT / "tests/record/quick.json").read_text())
    return own


def printed(done) -> str:
    return done.stdout + done.stderr


def planned(clone, *words: str) -> str:
    """The jobs that would be run, one a line with its number, and what was said."""
    return printed(clone.snakemake("-n", *words, "--quiet", "rules"))


@pytest.mark.parametrize("words", [(), ("scale=full", "runs=3"), ("hardware=gce-t4",)])
def test_targets_that_only_read_train_nothing(empty, words):
    said = planned(empty, *READING, "--config", SYNTHETIC, *words)
    assert not re.search(r"^(train_\w+|ready|prepare|environment)\s+\d+$", said, re.MULTILINE)


@pytest.mark.parametrize("targets", [(), ("report", "measure")])
def test_a_target_that_measures_trains(empty, targets):
    said = planned(empty, *targets, "--config", "frameworks=keras-tensorflow,pytorch", SYNTHETIC)
    assert re.search(r"^train_local\s+2$", said, re.MULTILINE)


@pytest.mark.slow
def test_without_records_the_report_says_so_and_shows_what_was_published(own):
    done = own.snakemake("report", "--config", "scale=full")
    assert "epochcost: no run was made yet: results/runs holds no records" in done.stderr
    assert "Nothing was measured yet" in (own.folder / "results/report.html").read_text()
    assert (own.folder / "results/answer.txt").read_text() == ""
    own.snakemake("advise", "estimate")
    assert not own.records()


def test_with_some_records_the_report_is_of_those(one_record):
    before = one_record.records()
    done = one_record.snakemake("report")
    said = "epochcost: runs that are there: 1; configured and missing: 2 of "
    (line,) = [line for line in done.stderr.splitlines() if line.startswith(said)]
    assert line.endswith("(`snakemake` makes them)")
    assert "epochcost: this call has no price of this machine" in done.stderr
    answer = (one_record.folder / "results/answer.txt").read_text()
    assert "mnist_mlp was not measured on this machine; the fastest so far is" in answer
    assert one_record.records() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--config", "workloads=mnist_mpl"], "unknown workload 'mnist_mpl'; did you mean 'mnist"),
        (["--config", "data={source: mirror, mirror: /nowhere}"], "the mirror folder /nowhere"),
        (
            ["--profile", "slurm", "--config", "hardware=gce-t4"],
            "gce-t4 cannot be had from slurm: no `slurm: {partition: ...}` in config",
        ),
        (
            ["--profile", "gce-k80", "--config", "max_cost_usd=0.00001"],
            "above max_cost_usd of $0.0000100",
        ),
        (["schedule", "--config"], "schedule: hardware is empty"),
    ],
)
def test_a_dry_run_refuses_what_the_call_refuses(empty, words, message):
    """With the same line; and it changes nothing."""

    def there() -> list[str]:
        return sorted(
            str(path) for path in empty.folder.rglob("*") if ".snakemake" not in str(path)
        )

    before = there()
    words = [*words, "frameworks=keras-tensorflow,pytorch"]
    words += [] if "data={" in " ".join(words) else [SYNTHETIC]
    dry, real = (empty.snakemake(*how, *words, check=False) for how in (["-n"], []))
    assert refused(dry, message) == refused(real, message)
    assert "The plan, and its cost" not in printed(dry)
    assert there() == before


def test_where_trainings_are_sent_is_said(empty):
    assert (
        "epochcost: trainings are sent to Slurm: gce-k80 to partition k80; nothing is rented from "
        "Google Compute Engine\n"
    ) in planned(empty, "--profile", "gce-k80")
    said = "epochcost: trainings are sent to Slurm: cluster-cpu16 to partition cpu16\n"
    assert said in planned(empty, "--profile", "slurm")
    assert "are sent to" not in planned(empty)


def test_kubernetes_asks_for_nothing_of_google(empty):
    failed = empty.snakemake("-n", "--profile", "kubernetes", check=False, GOOGLE_CLOUD_PROJECT="")
    assert "EPOCHCOST_IMAGE (" in refused(failed, "this profile needs EPOCHCOST_BUCKET (")
    assert "GOOGLE" not in failed.stderr


def test_a_call_prints_what_is_done_and_little_else(one_record):
    done = one_record.snakemake("tables", "--forceall", "--config", "price=0.1")
    lines = [line for line in printed(done).splitlines() if line]
    jobs = [line for line in lines if line.startswith("Job ")]
    assert [line.partition(": ")[2] for line in jobs] == [
        "Writing the tables of measurements",
        "Writing the cost tables",
        "The tables are made",
    ]
    assert len(lines) <= 2 * len(jobs) + 8
    noisy = one_record.snakemake("tables", "--forceall", "--quiet", "host", "reason")
    for word in ("Select jobs to execute", "Job stats", "Finished jobid", "steps (100%) done"):
        assert word in printed(noisy)
        assert word not in printed(done)


def test_what_goes_wrong_is_printed_with_its_log(own):
    (own.folder / "scripts/costs.py").write_text(
        "import sys\nsys.exit('epochcost: no such table')\n"
    )
    failed = own.snakemake("tables", "--forceall", check=False)
    assert failed.returncode == 1
    assert failed.stderr.endswith("Writing the cost tables\nepochcost: no such table\n")


@pytest.mark.slow
def test_what_a_plan_on_other_hardware_would_cost(empty):
    done = empty.snakemake(
        "estimate", "--config", *SMALL, "hardware=gce-p100", "scale=full", "max_cost_usd=0.000001",
        "exchange_rates={EUR: 1.15}",
    )  # fmt: skip
    assert (
        "gce-p100 (n1-standard-1 + 1 x P100, Google Compute Engine): 1 run, 55.3 s, $0.0251"
        in done.stdout
    )


def test_a_plan_that_is_too_dear_is_not_begun(own, record):
    put_quick_run(own.folder, record, wall_s=100)
    wanted = ("--config", *SMALL, "runs=3", "price=36")
    failed = own.snakemake("measure", *wanted, "max_cost_usd=1.5", check=False)
    assert refused(failed, "max_cost_usd") == (
        "epochcost: the plan would cost $2.00, above max_cost_usd of $1.50; `snakemake estimate` "
        "itemises it"
    )
    assert len(own.records()) == 1
    told = own.snakemake("estimate", *wanted)
    assert "this machine: 2 runs, 3.33 min, $2.00 at $36.00 an hour (on-demand)" in told.stdout


def test_advice_starts_no_training(empty):
    done = empty.snakemake(
        "advise", "--config", "workload=mnist_cnn", "deadline=1h", "budget=1", "price_book=2017-12"
    )
    assert "mnist_cnn: one training, by epochs alone" in done.stdout
    assert "Cheapest within 60 min: K80 with Keras TensorFlow" in done.stdout
    assert "if never interrupted" in done.stdout
    assert not empty.records()
    assert not list((empty.folder / "results/tables").glob("*"))
    another = empty.snakemake(
        "advise", "--config", "workload=mnist_mlp", "price_book=2017-12", "-n"
    )
    assert "asked_for" not in another.stdout, "its tables are those of the question before"
