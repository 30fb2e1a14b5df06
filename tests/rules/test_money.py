"""What a buyer asks Snakemake: questions start no training, and a dear plan is not begun."""

import json
import shutil

import pytest
from observed import coherent

from epochcost.measure import machine

SMALL = ("workloads=mnist_mlp", "frameworks=keras-tensorflow", "data={source: synthetic}")


@pytest.fixture
def measured(clone, record):
    """The clone with the record of a quick run of this machine that took 100 s."""
    here = machine.facts()
    record["machine"] |= {
        key: getattr(here, key) for key in ("id", "usable_cores", "logical_cores")
    }
    record["data"]["source"] = "synthetic"
    record = coherent(record, wall_s=100)
    path = clone.folder / "results/runs" / f"{record['run']['id']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    yield clone
    for place in ("runs", "runs-kept"):
        shutil.rmtree(clone.folder / "results" / place, ignore_errors=True)


def test_what_a_plan_on_other_hardware_would_cost(clone):
    done = clone.snakemake(
        "estimate", "--config", *SMALL, "hardware=gce-p100", "scale=full", "max_cost_usd=0.000001",
        "exchange_rates={EUR: 1.15}",
    )  # fmt: skip
    assert (
        "gce-p100 (n1-standard-1 + 1 x P100, Google Compute Engine): 1 run, 55.3 s, $0.0251"
        in done.stdout
    )
    assert not clone.records()


def test_a_plan_that_is_too_dear_is_not_begun(measured):
    wanted = ("--config", *SMALL, "runs=3", "price=36")
    done = measured.snakemake("measure", *wanted, "max_cost_usd=1.5", check=False)
    assert done.returncode
    line = next(line for line in done.stderr.splitlines() if "max_cost_usd" in line)
    assert line == (
        "epochcost: the plan would cost $2.00, above max_cost_usd of $1.50; `snakemake estimate` "
        "itemises it"
    )
    assert len(measured.records()) == 1
    told = measured.snakemake("estimate", *wanted)
    assert "this machine: 2 runs, 3.33 min, $2.00 at $36.00 an hour (on-demand)" in told.stdout


def test_advice_starts_no_training(clone):
    done = clone.snakemake(
        "advise", "--config", "workload=mnist_cnn", "deadline=1h", "budget=1", "price_book=2017-12"
    )
    assert "mnist_cnn: one training, started and billed by itself" in done.stdout
    assert "Cheapest that ends within 60 min: K80 with Keras TensorFlow" in done.stdout
    assert "if never interrupted" in done.stdout
    assert not clone.records()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("deadline=soon", "'soon' is not a duration, such as 1h"),
        ("price_book=rates.csv", "'rates.csv' is not a price book"),
    ],
)
def test_bad_input_is_one_line(clone, setting, message):
    done = clone.snakemake("advise", "--config", setting, check=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_schedule_without_a_place_is_refused(clone):
    done = clone.snakemake("schedule", check=False)
    assert done.returncode
    assert "schedule: hardware is empty" in done.stderr


def test_a_schedule_of_what_cannot_be_measured_there_is_refused(clone):
    place = "schedule={hardware: gce-t4, up: 10min, repository: r, records: /r}"
    done = clone.snakemake("schedule", "--config", place, "variants=default,tuned", check=False)
    assert done.returncode
    assert "the variant tuned is for hardware local alone" in done.stderr
