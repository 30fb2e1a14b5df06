"""How much faster the software became: the same recipes by that of 2017 and by today's.

In: quick runs of one session, on one machine, of Keras 2 (`make legacy`) and of Keras 3 on
TensorFlow. Out: a Markdown table of the predicted training times. Where a combination has several
runs, the median of the undisturbed ones counts.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import median

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost import files  # noqa: E402
from epochcost.costs import published  # noqa: E402
from epochcost.records import record  # noqa: E402
from epochcost.statistics.prediction import predict  # noqa: E402
from epochcost.words import amounts  # noqa: E402

OLD, CNTK, TODAY = "keras2-tensorflow1", "keras2-cntk", "keras-tensorflow"
HEAD = ("K80 of 2017", "TensorFlow 1.4", "CNTK 2.7", "TensorFlow today", "1.4 over today's")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--records",
        type=files.folder,
        default=ROOT / "benchmarks/results/software",
        help="of the session; default: benchmarks/results/software",
    )
    arguments = parser.parse_args()
    session = [content for _, content in record.read_all(arguments.records)]
    if len({content["machine"]["id"] for content in session}) != 1:
        sys.exit(f"{arguments.records} holds no records, or those of several machines")
    print(table(seconds_of(session), baseline_seconds(ROOT / "data/published")))


def seconds_of(session: Iterable[dict]) -> dict[str, dict[str, float]]:
    """Predicted seconds of a full run, by workload and framework."""
    quiet, disturbed = defaultdict(list), defaultdict(list)
    for content in session:
        run = content["run"]
        if content["status"] == "ok" and (run["scale"], run["variant"]) == ("quick", "default"):
            kept = disturbed if content["noise"]["flags"] else quiet
            kept[run["workload"], run["framework"]].append(predict(content).seconds)
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for (workload, framework), seconds in (disturbed | quiet).items():
        found[workload][framework] = median(seconds)
    return found


def baseline_seconds(study: Path) -> dict[str, float]:
    """How long the K80 of 2017 took, by workload."""
    times = {row.run_id: row.time_s for row in published.runs(study, {})}
    bases = pd.read_csv(study / "baselines.csv").query("baseline == 'woolf2017gpu'")
    return {base.workload: times[base.run_id] for base in bases.itertuples()}


def table(found: dict[str, dict[str, float]], k80: dict[str, float]) -> str:
    """A Markdown table, a row per workload that old and new software trained."""
    lines = [f"| workload | {' | '.join(HEAD)} |", f"|---|{'---:|' * len(HEAD)}"]
    for workload in sorted(found):
        by = found[workload]
        if OLD in by and TODAY in by:
            times = (k80.get(workload), by[OLD], by.get(CNTK), by[TODAY])
            said = [amounts.seconds(time) if time else "" for time in times]
            lines.append(f"| {workload} | {' | '.join(said)} | {by[OLD] / by[TODAY]:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
