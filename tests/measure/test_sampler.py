"""A process of its own looks at a run, and ends with it."""

import os
import subprocess
import sys
import time

import psutil
import pytest

from epochcost import ROOT
from epochcost.measure import sampler
from epochcost.measure.sampler import Observed, Sampler, _Rapl


def test_a_run_is_sampled_with_the_processes_that_it_starts(tmp_path):
    alive = tmp_path / "alive"
    alive.touch()
    os.utime(alive, (0, 0))
    looking = Sampler(alive=alive)
    held = "held = bytearray(300 * 2**20); import time; time.sleep(2)"
    subprocess.run([sys.executable, "-c", held], check=True)
    seen = looking.stop()
    assert seen["samples"] >= 4
    assert 300 < seen["peak_rss_mib"] < 1500
    assert alive.stat().st_mtime > time.time() - 5


RUN = """
import sys, time
from epochcost.measure import sampler
from epochcost.measure.sampler import Sampler
sampler = Sampler()
print(sampler.process.pid, flush=True)
time.sleep(60)
"""


def test_the_sampler_of_a_killed_run_ends_by_itself():
    run = subprocess.Popen(
        [sys.executable, "-c", RUN], stdout=subprocess.PIPE, env={"PYTHONPATH": ROOT / "scripts"}
    )
    pid = int(run.stdout.readline())
    assert psutil.pid_exists(pid)
    run.kill()
    run.wait()
    for _ in range(100):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.1)
    raise AssertionError("the sampler is still there")


def test_a_sampler_that_came_to_harm_says_nothing():
    looking = Sampler()
    looking.process.kill()
    assert looking.stop() == {}


def test_what_grows_is_counted_from_the_begin_of_the_run(monkeypatch):
    counts = iter([7, 9])
    grown = {"throttled": 1.0, "swapped_mib": 50.0, "stalled_s": 100.0, "quota_waited_s": None}
    monkeypatch.setattr(sampler, "read_counters", lambda: grown | {"throttled": next(counts)})
    observed = Observed(psutil.Process().pid, 1)
    observed.sample()
    summary = observed.summary()
    assert summary["throttled"] == 2
    assert summary["swapped_mib"] == summary["memory_stalled_share"] == 0
    assert summary["quota_waited_share"] is None
    assert summary["samples"] == 1


def test_energy_counters_of_all_packages_add_up_and_may_run_over(tmp_path):
    for name, kind, micro in (
        ("intel-rapl:0", "package-0", 900),
        ("intel-rapl:1", "package-1", 100),
        ("intel-rapl:2", "psys", 2000),
        ("intel-rapl:0:0", "core", 5),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "name").write_text(f"{kind}\n")
        (tmp_path / name / "energy_uj").write_text(f"{micro * 10**6}\n")
        (tmp_path / name / "max_energy_range_uj").write_text(f"{1000 * 10**6}\n")
    rapl = _Rapl(tmp_path)
    (tmp_path / "intel-rapl:0/energy_uj").write_text(f"{50 * 10**6}\n")
    (tmp_path / "intel-rapl:1/energy_uj").write_text(f"{130 * 10**6}\n")
    rapl.read()
    assert rapl.joules == 150 + 30
    assert _Rapl(tmp_path / "nothing").joules is None


BUSY = "import time; end = time.monotonic() + 2\nwhile time.monotonic() < end: pass"


@pytest.mark.alone
def test_work_of_others_is_told_from_that_of_the_run():
    """A busy process disturbs where it is not the run's own."""
    busy = [sys.executable, "-c", BUSY]
    looking = Sampler()
    subprocess.run(busy, check=True)
    own = looking.stop()["disturbed_share"]
    # `setsid` makes its child one of nobody's, so that it does not count as the run's.
    looking = Sampler()
    subprocess.run(["setsid", "--fork", *busy], check=True)
    time.sleep(2)
    others = looking.stop()["disturbed_share"]
    assert others > 0.5
    assert own < others
