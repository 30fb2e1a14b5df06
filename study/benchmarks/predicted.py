"""How far quick runs were off: those beside a full run of the same training, by framework.

In: runs.csv of results/tables (scripts/runs.py). Out: a Markdown table. Each quick run is compared
with the full run that started closest to it, where no more than so many hours lie between them;
disturbed runs count.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost.results import predictions, tables
from epochcost.show.wording import names

HEAD = ("quick runs", "within 5 %", "within 10 %", "lowest", "median", "highest", "inside")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, default=ROOT / "results/tables")
    parser.add_argument("--hours", type=float, default=0.5, help="at most, between the two runs")
    arguments = parser.parse_args()
    runs = tables.read_runs(arguments.tables / "runs.csv")
    pairs = predictions.pairs(runs, keep_disturbed=True)
    print(table(pairs[pairs.hours.le(arguments.hours)]))


def table(pairs: pd.DataFrame) -> str:
    """A Markdown table: a row per framework, one per machine, and one for all."""
    frameworks, machines = pairs.framework.map(names.framework), pairs.hardware_label
    rows = [row("all", pairs)]
    for keys in (frameworks, machines):
        rows += [row(key, group) for key, group in pairs.groupby(keys)]
    return "\n".join([f"| | {' | '.join(HEAD)} |", f"|---|{'---:|' * len(HEAD)}", *rows])


def row(name: str, pairs: pd.DataFrame) -> str:
    """One line: how many, how many were close, the range of predicted over measured."""
    off, has_interval = (pairs.ratio - 1).abs(), pairs.time_low.notna()
    cells = [
        name,
        len(pairs),
        off.le(0.05).sum(),
        off.le(0.1).sum(),
        *(f"{value:.2f}" for value in (pairs.ratio.min(), pairs.ratio.median(), pairs.ratio.max())),
        f"{pairs.within[has_interval].sum()} of {has_interval.sum()}" if any(has_interval) else "",
    ]
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
