"""The documentation: its links lead somewhere, its tables are what was measured."""

import csv
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from epochcost.configuration import ROOT
from epochcost.frameworks import FRAMEWORKS
from epochcost.models import recipes
from epochcost.show.wording import names

FOLDERS = (".", "benchmarks", "config", "data/published", "docs")
PAGES = [page for folder in FOLDERS for page in sorted((ROOT / folder).glob("*.md"))]


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


def output_of(*command: str | Path) -> str:
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def tables_of_the_documentation(tmp_path_factory) -> Path:
    """What the workflow makes of docs/records."""
    folder = tmp_path_factory.mktemp("tables")
    output_of("scripts/runs.py", "--records", "docs/records", "--output", folder)
    return folder


def test_the_tables_of_the_documentation_are_what_the_workflow_makes_of_its_records(
    tables_of_the_documentation,
):
    made = output_of("scripts/quality.py", "--tables", tables_of_the_documentation, "--output", "-")
    documents = ("results.md", "results.md", "predictions.md")
    for part, document in zip(made.split("\n\n"), documents, strict=True):
        assert len(part.strip().splitlines()) > 5
        assert part.strip() in (ROOT / "docs" / document).read_text()


def test_how_far_frameworks_agree_is_what_the_table_of_results_says():
    text = (ROOT / "docs/results.md").read_text()
    qualities = {}
    for line in text.partition("**Reading the rows**")[0].splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 13 and re.match(r"[\d.]+", cells[3]) and "(tuned)" not in cells[1]:
            qualities.setdefault(cells[0], []).append(float(cells[3].split()[0]))
    agree = re.search(r"^Frameworks agree: .*?\. Most", text, re.MULTILINE | re.DOTALL)[0]
    accuracies, _, losses = " ".join(agree.split()).partition("the losses of ")
    said = {
        workload: float(by)
        for by, workloads in re.findall(r"([\d.]+) \(([^)]+)\)", accuracies)
        for workload in re.findall(r"`(\w+)`", workloads)
    }
    said |= {workload: float(by) for workload, by in re.findall(r"`(\w+)` by (\d\.\d+)", losses)}
    # The cats and dogs are trained by one framework alone.
    assert said.keys() == qualities.keys() - {"catsdogs_resnet50"}
    for workload, by in said.items():
        assert by == pytest.approx(max(qualities[workload]) - min(qualities[workload]), abs=6e-4)


def test_the_means_of_frameworks_are_those_of_the_records(tables_of_the_documentation):
    made = output_of("benchmarks/agreement.py", "--tables", tables_of_the_documentation)
    assert made.strip() in (ROOT / "docs/results.md").read_text()
    chances = re.findall(r"\| (\d+) % \|$", made, re.MULTILINE)
    assert min(map(int, chances)) > 5, "the text says that no difference was seen"


def test_how_far_apart_frameworks_would_be_by_chance():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import agreement

    def of(*values):
        return agreement.by_chance(pd.DataFrame({"framework": [*"aaabbb"], "metric_value": values}))

    # Two of the 20 ways to choose three of six are as far apart.
    assert of(1.0, 1.1, 1.2, 2.0, 2.1, 2.2) == pytest.approx(0.1, abs=0.015)
    assert of(1.0, 2.0, 1.1, 2.1, 1.0, 2.0) > 0.5


