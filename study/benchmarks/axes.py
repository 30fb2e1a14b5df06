"""What fewer cores, more devices, other batches and no oneDNN cost: ratios to the defaults.

In: quick runs of one session on one machine. Out: a Markdown table, a row per workload and
framework: the predicted training time with the recipe's batch on all cores, and the others over it.
"""

import argparse
from pathlib import Path

import quick_runs
from quick_runs import ROOT

from epochcost import files
from epochcost.record.types import Record
from epochcost.show.wording import amounts, names

DEFAULT = "default"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--records",
        type=Path,
        default=ROOT / "study/benchmarks/results/axes.jsonl",
        help="results/runs of the session, or a file of its records; default: "
        "study/benchmarks/results/axes.jsonl",
    )
    runs = quick_runs.read(parser.parse_args().records)
    recipes = files.read_yaml(ROOT / "config/workloads.yaml")

    def key(one: Record) -> tuple[str, str, str]:
        workload = one.run.workload
        return workload, one.run.framework, axis(one, recipes[workload]["batch_size"])

    print(table(quick_runs.seconds_by(key, runs)))


def axis(one: Record, batch_size: int) -> str:
    """What a run changed: cores, variant or batch size."""
    cores, batch = one.machine.usable_cores, one.settings["batch_size"]
    if cores < one.machine.logical_cores:
        return "1 core" if cores == 1 else f"{cores} cores"
    return one.run.variant if batch == batch_size else f"batch {batch}"


def table(found: dict[tuple[str, str, str], float]) -> str:
    """A Markdown table of predicted seconds by workload, framework and axis."""
    axes = list(dict.fromkeys(name for *_, name in sorted(found) if name != DEFAULT))
    lines = [
        f"| workload | framework | default | {' | '.join(axes)} |",
        f"|---|---|{'---:|' * (1 + len(axes))}",
    ]
    for workload, framework in sorted({(one, by) for one, by, _ in found}):
        base = found[workload, framework, DEFAULT]
        over = [found.get((workload, framework, name)) for name in axes]
        said = [f"{seconds / base:.2f}" if seconds else "" for seconds in over]
        cells = [workload, names.framework(framework), amounts.seconds(base), *said]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
