"""The report in a real browser: nothing is fetched or missing, and everybody can read it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import measured
import pytest

from epochcost import ROOT

pytestmark = pytest.mark.slow

PYTHON = ROOT / ".venvs/docs/bin/python"
PRICE = {"price": {"per_hour_usd": 0.1, "kind": "on_demand"}}


def script(name: str, *words: object) -> None:
    command = [sys.executable, ROOT / "scripts" / name, *map(str, words)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """The page of all shipped measurements, as if each was made here."""
    folder = tmp_path_factory.mktemp("page")
    tables, figures = folder / "tables", folder / "figures"
    script("runs.py", "--records", measured.folder(), "--output", tables)
    script("costs.py", "--tables", tables, "--output", tables, "--settings", json.dumps(PRICE))
    script("figures.py", "--tables", tables, "--output", figures)
    words = ("--tables", tables, "--figures", figures, "--records", measured.folder())
    page = folder / "report.html"
    script("report.py", *words, "--report", page, "--answer", folder / "answer.txt")
    return page


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
