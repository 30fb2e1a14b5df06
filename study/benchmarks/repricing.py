"""How long it takes to price many records anew, with all figures: once, and with half as many.

The records are copies of those in data/measured with other trial numbers and times, in a temporary
folder: what is timed is reading, pricing and drawing, not what they say.
"""

import argparse
import copy
import json
import random
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost.record import shipped
from epochcost.record.types import document

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
BOOKS = ("2017-12", "latest")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=100_000)
    arguments = parser.parse_args()
    for count in (arguments.records // 2, arguments.records):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            make_records(folder / "runs", count)
            begin = time.perf_counter()
            run(sys.executable, "scripts/runs.py", "--records", folder / "runs",
                "--output", folder / "tables")  # fmt: skip
            print(f"{count:,} records, read once: {time.perf_counter() - begin:.1f} s", flush=True)
            for book in BOOKS:
                tables, figures = reprice(folder, book)
                seconds = f"tables {tables:.1f} s, figures {figures:.1f} s"
                print(f"{count:,} records, book {book}: {seconds}", flush=True)


def make_records(folder: Path, count: int) -> None:
    """So many records of rented hardware: copies with times that differ by some percent."""
    known = [document(one) for _, one in shipped.read_all(ROOT / shipped.MEASURED, {})]
    rng = random.Random(1)
    for number in range(count):
        record = copy.deepcopy(known[number % len(known)])
        run, trial = record["run"], number // len(known) + 1
        run |= {"hardware": rng.choice(["gce-p100", "gce-t4"]), "trial": trial}
        # No run is there twice.
        run["started_at"] = (_BEGIN + timedelta(seconds=number)).isoformat()
        run["id"] = "{hardware}/{workload}/{framework}/{variant}-{trial}".format(**run)
        slower = rng.uniform(0.95, 1.1)
        for epoch in record["epochs"]:
            epoch["train_s"] *= slower
        path = folder / f"{run['id']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record))


def reprice(folder: Path, book: str) -> tuple[float, float]:
    """Seconds for all tables, and for all figures."""
    python, tables = sys.executable, folder / "tables"
    begin = time.perf_counter()
    run(
        python,
        "scripts/costs.py",
        "--tables",
        tables,
        "--output",
        tables,
        "--settings",
        json.dumps({"price_book": book}),
    )
    middle = time.perf_counter()
    run(python, "scripts/figures.py", "--tables", tables, "--output", folder)
    return middle - begin, time.perf_counter() - middle


def run(*command: object) -> None:
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True, capture_output=True)


if __name__ == "__main__":
    main()
