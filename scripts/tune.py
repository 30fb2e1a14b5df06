"""Find the fastest settings of a framework for one workload on this machine.

A small search in fresh processes. First quick runs: each setting but those that they may misjudge
is tried on top of the best so far, and kept if it saves more than 3 % of the predicted full run;
quick runs that take a minute more than four times as long as the defaults are given up. Then whole
epochs, about a minute's worth, alternating with the defaults: two rounds of the best, and of the
best with the settings that quick runs may misjudge; and four more of the winner. (Where two epochs
take more than five minutes, quick runs decide.) What wins every round, by a median of 3 % and at
the same quality, is kept. A run disturbed by other work on the machine is repeated once. In: a
folder of prepared arrays. Out: an entry in config/tuned.yaml, and a record of every run below
results/tuning/.
"""

import argparse
import json
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from epochcost import errors, files, frameworks, recipes, tuning, variants
from epochcost.measurement import machine
from epochcost.measurement.activity import OTHERS
from epochcost.records.record import LOSS
from epochcost.statistics.prediction import predict

ROOT = Path(__file__).resolve().parents[1]
_GAIN = 0.97
# The first rounds choose one of several. A choice that has no effect then wins the other four, in
# which it is the only contender, one time in sixteen.
_ROUNDS_TO_CHOOSE, _ROUNDS = 2, 4
_CONFIRM_SECONDS = 60
# If two epochs take longer than this, the last rounds are quick runs too.
_LONGEST_SECONDS = 300
# A quick run that takes this many times as long as the one with the defaults, plus a minute for
# compiling, is given up.
_PATIENCE, _PATIENCE_SECONDS = 4, 60
# How often a run is tried until nothing disturbs it.
_ATTEMPTS = 2
# How much worse a tuned run may be and still count as equal: accuracy, and share of a loss.
_SAME_ACCURACY, _SAME_LOSS = 0.01, 0.02


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


@dataclass(frozen=True)
class Outcome:
    """The result of a run.

    seconds: of a full run, predicted from this one.
    epochs: of the recipe.
    quality: of the last epoch; None for a quick run.
    wall_s: seconds of its process, excluding waits for another training run to end.
    """

    seconds: float
    epochs: int
    metric: str
    quality: float | None
    fine_tuning: bool
    wall_s: float


def tune(arguments: argparse.Namespace) -> None:
    """Search, confirm, write the entry."""
    here = tuning.place_of(machine.describe())
    runs = Runs(arguments, here)
    defaults = runs.defaults()
    choices, epochs = runs.choices(), _epochs_to_confirm(defaults)
    late = frameworks.FRAMEWORKS[arguments.framework].late if epochs else ()
    early = {name: values for name, values in choices.items() if name not in late}
    best = _screened(runs, early, defaults.seconds)
    chosen, _ = _won(runs, _contenders(best, choices, late), epochs, _ROUNDS_TO_CHOOSE)
    best, ratio = _won(runs, [chosen] if chosen else [], epochs, _ROUNDS)
    tuning.save(arguments.output, here, arguments.workload, arguments.framework, best)
    found = f"{json.dumps(best)}, {ratio:.2f}x the time of" if best else "nothing beat"
    print(f"{arguments.workload} with {arguments.framework}: {found} the defaults")


def _screened(runs: "Runs", choices: dict[str, list], seconds: float) -> dict:
    """The settings that save time in quick runs, added one after the other."""
    best = {}
    for name, values in choices.items():
        for value in values[1:]:
            tried = best | {name: value}
            outcome = runs.run(tried)
            if outcome is not None and outcome.seconds < seconds * _GAIN:
                best, seconds = tried, outcome.seconds
    return best


def _contenders(best: dict, choices: dict[str, list], late: tuple[str, ...]) -> list[dict]:
    """What whole epochs decide between: the best, alone or with each or all of `late`."""
    more = {name: choices[name][1] for name in late if name in choices}
    tried = [best, *(best | {name: value} for name, value in more.items())]
    if len(more) > 1:
        tried.append(best | more)
    return [settings for settings in tried if settings]


def _epochs_to_confirm(defaults: Outcome) -> int | None:
    """How many whole epochs decide; None if they take too long, or are not alike."""
    epoch = defaults.seconds / defaults.epochs
    if defaults.fine_tuning or 2 * epoch > _LONGEST_SECONDS:
        return None
    return min(defaults.epochs, max(2, math.ceil(_CONFIRM_SECONDS / epoch)))


def _won(
    runs: "Runs", contenders: list[dict], epochs: int | None, rounds: int
) -> tuple[dict, float]:
    """The fastest settings that win every round, else none; and their time over the defaults'."""
    plain: list[Outcome] = []
    standing: list[tuple[dict, list[Outcome]]] = [(settings, []) for settings in contenders]
    for _ in range(rounds):
        if not standing:
            break
        plain.append(runs.defaults(epochs))
        won = []
        for settings, tuned in standing:
            outcome = runs.run(settings, epochs)
            if outcome is not None and outcome.seconds < plain[-1].seconds:
                won.append((settings, [*tuned, outcome]))
        standing = won
    winners = []
    for settings, tuned in standing:
        ratio = median(t.seconds / p.seconds for t, p in zip(tuned, plain, strict=True))
        if ratio < _GAIN and _as_good(tuned, plain):
            winners.append((ratio, settings))
    ratio, settings = min(winners, key=lambda winner: winner[0], default=(1.0, {}))
    return settings, ratio


