"""Do frameworks learn equally well? The mean quality of each, and what chance says of the rest.

In: runs.csv of results/tables (scripts/runs.py). Out: a Markdown table of the runs that quality
targets are set from (epochcost.results.quality.judged).
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost.models import recipes
from epochcost.results import quality, tables
from epochcost.show.wording import names

FRAMEWORKS = ("keras-tensorflow", "keras-jax", "keras-torch", "pytorch", "fastai")
SHUFFLINGS = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, default=ROOT / "results/tables")
    arguments = parser.parse_args()
    runs = tables.read_runs(arguments.tables / "runs.csv")
    judged = quality.judged(runs, recipes.load(ROOT / "config/workloads.yaml"))
    judged = judged[judged.framework.isin(FRAMEWORKS)]
    print(f"| workload | {' | '.join(map(names.framework, FRAMEWORKS))} | by chance |")
    print(f"|---|{'---:|' * (len(FRAMEWORKS) + 1)}")
    for workload, group in judged.groupby("workload"):
        cells = [mean(group[group.framework.eq(name)].metric_value) for name in FRAMEWORKS]
        print(f"| {workload} | {' | '.join(cells)} | {100 * by_chance(group):.0f} % |")


def mean(values: pd.Series) -> str:
    """The mean and of how many runs it is; nothing of none."""
    return f"{values.mean():.4f} ({len(values)})" if len(values) else ""


def by_chance(runs: pd.DataFrame) -> float:
    """How often frameworks would lie as far apart if they were equal: a permutation test.

    The share of shufflings of the runs over the frameworks in which the means of these are spread
    as widely, each by its number of runs.
    """
    values, labels = runs.metric_value.to_numpy(), runs.framework.astype("category").cat.codes
    members = np.eye(labels.max() + 1)[labels]
    rng = np.random.default_rng(1)
    shuffled = rng.permuted(np.tile(values, (SHUFFLINGS, 1)), axis=1)
    spread = between(shuffled, members)
    return float((spread >= between(values[np.newaxis], members) * (1 - 1e-9)).mean())


def between(values: np.ndarray, members: np.ndarray) -> np.ndarray:
    """The sum of squares between frameworks of each row of values (rows x runs)."""
    sums, counts = (values - values.mean(axis=1, keepdims=True)) @ members, members.sum(axis=0)
    return (sums**2 / counts).sum(axis=1)


if __name__ == "__main__":
    main()