def test_a_table_of_results_may_be_of_one_machine(tables_of_the_documentation):
    script = ("scripts/quality.py", "--tables", tables_of_the_documentation, "--output", "-")
    whole = output_of(*script)
    label = "Intel Xeon, 2 cores"
    quality, predictions = output_of(*script, "--machine", label).split("\n\n")
    for part in (quality, predictions):
        lines = part.strip().splitlines()[2:]
        assert lines == [line for line in lines if f"| {label} |" in line]
        assert len(lines) > 5
        assert set(lines) < set(whole.splitlines())
    unknown = [sys.executable, *script, "--machine", "Intel Xenon, 2 cores"]
    done = subprocess.run(unknown, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"did you mean '{label}'?" in done.stderr


def test_how_good_predictions_were_is_what_the_records_say(tables_of_the_documentation):
    """The table of docs/predictions.md, and the sentence of the README from its first row."""
    made = output_of("benchmarks/predicted.py", "--tables", tables_of_the_documentation)
    assert made.strip() in (ROOT / "docs/predictions.md").read_text()
    runs, close, _, lowest, _, highest, _ = made.splitlines()[2].split(" | ")[1:]
    text = " ".join((ROOT / "README.md").read_text().split())
    low, high = 100 - round(float(lowest) * 100), round(float(highest) * 100) - 100
    assert (
        f"Of {runs} predictions that a full run checked within half an hour, {close} were within "
        f"5 %; the worst were {low} % too low and {high} % too high."
    ) in text


def test_the_times_on_a_gpu_are_what_the_records_say(tables_of_the_documentation):
    made = output_of("benchmarks/on_gpu.py", "--tables", tables_of_the_documentation)
    beside_cores, beside_the_k80 = made.strip().split("\n\n")
    said = (ROOT / "docs/gpu.md").read_text()
    for table in (beside_cores, beside_the_k80):
        assert table.count("\n") > 5
        assert table in said


def test_how_many_intervals_held_is_what_the_table_of_predictions_says():
    table = (ROOT / "docs/predictions.md").read_text().partition("## Each training")[2]
    cells = re.findall(r"\| (\d+) of (\d+) \|", table)
    held, runs = (sum(map(int, column)) for column in zip(*cells, strict=True))
    text = " ".join((ROOT / "docs/measuring.md").read_text().split())
    assert (
        f"Of the {runs} quick runs in the [table of all trainings](predictions.md#each-training) "
        f"with an interval, {held} contained"
    ) in text
    assert held / runs > 0.95


@pytest.mark.parametrize(
    ("script", "document"), [("software.py", "findings.md"), ("axes.py", "variants.md")]
)
def test_the_tables_of_sessions_are_what_their_records_say(script, document):
    made = output_of(f"benchmarks/{script}")
    assert len(made.splitlines()) > 3
    assert made.strip() in (ROOT / "docs" / document).read_text()


def test_what_searches_found_is_what_their_runs_and_full_runs_say(tables_of_the_documentation):
    made = output_of("benchmarks/found.py", "--tables", tables_of_the_documentation)
    text = (ROOT / "docs/findings.md").read_text()
    assert made.strip() in text
    said = " ".join(text.partition("## What searches found")[2].partition("\n## ")[0].split())
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in made.splitlines()[2:]]
    pairs = {
        (workload, names.framework(name))
        for workload, recipe in recipes.load(ROOT / "config/workloads.yaml").items()
        for name in recipe["frameworks"]
        if not FRAMEWORKS[name].legacy
    }
    searched = {(workload, framework) for workload, framework, *_ in rows}
    assert f" for {len(searched)} of the {len(pairs)} pairs" in said
    missing = said.partition("Not searched yet: ")[2].partition(". ")[0]
    assert set(re.findall(r"`(\w+)`", missing)) == {workload for workload, _ in pairs - searched}
    found = [row for row in rows if row[2] != "none beat the defaults"]
    assert f"It found some for {len(found)}." in said
    whole = [float(row[8]) for row in found if row[8]]
    assert f"{min(whole):.2f} to {max(whole):.2f} of their time" in said
    off = [float(row[8]) - float(row[4].split()[0].rstrip("*")) for row in found if row[8]]
    assert f"between {-min(off):.2f} lower and {max(off):.2f} higher than the rounds said" in said
    chance = [100 * float(row[8]) - 100 for row in rows if row[8] and row not in found]
    assert f"differ by {min(chance):.0f} to {max(chance):.0f} %" in said


def test_the_comparison_with_plain_scripts_has_the_newest_row_of_each_pair():
    with (ROOT / "benchmarks/results/plain.csv").open(newline="") as file:
        newest = {
            (row["workload"], names.framework(row["framework"])): row
            for row in csv.DictReader(file)
            if row["memory"] == "kept"
        }
    said = (ROOT / "docs/results.md").read_text().partition("Does the measuring cost anything?")[2]
    head, _, *lines = [line for line in said.splitlines() if line.startswith("|")]
    frameworks = [cell.strip() for cell in head.split("|")[2:-1]]
    shown = {}
    for line in lines:
        workload, *cells = [cell.strip() for cell in line.split("|")[1:-1]]
        shown |= {(workload, name): cell for name, cell in zip(frameworks, cells, strict=True)}
    for pair, row in newest.items():
        ratio, low, high = (float(row[column]) for column in ("ratio", "low", "high"))
        assert shown.pop(pair) == f"{ratio:.2f} ({low:.2f} to {high:.2f})"
    assert not any(shown.values())


def test_the_table_of_small_numbers_has_the_medians_of_what_was_measured():
    with (ROOT / "benchmarks/results/small_numbers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))

    def median_of(way: str, epoch: str, column: str) -> float:
        chosen = [
            float(row[column])
            for row in rows
            if (row["small_numbers"], row["epoch"]) == (way, epoch)
        ]
        return statistics.median(chosen)

    def all_epochs(way: str) -> float:
        seconds = {}
        for row in rows:
            if row["small_numbers"] == way:
                seconds.setdefault(row["round"], []).append(float(row["train_s"]))
        return statistics.median(sum(one) for one in seconds.values())

    text = (ROOT / "docs/findings.md").read_text()
    said = text.partition("## PyTorch slows down as it learns")[2].partition("\n## ")[0]
    head, _, kept, small, flushed = [
        [cell.strip() for cell in line.split("|")[2:-1]]
        for line in said.splitlines()
        if line.startswith("|")
    ]
    epochs = head[:-1]
    for way, cells in (("kept", kept), ("flushed", flushed)):
        assert cells[:-1] == [f"{median_of(way, epoch, 'train_s'):.2f}" for epoch in epochs]
        assert cells[-1] == f"{all_epochs(way):.1f}"
    thousands = [median_of("kept", epoch, "small_state") / 1000 for epoch in epochs]
    assert small[:-1] == [f"{number:.0f}" for number in thousands]
