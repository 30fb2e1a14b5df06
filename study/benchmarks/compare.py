"""Time scripts/train.py and the plain script of the same recipe in turn; report the ratio.

Both train the same epochs in a fresh process each, in random order within a round: the short ones
of a quick run, or with --epochs whole ones. What is compared is the time of the quickest training
pass with that of the quickest validation pass, the first epoch left out. (Others were disturbed, or
TensorFlow waited before them.)
"""

import argparse
import csv
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost.measure.extent import QUICK_EPOCHS, QUICK_STEPS, QUICK_TUNING_STEPS
from epochcost.measure.machine_lock import hold
from epochcost.statistics.intervals import median_interval

WORKLOADS = (
    "mnist_mlp",
    "mnist_cnn",
    "cifar10_cnn",
    "imdb_fasttext",
    "imdb_bilstm",
    "twitter_bilstm",
    "nietzsche_lstm",
    "catsdogs_resnet50",
)
ENVIRONMENTS = {
    "keras-tensorflow": "tensorflow-cpu",
    "keras-torch": "torch-cpu",
    "keras-jax": "jax-cpu",
    "pytorch": "torch-cpu",
    "fastai": "torch-cpu",
}
FINE_TUNING = "catsdogs_resnet50"
# What glibc is told: keep memory. Else chance decides how often a process must ask for it anew.
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**64 - 1)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("framework", choices=ENVIRONMENTS)
    parser.add_argument("--data", type=Path, required=True, help="folder of prepared arrays")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs (5)")
    parser.add_argument("--epochs", type=int, help="2 or more whole epochs, not short ones")
    parser.add_argument(
        "--system-memory",
        action="store_true",
        help="leave the memory that is freed to the system, as it is by default",
    )
    parser.add_argument("--python", type=Path, help="the framework's Python; default: in .venvs")
    parser.add_argument("--hardware", default="local", help="passed on to scripts/train.py")
    parser.add_argument(
        "--csv",
        type=Path,
        default=ROOT / "study/benchmarks/results/plain.csv",
        help="table that gets a row; default: study/benchmarks/results/plain.csv",
    )
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds is 1 or more")
    if arguments.epochs and arguments.epochs < 2:
        parser.error("--epochs is 2 or more")
    if arguments.epochs and arguments.workload == FINE_TUNING:
        parser.error(f"{FINE_TUNING} is compared by short epochs; leave --epochs out")
    if not arguments.system_memory:
        os.environ.update(KEEP_MEMORY)
    compare(arguments)


def compare(arguments: argparse.Namespace) -> None:
    """Run all rounds, print them, and append their summary to the table."""
    python = arguments.python or ROOT / f".venvs/{ENVIRONMENTS[arguments.framework]}/bin/python"
    if not python.is_file():
        sys.exit(f"{python} is missing; make the environment or give --python")
    ours, plain, losses, disturbed = [], [], [], 0
    print("milliseconds of the quickest epoch and validation")
    print("round  first          ours          plain   ratio  loss of ours, of plain  remarks")
    for number in range(1, arguments.rounds + 1):
        first = random.choice(["ours", "plain"])
        for which in sorted(["ours", "plain"], reverse=first == "plain"):
            if which == "ours":
                record = run_ours(arguments, python, number)
            else:
                times = run_plain(arguments, python, seed=number + 1)
        for milliseconds, each in zip((ours, plain), quickest(record, times), strict=True):
            milliseconds.append(1000 * each)
        losses.append((record["epochs"][-1]["loss"], times["loss"][-1]))
        disturbed += bool(record["noise"]["flags"])
        print(
            f"{number:5}  {first:5}  {ours[-1]:12.3f}  {plain[-1]:13.3f}  "
            f"{ours[-1] / plain[-1]:6.4f}  "
            f"{losses[-1][0]:12.5f}, {losses[-1][1]:.5f}  "
            f"  {', '.join(record['noise']['flags'])}",
            flush=True,
        )
    ratios = np.array(ours) / np.array(plain)
    ratio = float(np.median(ratios))
    low, high = interval(ratios)
    print(f"ours / plain: {ratio:.4f} (interval {low:.4f} to {high:.4f})")
    machine = record["machine"]
    loss_ours, loss_plain = np.median(losses, axis=0)
    on_gpu = record["software"]["device"] == "gpu" and machine["gpus"]
    append(
        arguments.csv,
        {
            "date": datetime.date.today().isoformat(),
            "machine": machine["gpus"][0]["name"] if on_gpu else processor(machine),
            "cores": machine["usable_cores"],
            "workload": arguments.workload,
            "framework": arguments.framework,
            "framework_version": record["software"]["framework_version"],
            "rounds": arguments.rounds,
            "memory": "system" if arguments.system_memory else "kept",
            "unit": unit(arguments),
            "ours_ms": f"{np.median(ours):.3f}",
            "plain_ms": f"{np.median(plain):.3f}",
            "ratio": f"{ratio:.4f}",
            "low": f"{low:.4f}",
            "high": f"{high:.4f}",
            "disturbed": disturbed,
            "loss_ours": f"{loss_ours:.5f}",
            "loss_plain": f"{loss_plain:.5f}",
            "commit": record["git"]["commit"],
        },
    )


