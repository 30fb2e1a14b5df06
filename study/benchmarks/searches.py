"""What searches for faster settings tried, as a table with a row per run.

In: the records that `snakemake tune` left below results/tuning. Out: a CSV; the rows of a workload
and framework are in the order in which they were run. `seconds` is the time of a full run: as a
quick run predicts it, or extrapolated from whole epochs.
"""

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost import files
from epochcost.models import recipes
from epochcost.record.types import parse
from epochcost.training.search import outcome_of

COLUMNS = (
    "workload", "framework", "number", "started_at", "scale", "settings", "seconds", "quality",
    "flags",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--tuning",
        type=files.folder,
        nargs="+",
        default=[ROOT / "results/tuning"],
        help="folders of searches; default: results/tuning",
    )
    parser.add_argument("--since", default="", help="2026-11-23: no run from before")
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "study/benchmarks/results/searches.csv",
        help="the CSV",
    )
    arguments = parser.parse_args()
    known = recipes.load(ROOT / "config/workloads.yaml")
    rows = [
        row(path, content, known[content["run"]["workload"]]["epochs"])
        for folder in arguments.tuning
        for path, content in records(folder)
        if content["run"]["started_at"] >= arguments.since
    ]
    with arguments.output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def records(folder: Path) -> Iterator[tuple[Path, dict]]:
    """The records of searches, in the order in which they were made."""
    for search in sorted({path.parent for path in folder.rglob("*.json")}):
        for path in sorted(search.glob("*.json"), key=lambda path: int(path.stem)):
            yield path, files.read_json(path)


def row(path: Path, content: dict, epochs: int) -> dict:
    """A run of a search as it counted in it."""
    outcome = outcome_of(parse(content), epochs)
    return {
        **{name: content["run"][name] for name in ("workload", "framework", "started_at", "scale")},
        "number": path.stem,
        "settings": json.dumps(content["software"]["settings"]),
        "seconds": f"{outcome.seconds:.1f}" if outcome else "failed",
        "quality": "" if outcome is None or outcome.quality is None else f"{outcome.quality:.4f}",
        "flags": ", ".join(content["noise"]["flags"]),
    }


if __name__ == "__main__":
    main()
