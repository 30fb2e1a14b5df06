"""Find the fastest settings of a framework for one workload on this machine.

A small search: quick runs in fresh processes; each setting is tried on top of the best so far and
kept where it saves more than 3 % of the predicted full run. At the end the best and the defaults
run in turn, and the best is kept only if it still wins. In: a folder of prepared arrays. Out: an
entry in config/tuned.yaml, and a record of every run below results/tuning/.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

from epochcost import errors, files, frameworks, tuning
from epochcost.measurement import machine
from epochcost.statistics.prediction import predict

ROOT = Path(__file__).resolve().parents[1]
_GAIN = 0.97
_ROUNDS = 3


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("workload", help="an id of config/workloads.yaml")
    parser.add_argument("framework", choices=sorted(frameworks.FRAMEWORKS))
    parser.add_argument("--data", type=Path, required=True, help="folder of prepared arrays")
    parser.add_argument("--python", default=sys.executable, help="that has the framework")
    parser.add_argument("--weights", type=Path, help="as for scripts/train.py")
    parser.add_argument("--records", type=Path, default=Path("results/tuning"))
    parser.add_argument("--output", type=Path, default=ROOT / "config/tuned.yaml")
    arguments = parser.parse_args()
    tune(arguments)


def tune(arguments: argparse.Namespace) -> None:
    """Search, confirm, write the entry."""
    here = tuning.place_of(machine.describe())
    runs = Runs(arguments, here)
    best, best_seconds = {}, runs.seconds({})
    if best_seconds is None:
        raise errors.InputError(
            f"{arguments.workload} with {arguments.framework} fails with the defaults already; "
            f"see {runs.last}"
        )
    for name, values in runs.choices().items():
        for value in values[1:]:
            tried = best | {name: value}
            seconds = runs.seconds(tried)
            if seconds is not None and seconds < best_seconds * _GAIN:
                best, best_seconds = tried, seconds
    best, ratio = _confirmed(runs, best)
    tuning.save(arguments.output, here, arguments.workload, arguments.framework, best)
    print(
        f"{arguments.workload} with {arguments.framework}: {json.dumps(best)}, "
        f"{ratio:.2f}x the time of the defaults"
    )


def _confirmed(runs: "Runs", best: dict) -> tuple[dict, float]:
    """The settings if they are faster in runs in turn, else none; and tuned over default."""
    if not best:
        return {}, 1.0
    pairs = [(runs.seconds({}), runs.seconds(best)) for _ in range(_ROUNDS)]
    whole = [(plain, tuned) for plain, tuned in pairs if plain and tuned]
    if not whole:
        return {}, 1.0
    ratio = median(tuned / plain for plain, tuned in whole)
    return (best, ratio) if ratio < 1 else ({}, 1.0)


class Runs:
    """Quick runs with given settings, each a record of its own."""

    def __init__(self, arguments: argparse.Namespace, here: str) -> None:
        self._arguments = arguments
        self.last: Path | None = None
        self._folder = arguments.records / here / arguments.workload / arguments.framework

    def choices(self) -> dict[str, list]:
        """The settings that the framework has for the workload."""
        return json.loads(self._train("--choices").stdout)

    def seconds(self, settings: dict) -> float | None:
        """Predicted seconds of a full run; None if the run failed."""
        record = self.last = self._folder / f"{self._free_number()}.json"
        self._train("--settings", json.dumps(settings), "--record", str(record))
        content = files.read_json(record)
        seconds = predict(content).seconds if content["status"] == "ok" else None
        print(json.dumps(settings), "failed" if seconds is None else f"{seconds:.1f} s", flush=True)
        return seconds

    def _free_number(self) -> int:
        taken = [int(path.stem) for path in self._folder.glob("*.json") if path.stem.isdigit()]
        return max(taken, default=0) + 1

    def _train(self, *options: str) -> subprocess.CompletedProcess:
        given = self._arguments
        weights = ["--weights", str(given.weights)] if given.weights else []
        done = subprocess.run(
            [
                *(given.python, str(ROOT / "scripts/train.py"), given.workload, given.framework),
                *("--data", str(given.data), "--variant", tuning.TUNED, *weights, *options),
            ],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            said = done.stderr.strip().splitlines() or ["it said nothing"]
            raise errors.InputError(f"a training ended with status {done.returncode}: {said[-1]}")
        return done


if __name__ == "__main__":
    errors.run(main)