def unit(arguments: argparse.Namespace) -> str:
    """What was compared, in words."""
    epochs, steps = length(arguments)
    which = f"quickest of epochs 2 to {epochs}" if epochs > 2 else "epoch 2"
    return f"{which}, of {steps} steps" if steps else which


def length(arguments: argparse.Namespace) -> tuple[int, int | None]:
    """Epochs, and steps of each; None for all."""
    if arguments.workload == FINE_TUNING:
        return 2, QUICK_TUNING_STEPS
    if arguments.epochs:
        return arguments.epochs, None
    return QUICK_EPOCHS, QUICK_STEPS


def quickest(record: dict, times: dict) -> tuple[float, float]:
    """Seconds of the quickest epoch and of the quickest validation, ours and plain."""
    epochs = record["epochs"]
    ours = [epoch["train_s"] for epoch in epochs], [epoch["eval_s"] or 0 for epoch in epochs]
    plain = times["train_s"], times["eval_s"] or [0] * len(times["train_s"])
    if len(ours[0]) != len(plain[0]):
        sys.exit(f"ours trained {len(ours[0])} epochs, the plain script {len(plain[0])}")
    return tuple(min(train[1:]) + min(validation[1:]) for train, validation in (ours, plain))


def run_ours(arguments: argparse.Namespace, python: Path, number: int) -> dict:
    """Train with scripts/train.py; gives its record. Its seed is its trial number plus one."""
    command = [str(ROOT / "scripts/train.py")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "record.json")
        command += [arguments.workload, arguments.framework]
        if arguments.epochs:
            command += ["--scale", "full", "--epochs", str(arguments.epochs)]
        command += ["--data", str(arguments.data), "--record", str(path)]
        command += ["--hardware", arguments.hardware, "--trial", str(number), "--seed", "1"]
        run([str(python), *command])
        record = json.loads(path.read_text(encoding="utf-8"))
    if record["status"] != "ok":
        sys.exit(f"scripts/train.py failed: {record['failure']['reason']}")
    return record


def run_plain(arguments: argparse.Namespace, python: Path, seed: int) -> dict:
    """Train with the plain script, when no training of epochcost runs; gives its times."""
    scripts = ROOT / "study/benchmarks"
    if arguments.framework in ("pytorch", "fastai"):
        command = [str(scripts / f"plain_{arguments.framework}.py"), arguments.workload]
    else:
        backend = arguments.framework.removeprefix("keras-")
        command = [str(scripts / "plain_keras.py"), arguments.workload, "--backend", backend]
    command += ["--data", str(arguments.data), "--seed", str(seed)]
    epochs, steps = length(arguments)
    command += ["--epochs", str(epochs)]
    if steps:
        command += ["--steps", str(steps)]
    with hold():
        output = run([str(python), *command])
    return json.loads(output.splitlines()[-1])


def run(command: list[str]) -> str:
    """Run a command and give what it prints; ends this script where the command fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stderr[-2000:]}\nfailed: {' '.join(command)}")
    return done.stdout


def interval(ratios: np.ndarray) -> tuple[float, float]:
    """The interval of the median over rounds; of one round a point."""
    found = median_interval(ratios)
    return (found.low, found.high) if found else (float(ratios[0]), float(ratios[0]))


def processor(machine: dict) -> str:
    """Name and kind of a processor, as "AMD EPYC" has been the name of five generations."""
    return ", ".join(part for part in (machine["cpu_model"], machine["cpu_kind"]) if part)


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
