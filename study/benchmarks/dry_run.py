"""What a dry run of many trainings takes, beside a bare Snakefile with one rule and as many jobs.

Both in turn, in a temporary folder each: seconds, and the most memory that a process had. Adds a
row per dry run to study/benchmarks/results/dry_run.csv.
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "study/benchmarks/results/dry_run.csv"
SNAKEMAKE = Path(sys.executable).parent / "snakemake"
BARE = """\
rule all:
    input:
        expand("made/{{number}}", number=range({jobs})),


rule make:
    output:
        "made/{{number}}",
    shell:
        "touch {{output}}"
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=10_000, help="about so many trainings")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        ours, bare = Path(temporary, "ours"), Path(temporary, "bare")
        copy_repository(ours)
        # Eight workloads in the frameworks that each has, on two hardwares.
        everything = ["hardware=gce-p100,gce-t4", "workloads=all", "frameworks=all"]
        options = ["data={source: synthetic}"]
        combinations = planned(ours, [*everything, *options])
        runs = round(arguments.jobs / combinations)
        jobs = runs * combinations
        bare.mkdir()
        (bare / "Snakefile").write_text(BARE.format(jobs=jobs))
        command = ["measure", "--config", *everything, *options, f"runs={runs}"]
        rows = []
        for number in range(1, arguments.rounds + 1):
            for name, folder, words in (("epochcost", ours, command), ("bare", bare, [])):
                seconds, mib, _ = dry_run(folder, words)
                rows.append([name, jobs, number, f"{seconds:.2f}", f"{mib:.0f}"])
                print(*rows[-1], flush=True)
    write(rows)
    for name, column in (("seconds", 3), ("memory", 4)):
        middle = {
            of: median(float(row[column]) for row in rows if row[0] == of)
            for of in ("epochcost", "bare")
        }
        print(f"{name}: {middle['epochcost'] / middle['bare']:.2f}x of bare")


def copy_repository(folder: Path) -> None:
    """The files that git has, in a folder of their own."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def planned(folder: Path, settings: list[str]) -> int:
    """How many trainings one run of each is."""
    _, _, shown = dry_run(folder, ["measure", "--config", *settings, "runs=1"])
    lines = {line for line in shown.splitlines() if line.startswith("train_")}  # shown twice
    return sum(int(line.split()[1]) for line in lines)


def dry_run(folder: Path, words: list[str]) -> tuple[float, float, str]:
    """Seconds, peak MiB of the largest process, and what was said."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [SNAKEMAKE, "-n", "--cores", "1", *words, "--quiet", "rules"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    shown = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(shown)
    return time.perf_counter() - begin, usage.ru_maxrss / 1024, shown


def write(rows: list[list]) -> None:
    new = not RESULTS.exists()
    with open(RESULTS, "a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(["what", "jobs", "round", "seconds", "peak_mib"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
