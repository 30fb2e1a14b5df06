"""Training times on a GPU, and the price an hour up to which they cost less than elsewhere.

In: runs.csv and noise.csv of results/tables (scripts/runs.py). Out: two Markdown tables. The first
has a row per workload and compares its best time with the best of two cores; the second has a row
per run on that GPU, disturbed ones as well, and compares it with the K80.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost.results import tables
from epochcost.show.wording import amounts, names

# The machines of study/articles/results.md that have most full runs, and what such a one may cost.
CORES, CORES_USD_PER_HOUR = "AMD EPYC, 2 cores", 0.1
# The machine whose runs ran beside each other: their times mean little.
CROWDED = "994b11535c0b"
HEAD = ("workload", "framework", "training", "over the K80", "break-even", "GPU busy", "remarks")
# The K80 of the baseline, and what it cost an hour.
BASELINE, FRAMEWORK, HARDWARE, USD_PER_HOUR = "woolf2017gpu", "keras-tensorflow", "gce-k80", 0.4975


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, default=ROOT / "results/tables")
    parser.add_argument("--gpu", default="NVIDIA H200", help="its name; default: NVIDIA H200")
    arguments = parser.parse_args()
    runs = tables.read_runs(arguments.tables / "runs.csv")
    runs = runs[runs.machine_id.ne(CROWDED)]
    busy = pd.read_csv(arguments.tables / "noise.csv")[["run_id", "gpu_share"]]
    runs = runs.merge(busy, on="run_id", how="left")
    print(beside_cores(runs, arguments.gpu), table(runs, arguments.gpu), sep="\n\n")


def beside_cores(runs: pd.DataFrame, gpu: str) -> str:
    """A Markdown table of the best time of each workload on one such GPU, and on two cores.

    On the cores it is that of full runs by default, as the median of each framework and machine.
    """
    trained = runs[runs.source_id.eq("own") & runs.variant.eq("default") & runs.data_complete]
    full = trained[
        trained.hardware_label.eq(CORES)
        & ~trained.predicted
        & ~trained.framework.str.match("keras2")
    ]
    medians = full.groupby(["workload", "framework", "machine"]).time_s.median()
    head = ("workload", "two cores", gpu, "over two cores", "break-even, USD an hour")
    lines = [f"| {' | '.join(head)} |", "|---|---|---|---:|---:|"]
    on_gpu = trained[trained.hardware_label.eq(gpu)].sort_values("time_s")
    for workload, rows in on_gpu.groupby("workload"):
        best, on_cores = rows.iloc[0], medians[workload]
        cells = [
            workload,
            f"{amounts.seconds(on_cores.min())}, {names.framework(on_cores.idxmin()[0])}",
            ", ".join(
                [amounts.seconds(best.time_s), names.framework(best.framework), *remarks(best)]
            ),
            amounts.ratio(best.time_s / on_cores.min()),
            f"{CORES_USD_PER_HOUR * on_cores.min() / best.time_s:.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def table(runs: pd.DataFrame, gpu: str) -> str:
    """A Markdown table of the runs of one's own on one such GPU, by workload and time."""
    is_baseline = (
        runs.source_id.eq(BASELINE) & runs.framework.eq(FRAMEWORK) & runs.hardware_id.eq(HARDWARE)
    )
    baseline = runs[is_baseline].set_index("workload").time_s
    own = runs[runs.source_id.eq("own") & runs.gpus_used.eq(1) & runs.hardware_label.eq(gpu)]
    lines = [f"| {' | '.join(HEAD)} |", f"|---|---|{'---:|' * (len(HEAD) - 3)}---|"]
    for row in own.sort_values(["workload", "time_s"]).itertuples():
        ratio = row.time_s / baseline.get(row.workload, float("nan"))
        known = ratio == ratio and row.data_complete
        cells = [
            row.workload,
            names.framework(row.framework),
            amounts.seconds(row.time_s),
            amounts.ratio(ratio) if known else "",
            f"{USD_PER_HOUR / ratio:.2f}" if known else "",
            "" if row.predicted else f"{100 * row.gpu_share:.0f} %",
            ", ".join(remarks(row)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def remarks(row) -> list[str]:
    """What a reader must know of a run."""
    facts = {
        "predicted": row.predicted,
        "subset of the data": not row.data_complete,
        "disturbed": bool(row.noise),
    }
    return [name for name, is_so in facts.items() if is_so]


if __name__ == "__main__":
    main()
