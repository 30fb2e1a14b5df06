"""What this machine can do is a number of the right size."""

import json
import os
import subprocess
import sys

from expect import wait_until

from epochcost import ROOT
from epochcost.measure import yardstick
from epochcost.measure.sampler import Sampler


def test_products_and_copies_are_measured_in_a_process_of_its_own():
    measured = yardstick.asked()
    assert 1 < measured["matmul_gflops"] < 100_000
    assert 0.5 < measured["copy_gib_s"] < 10_000


def test_modules_where_the_user_is_are_not_ours(monkeypatch, tmp_path):
    for name in ("re", "json", "psutil", "epochcost"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    assert yardstick.asked()
    alive = tmp_path / "alive"
    alive.touch()
    os.utime(alive, (0, 0))
    looking = Sampler(alive=alive)
    wait_until(lambda: alive.stat().st_mtime > 0, "a sample")
    assert looking.stop()


def test_a_product_has_two_operations_a_term_and_a_copy_is_read_and_written(monkeypatch):
    monkeypatch.setattr(yardstick, "timed_trials", lambda work, seconds: [0.001, 0.002, 0.5])
    # 2 x 1024^3 operations, and 2 x 128 MiB, in 2 ms.
    assert yardstick.measure() == {"matmul_gflops": 1073.7, "copy_gib_s": 125.0}


def test_the_better_of_two_medians_of_products_counts(monkeypatch):
    times = iter([[0.004], [0.002], [0.002]])  # a product, a copy, a product
    monkeypatch.setattr(yardstick, "timed_trials", lambda work, seconds: next(times))
    assert yardstick.measure() == {"matmul_gflops": 1073.7, "copy_gib_s": 125.0}


def test_reading_from_the_disk_is_measured(tmp_path):
    rate = yardstick.disk_read_mib_s(tmp_path, trials=1)
    assert rate is None or rate > 1


def test_a_calibration_is_kept_and_printed(tmp_path):
    done = subprocess.run(
        [
            *(sys.executable, ROOT / "scripts/calibrate.py"),
            *("--seconds", "0.1", "--output", tmp_path),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    (path,) = tmp_path.iterdir()
    content = json.loads(path.read_text())
    assert path.name.startswith(content["machine"]["id"])
    assert f"{content['can_do']['matmul_gflops']:g} GFLOP/s" in done.stdout
    assert f"kept in {path}" in done.stdout


def test_a_yardstick_that_comes_to_harm_is_none(monkeypatch):
    monkeypatch.setattr(yardstick.sys, "executable", "/bin/false")
    assert yardstick.asked() is None
