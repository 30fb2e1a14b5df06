"""The report in a real browser: nothing is fetched or missing, and everybody can read it."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import measured
import pytest

from epochcost import ROOT
from epochcost.measure import machine
from epochcost.record.names import path_of
from epochcost.record.types import Record, encoded

pytestmark = pytest.mark.slow

PYTHON = ROOT / ".venvs/docs/bin/python"
# The machine with the most workloads.
LARGEST = "9552f777d6a3"
PRICE = {"price": {"per_hour_usd": 0.1, "kind": "on_demand"}}


def script(name: str, *words: object) -> None:
    command = [sys.executable, ROOT / "scripts" / name, *map(str, words)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


@pytest.fixture(scope="module", params=["measured here", "measured elsewhere"])
def report(request, tmp_path_factory) -> Path:
    """The page of all shipped measurements as own ones, of this machine or not."""
    folder = tmp_path_factory.mktemp("page")
    tables, figures, runs = folder / "tables", folder / "figures", folder / "runs"
    for one in _as_seen_from_here(request.param == "measured here"):
        path = path_of(one, runs)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded(one))
    script("runs.py", "--records", runs, "--output", tables)
    script("costs.py", "--tables", tables, "--output", tables, "--settings", json.dumps(PRICE))
    script("figures.py", "--tables", tables, "--output", figures)
    words = ("--tables", tables, "--figures", figures, "--records", runs)
    page = folder / "report.html"
    script("report.py", *words, "--report", page, "--answer", folder / "answer.txt")
    return page


def _as_seen_from_here(is_here: bool) -> list[Record]:
    """The shipped records, of which those of one machine were made on this one, or none was."""
    here, found = machine.facts().id, measured.read()
    if is_here == any(one.machine.id == here for one in found):
        return found
    before, after = (LARGEST, here) if is_here else (here, "0" * 12)
    return [
        replace(one, machine=replace(one.machine, id=after)) if one.machine.id == before else one
        for one in found
    ]


@pytest.fixture(scope="module")
def seen(report) -> dict:
    """What a reader meets on the page (tests/show/browser.py)."""
    if not shutil.which("chromium"):
        pytest.skip("chromium is not installed")
    if not PYTHON.exists():
        pytest.skip("what drives a browser is not installed (make docs)")
    command = [PYTHON, ROOT / "tests/show/browser.py", report]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_the_page_is_less_than_a_megabyte(report):
    assert report.stat().st_size < 1_000_000


def test_nothing_is_fetched_and_nothing_goes_wrong(seen):
    assert (seen["requests"], seen["messages"]) == ([], [])


def test_a_checker_of_accessibility_finds_nothing(seen):
    assert seen["violations"] == []


def test_the_first_picture_begins_on_the_first_screen(seen):
    tops = {name: seen["first_picture"][name] for name in ("1400-light", "390-light")}
    assert tops["1400-light"] < 900
    assert tops["390-light"] < 844
    assert seen["wide"] == [], "nothing makes the page itself wider than the screen"


def test_a_click_on_a_heading_sorts_the_table(seen):
    up, down = ([float(time) for time in times] for times in seen["sorted"])
    assert len(up) > 20
    assert (up, down) == (sorted(up), sorted(down, reverse=True))
