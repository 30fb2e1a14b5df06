"""The documents: their links lead somewhere, and their tables are what was measured."""

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from epochcost import ROOT

tracked = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True)
PAGES = [ROOT / name for name in tracked.stdout.split()]


def anchors(page: Path) -> set[str]:
    """What links to the headings of a page end in, as GitHub makes it of them."""
    headings = re.findall(r"^#+ (.*)", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(((?!https?:)[^)\s]+)\)", page.read_text()):
        name, _, anchor = link.partition("#")
        there = (page.parent / name).resolve() if name else page
        assert there.exists(), link
        if anchor:
            assert anchor in anchors(there), link


@pytest.mark.slow
def test_the_tables_of_the_documents_are_what_their_commands_print():
    command = [sys.executable, "study/generated.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"run: python study/generated.py\n{done.stdout}{done.stderr}"


def test_how_far_apart_frameworks_would_be_by_chance():
    import agreement

    def of(*values):
        return agreement.by_chance(pd.DataFrame({"framework": [*"aaabbb"], "metric_value": values}))

    # Two of the 20 ways to choose three of six are as far apart.
    assert of(1.0, 1.1, 1.2, 2.0, 2.1, 2.2) == pytest.approx(0.1, abs=0.015)
    assert of(1.0, 2.0, 1.1, 2.1, 1.0, 2.0) > 0.5
