"""Measuring again by the clock: files that the real tools accept, and the bill."""

import json
import os
import signal
import subprocess
import sys

import kubernetes_validate
import pytest
import yaml
from expect import wait_until

from epochcost import ROOT, schemas
from epochcost.errors import InputError
from epochcost.money import billing, schedules
from epochcost.show import schedule

WANTED = {
    "hardware": "gce-k80",
    "every": "4h",
    "up": "10min",
    "repository": "https://e.org/e.git",
    "records": "/records",
    "image": "python:3.11",
    "disk_gib": 30,
    "disk_usd_per_gib_month": 0.04,
    "rule_usd_per_month": 0.10,
}


def call(price_book: str = "2017-12", *options, **changed) -> subprocess.CompletedProcess:
    """Write the schedule `WANTED`, with changes."""
    text = json.dumps({"schedule": WANTED | changed, "price_book": price_book})
    return subprocess.run(
        [
            sys.executable,
            ROOT / "scripts/schedule.py",
            "--settings",
            text,
            *options,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def written(tmp_path):
    """The files of a schedule, by name."""

    def write(**changed):
        done = call("2017-12", "--output", tmp_path, **changed)
        assert done.returncode == 0, done.stderr
        return {path.name: path.read_text() for path in tmp_path.iterdir()}

    return write


def test_the_cronjob_is_one_by_the_schema_of_kubernetes(written):
    job = yaml.safe_load(written()["cronjob.yaml"])
    kubernetes_validate.validate(job, "1.31", strict=True)
    assert job["spec"]["schedule"] == "0 */4 * * *"
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    (container,) = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"cpu": "1", "nvidia.com/gpu": "1"}
    assert container["resources"]["requests"] == {"cpu": "800m"}
    (script,) = container["args"]
    assert "ARGS='--config again=true hardware=gce-k80 workloads=" in script
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    assert container["volumeMounts"] == [{"name": "records", "mountPath": "/records"}]


def test_records_in_a_bucket_need_no_volume(written):
    job = yaml.safe_load(written(records="gs://b")["cronjob.yaml"])
    kubernetes_validate.validate(job, "1.31", strict=True)
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert "volumes" not in pod
    assert (
        "gcloud storage cp --recursive --no-clobber results/runs gs://b/"
        in (pod["containers"][0]["args"][0])
    )


@pytest.mark.parametrize("ended", ["by itself", "failing", "told", "killed"])
def test_what_a_round_measured_is_kept_however_it_ends(tmp_path, ended):
    """The steps as bash runs them, with a `make` that leaves a record."""
    store, work, programs = (tmp_path / name for name in ("store", "work", "bin"))
    for folder in (store, work / "epochcost/.git", programs):
        folder.mkdir(parents=True)
    (store / "earlier.json").write_text("earlier")
    last = {
        "by itself": "true",
        "failing": "exit 1",
        "told": "sleep 60",
        "killed": "trap : TERM; sleep 60; sleep 60",  # there is no time left to end by itself
    }[ended]
    for name, lines in (
        ("git", "true"),
        ("make", f"cat results/runs/earlier.json > results/runs/new.json; {last}"),
    ):
        (programs / name).write_text(f"#!/bin/bash\n{lines}\n")
        (programs / name).chmod(0o755)
    hardware = schemas.read("hardware")["gce-k80"]
    rerun = schedule.Rerun(3600, 60, "gce-k80", hardware, "x", str(store), "i", [], 1)
    script = schedule.render(rerun)["cronjob.yaml"]
    (container,) = yaml.safe_load(script)["spec"]["jobTemplate"]["spec"]["template"]["spec"][
        "containers"
    ]
    path = f"{programs}:{os.environ['PATH']}"
    process = subprocess.Popen(
        ["bash", "-c", *container["args"]],
        cwd=work,
        env=os.environ | {"PATH": path},
        start_new_session=True,
    )
    if ended in ("told", "killed"):
        new = work / "epochcost/results/runs/new.json"
        wait_until(new.exists, "a record")
        process.terminate()
    if ended == "killed":
        wait_until((store / "new.json").exists, "it is stored")
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(20)
    assert {path.name for path in store.iterdir()} == {"earlier.json", "new.json"}


def test_retired_hardware_has_no_bill():
    done = call("latest")
    assert done.returncode == 1
    assert "no price is known at which gce-k80 can be had" in done.stderr


def test_the_scripts_are_ones(written, tmp_path):
    found = written()
    for name in ("start-up.sh", "vm.sh"):
        subprocess.run(["bash", "-n", tmp_path / name], check=True)
    assert "shutdown -h +30" in found["start-up.sh"]
    assert "type=nvidia-tesla-k80,count=1" in found["vm.sh"]
    assert "--machine-type n1-standard-1 " in found["vm.sh"]
    assert "--maintenance-policy TERMINATE" in found["vm.sh"]


def test_a_gpu_that_is_part_of_the_machine_type_needs_a_driver_too():
    hardware = schemas.read("hardware")["gce-a3-highgpu-1g"]
    rerun = schedule.Rerun(3600, 60, "gce-a3-highgpu-1g", hardware, "x", "/store", "i", [], 1)
    script = schedule.render(rerun)["vm.sh"]
    assert "it needs an image with NVIDIA's driver" in script
    assert "--maintenance-policy TERMINATE" in script
    assert "--accelerator" not in script


@pytest.mark.parametrize("up", ["0s", "2h"])
def test_a_round_ends_before_the_next_one_begins(up):
    done = call(every="1h", up=up)
    assert f"up: {up} is not between 0 and 1h, the time between two rounds" in done.stderr


def test_the_bill_is_at_the_preemptible_price(written):
    """180 rounds of ten minutes at 0.235, 30 GiB, one rule."""
    text = written()["bill.md"]
    assert f"| machine | {180 / 6 * 0.235:.2f} |" in text
    assert "(preemptible, 2017-12-17, woolf2017gpu)" in text
    assert f"**{180 / 6 * 0.235 + 30 * 0.04 + 0.10:.2f}**" in text


@pytest.mark.parametrize(("hours", "total"), [(4, 0.76), (1, 1.24)])
def test_the_bills_of_the_post_of_2018(hours, total):
    plan = schedules.Visits(every_hours=hours, up_s=120, function_s=120)
    terms = billing.Terms(0.01, 1, 60)
    bill = schedules.monthly_bill(plan, terms, schedules.RATES_2018)
    assert sum(bill.values()) == pytest.approx(total, abs=0.005)


def test_what_is_paid_by_the_month_is_paid_once_a_month():
    """However often the machine is used in it."""
    plan = schedules.Visits(every_hours=24, up_s=600)
    terms = billing.Terms(0.30, billing.MONTH_S, billing.MONTH_S, monthly_fee_usd=5)
    bill = schedules.monthly_bill(plan, terms, schedules.RATES_2018)
    assert (bill["machine"], bill["fee"]) == (pytest.approx(0.30 * 720), 5)


@pytest.mark.parametrize("seconds", [1800, 5 * 3600, 36 * 3600])
def test_what_cron_cannot_say_is_refused(seconds):
    with pytest.raises(InputError, match="one of 1h"):
        schedule.cron(seconds)
