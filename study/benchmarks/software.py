"""How much faster the software became: the same recipes by that of 2017 and by today's.

In: quick runs of one session, on one machine, of Keras 2 (study/2017) and of Keras 3 on
TensorFlow. Out: a Markdown table of the predicted training times. Where a combination has several
runs, the median of the undisturbed ones counts.
"""

import argparse
from pathlib import Path

import pandas as pd
import quick_runs
from quick_runs import ROOT

from epochcost.results import published
from epochcost.show.wording import amounts

OLD, CNTK, TODAY = "keras2-tensorflow1", "keras2-cntk", "keras-tensorflow"
HEAD = ("K80 of 2017", "TensorFlow 1.4", "CNTK 2.7", "TensorFlow today", "1.4 over today's")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--records",
        type=Path,
        default=ROOT / "study/benchmarks/results/software.jsonl",
        help="results/runs of the session, or a file of its records; default: "
        "study/benchmarks/results/software.jsonl",
    )
    runs = quick_runs.read(parser.parse_args().records)
    found = quick_runs.seconds_by(
        lambda one: (one.run.workload, one.run.framework),
        [one for one in runs if one.run.variant == "default"],
    )
    print(table(found, baseline_seconds(ROOT / "data/published")))


def baseline_seconds(study: Path) -> dict[str, float]:
    """How long the K80 of 2017 took, by workload."""
    times = {row.run_id: row.time_s for row in published.runs(study, {})}
    bases = pd.read_csv(study / "baselines.csv").query("baseline == 'woolf2017gpu'")
    return {base.workload: times[base.run_id] for base in bases.itertuples()}


def table(found: dict[tuple[str, str], float], k80: dict[str, float]) -> str:
    """A Markdown table, a row per workload that old and new software trained.

    Args:
        found: predicted seconds by workload and framework.
    """
    lines = [f"| workload | {' | '.join(HEAD)} |", f"|---|{'---:|' * len(HEAD)}"]
    for workload in sorted({workload for workload, _ in found}):
        old, cntk, today = (found.get((workload, name)) for name in (OLD, CNTK, TODAY))
        if old and today:
            times = (k80.get(workload), old, cntk, today)
            said = [amounts.seconds(time) if time else "" for time in times]
            lines.append(f"| {workload} | {' | '.join(said)} | {old / today:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
