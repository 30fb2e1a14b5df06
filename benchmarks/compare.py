"""Time scripts/train.py and the plain script of the same recipe in turn; report the ratio.

Both train the same steps in a fresh process each, in random order within a round. What is compared
is the time of a training step after the warm-up: scripts/train.py reads its clock at every 30th
step, the plain script only at the first and the last of them.
"""

import argparse
import csv
import datetime
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost.measurement.turn import turn  # noqa: E402

WORKLOADS = (
    "mnist_mlp",
    "mnist_cnn",
    "cifar10_cnn",
    "imdb_fasttext",
    "imdb_bilstm",
    "nietzsche_lstm",
)
ENVIRONMENTS = {
    "keras-tensorflow": "tensorflow-cpu",
    "keras-torch": "torch-cpu",
    "keras-jax": "jax-cpu",
    "pytorch": "torch-cpu",
}
# A quick run of scripts/train.py: one step, 29 steps, ten blocks of 30 steps, one step.
WARM_UP_STEPS, WARM_UP_BLOCKS, BLOCK_STEPS, QUICK_STEPS = 30, 2, 30, 331
RESAMPLES = 10_000
# Runs scripts/train.py with fewer blocks, to try this script out.
SHORTER = """
import runpy, sys
sys.path.insert(0, {scripts!r})
from epochcost.measurement import schedule
schedule.QUICK_BLOCKS = {blocks}
runpy.run_path({scripts!r} + "/train.py", run_name="__main__")
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("framework", choices=ENVIRONMENTS)
    parser.add_argument("--data", type=Path, required=True, help="folder of prepared arrays")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs (5)")
    parser.add_argument(
        "--steps",
        type=int,
        default=QUICK_STEPS,
        help="training steps of a run (331); 61, 91, ... try this script out and leave no row",
    )
    parser.add_argument("--python", type=Path, help="the framework's Python; default: in .venvs")
    parser.add_argument("--hardware", default="local", help="passed on to scripts/train.py")
    parser.add_argument(
        "--csv",
        type=Path,
        default=ROOT / "benchmarks/results/plain.csv",
        help="table that gets a row; default: benchmarks/results/plain.csv",
    )
    arguments = parser.parse_args()
    timed = arguments.steps - 1 - WARM_UP_STEPS
    if timed < BLOCK_STEPS or timed % BLOCK_STEPS or arguments.steps > QUICK_STEPS:
        parser.error("--steps is 61, 91, 121, ... or 331")
    if arguments.rounds < 1:
        parser.error("--rounds is 1 or more")
    compare(arguments, timed)


def compare(arguments: argparse.Namespace, timed: int) -> None:
    """Run all rounds, print them, and append their summary to the table (not of a short try)."""
    python = arguments.python or ROOT / f".venvs/{ENVIRONMENTS[arguments.framework]}/bin/python"
    if not python.is_file():
        sys.exit(f"{python} is missing; make the environment or give --python")
    ours, plain = [], []
    print("round  first  ours ms/step  plain ms/step   ratio  loss of ours, of plain  remarks")
    for number in range(1, arguments.rounds + 1):
        first = random.choice(["ours", "plain"])
        for which in sorted(["ours", "plain"], reverse=first == "plain"):
            if which == "ours":
                record = run_ours(arguments, python, number)
            else:
                times = run_plain(arguments, python, seed=number + 1)
        blocks = record["blocks"][WARM_UP_BLOCKS:-1]
        steps = sum(block["steps"] for block in blocks)
        if not steps == times["steps"] == timed:
            sys.exit(f"ours timed {steps} steps, the plain script {times['steps']}, not {timed}")
        ours.append(1000 * sum(block["seconds"] for block in blocks) / timed)
        plain.append(1000 * times["steps_s"] / timed)
        print(
            f"{number:5}  {first:5}  {ours[-1]:12.3f}  {plain[-1]:13.3f}  "
            f"{ours[-1] / plain[-1]:6.4f}  "
            f"{record['epochs'][0]['loss']:12.5f}, {times['loss'][0]:.5f}  "
            f"  {', '.join(record['noise']['flags'])}",
            flush=True,
        )
    ratios = np.array(ours) / np.array(plain)
    ratio = float(np.median(ratios))
    low, high = interval(ratios)
    print(f"ours / plain: {ratio:.4f} (95 % interval {low:.4f} to {high:.4f})")
    if arguments.steps != QUICK_STEPS:
        return
    machine = record["machine"]
    on_gpu = record["software"]["device"] == "gpu" and machine["gpus"]
    append(
        arguments.csv,
        {
            "date": datetime.date.today().isoformat(),
            "machine": machine["gpus"][0]["name"] if on_gpu else machine["cpu_model"],
            "cores": machine["usable_cores"],
            "workload": arguments.workload,
            "framework": arguments.framework,
            "framework_version": record["software"]["framework_version"],
            "rounds": arguments.rounds,
            "steps": arguments.steps,
            "ours_ms_per_step": f"{np.median(ours):.3f}",
            "plain_ms_per_step": f"{np.median(plain):.3f}",
            "ratio": f"{ratio:.4f}",
            "low": f"{low:.4f}",
            "high": f"{high:.4f}",
        },
    )


def run_ours(arguments: argparse.Namespace, python: Path, number: int) -> dict:
    """Train with scripts/train.py; gives its record. Its seed is its trial number plus one."""
    command = [str(ROOT / "scripts/train.py")]
    if arguments.steps != QUICK_STEPS:
        blocks = (arguments.steps - 1 - WARM_UP_STEPS) // BLOCK_STEPS
        command = ["-c", SHORTER.format(scripts=str(ROOT / "scripts"), blocks=blocks)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "record.json")
        command += [arguments.workload, arguments.framework, "--scale", "quick"]
        command += ["--data", str(arguments.data), "--record", str(path)]
        command += ["--hardware", arguments.hardware, "--trial", str(number), "--seed", "1"]
        run([str(python), *command])
        record = json.loads(path.read_text(encoding="utf-8"))
    if record["status"] != "ok":
        sys.exit(f"scripts/train.py failed: {record['failure']['reason']}")
    return record


def run_plain(arguments: argparse.Namespace, python: Path, seed: int) -> dict:
    """Train with the plain script, when no training of epochcost runs; gives its times."""
    scripts = ROOT / "benchmarks"
    if arguments.framework == "pytorch":
        command = [str(scripts / "plain_pytorch.py"), arguments.workload]
    else:
        backend = arguments.framework.removeprefix("keras-")
        command = [str(scripts / "plain_keras.py"), arguments.workload, "--backend", backend]
    command += ["--data", str(arguments.data), "--steps", str(arguments.steps)]
    with turn():
        output = run([str(python), *command, "--epochs", "1", "--seed", str(seed)])
    return json.loads(output.splitlines()[-1])


def run(command: list[str]) -> str:
    """Run a command and give what it prints; ends this script where the command fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stderr[-2000:]}\nfailed: {' '.join(command)}")
    return done.stdout


def interval(ratios: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of the median over rounds, by resampling rounds."""
    drawn = np.random.default_rng(0).choice(ratios, (RESAMPLES, len(ratios)))
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    return float(low), float(high)


def append(table: Path, row: dict) -> None:
    """Add a row to a table, which is made with its header where it is missing."""
    table.parent.mkdir(parents=True, exist_ok=True)
    new = not table.exists()
    with table.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(row), lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


if __name__ == "__main__":
    main()