def _as_good(tuned: list[Outcome], plain: list[Outcome]) -> bool:
    """Whether settings left the quality as it was, in the median; quick runs cannot tell."""
    if plain[0].quality is None:
        return True
    ours, theirs = (median(outcome.quality for outcome in runs) for runs in (tuned, plain))
    if plain[0].metric == LOSS:
        return ours <= theirs * (1 + _SAME_LOSS)
    return ours >= theirs - _SAME_ACCURACY


class Runs:
    """Runs with given settings, each a record of its own."""

    def __init__(self, arguments: argparse.Namespace, here: str) -> None:
        self._arguments = arguments
        self.last: Path | None = None
        self._quick_patience: float | None = None  # seconds
        self._folder = arguments.records / here / arguments.workload / arguments.framework

    def choices(self) -> dict[str, list]:
        """The settings that the framework has for the workload."""
        return json.loads(self._train("--choices").stdout)

    def defaults(self, epochs: int | None = None) -> Outcome:
        """A run with the defaults (`run`).

        Raises:
            InputError: it failed, so there is nothing to compare settings with.
        """
        outcome = self.run({}, epochs)
        if outcome is None:
            given = self._arguments
            raise errors.InputError(
                f"{given.workload} with {given.framework} fails with the defaults; see {self.last}"
            )
        return outcome

    def run(self, settings: dict, epochs: int | None = None) -> Outcome | None:
        """A run over some whole epochs, or a quick one; None if it failed.

        One disturbed by other work is repeated, and counts only if the repeat fails.
        """
        outcome = None
        for _ in range(_ATTEMPTS):
            content = self._attempt(settings, epochs)
            said = content and outcome_of(content, self._epochs_of_recipe())
            flags = content["noise"]["flags"] if said else []
            what = f"{epochs} epochs" if epochs else "quick"
            seconds = f"{said.seconds:.1f} s" if said else "failed"
            print(what, json.dumps(settings), ", ".join([seconds, *flags]), flush=True)
            outcome = said or outcome
            if OTHERS not in flags:
                break
        if outcome and self._quick_patience is None:
            self._quick_patience = _PATIENCE * outcome.wall_s + _PATIENCE_SECONDS
        return outcome

    def _attempt(self, settings: dict, epochs: int | None) -> dict | None:
        """The record of a run; None if there is none."""
        record = self.last = self._folder / f"{self._free_number()}.json"
        scale = ["--scale", "full", "--epochs", str(epochs)] if epochs else []
        patience = None if epochs else self._quick_patience
        limit = ["--time-limit", f"{patience:.0f}"] if patience else []
        self._train("--settings", json.dumps(settings), "--record", str(record), *scale, *limit)
        # A process killed by the system, perhaps for its memory, leaves no record.
        return files.read_json(record) if record.exists() else None

    def _epochs_of_recipe(self) -> int:
        recipes_there = recipes.load(ROOT / "config/workloads.yaml")
        return recipes_there[self._arguments.workload]["epochs"]

    def _free_number(self) -> int:
        taken = [int(path.stem) for path in self._folder.glob("*.json") if path.stem.isdigit()]
        return max(taken, default=0) + 1

    def _train(self, *options: str) -> subprocess.CompletedProcess:
        """Run scripts/train.py."""
        given = self._arguments
        weights = ["--weights", str(given.weights)] if given.weights else []
        done = subprocess.run(
            [
                *(given.python, str(ROOT / "scripts/train.py")),
                *(given.workload, given.framework, "--data", str(given.data)),
                *("--variant", variants.TUNED, *weights, *options),
            ],
            capture_output=True,
            text=True,
        )
        if done.returncode > 0:
            said = done.stderr.strip().splitlines() or ["it said nothing"]
            raise errors.InputError(f"a training ended with status {done.returncode}: {said[-1]}")
        return done


def outcome_of(record: dict, epochs: int) -> Outcome | None:
    """What a record says about training for all epochs of its recipe; None if the run failed."""
    if record["status"] != "ok":
        return None
    settings = record["settings"]
    if record["run"]["scale"] == "quick":
        seconds, quality = predict(record).seconds, None
    else:
        first, *later = [epoch["train_s"] + (epoch["eval_s"] or 0) for epoch in record["epochs"]]
        seconds = first + (epochs - 1) * (fmean(later) if later else first)
        quality = record["quality"]["value"]
    metric = record["quality"]["metric"]
    fine_tuning = "fine_tuning" in settings
    return Outcome(seconds, epochs, metric, quality, fine_tuning, record["wall_s"])


if __name__ == "__main__":
    errors.run(main)
