"""Measure the same twice, and see whether the intervals of each session hold the other's medians.

A session is one call of Snakemake in a copy of this repository that shares its environments and
prepared data: so many runs of each combination, in rounds, in an order of its own. Prints a table
and leaves it in study/benchmarks/results/sessions.csv. Full runs, as predictions have no stated
confidence over runs; of a large batch, which is short.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost.record import record
from epochcost.results import (
    repeats,
    rows,
    tables,
)

KEY = ["workload", "framework", "variant", "predicted"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=8, help="of each combination, in each session")
    parser.add_argument(
        "--config",
        nargs="+",
        default=["scale=full", "workloads=mnist_mlp", "frameworks=all", "batch_size=512"],
        help="what to measure, as snakemake takes it",
    )
    parser.add_argument("--folder", type=Path, help="keeps the records; default: a temporary one")
    parser.add_argument("--csv", type=Path, default=ROOT / "study/benchmarks/results/sessions.csv")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for number in (1, 2):
            measure(folder / f"session-{number}", number, arguments.runs, arguments.config)
        sessions = [summary(folder / f"session-{number}") for number in (1, 2)]
    table = compare(*sessions)
    table.to_csv(arguments.csv, index=False, lineterminator="\n", float_format="%.4g")
    print(table.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    held = [*table.first_holds_second, *table.second_holds_first]
    print(f"{sum(held)} of {len(held)} intervals hold the other session's median")


def measure(folder: Path, seed: int, runs: int, config: list[str]) -> None:
    """One session, in a clone of this repository; one that is there is left as it is."""
    if not folder.exists():
        subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
        (folder / ".venvs").symlink_to(ROOT / ".venvs")
        (folder / "data/arrays").symlink_to(ROOT / "data/arrays")
        if (ROOT / "data/raw").exists():
            (folder / "data/raw").symlink_to(ROOT / "data/raw")
    bin_folder = Path(sys.executable).parent
    subprocess.run(
        [
            *(bin_folder / "snakemake", "--quiet", "all", "--config", *config),
            *(f"runs={runs}", f"seed={seed}", "--", "measure"),
        ],
        cwd=folder,
        check=True,
    )


def summary(folder: Path) -> pd.DataFrame:
    """The medians of a session and their intervals, undisturbed runs alone where there are any."""
    found = [rows.run_row(one, "") for _, one in record.read_all(folder / "results/runs")]
    table = tables.runs_table(found)
    return repeats.summaries(table[table.status.eq("ok")])


def compare(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Both sessions side by side, by workload and framework."""
    both = first.merge(second, on=KEY, suffixes=("_1", "_2"))
    return both[KEY].assign(
        runs_1=both.runs_1,
        runs_2=both.runs_2,
        median_1=both.time_s_1,
        low_1=both.time_low_1,
        high_1=both.time_high_1,
        median_2=both.time_s_2,
        low_2=both.time_low_2,
        high_2=both.time_high_2,
        confidence=both.time_confidence_1,
        ratio=both.time_s_2 / both.time_s_1,
        disturbed=both.noisy_runs_1 + both.noisy_runs_2,
        first_holds_second=both.time_s_2.between(both.time_low_1, both.time_high_1),
        second_holds_first=both.time_s_1.between(both.time_low_2, both.time_high_2),
    )


if __name__ == "__main__":
    main()
