"""Find the fastest settings of a framework for one workload on this machine.

A small search in fresh processes. First quick runs: each setting but those that they may misjudge
is tried on top of the best so far, and kept if it saves more than 3 % of the predicted full run.
Then whole epochs, about a minute's worth, in turn with the defaults: two rounds choose between the
best and the best with settings that quick runs may misjudge, and four confirm what they chose. Each
round has a seed of its own. (Where two epochs take more than five minutes, these are quick runs.)
Chance decides who comes first in a round. What wins every round, by a median of 3 % and at the same
quality, is kept. A run disturbed by other work on the machine is repeated once, and one that takes
a minute more than twice as long as the defaults (four times, if it compiles), or fails, is given
up.
"""

import importlib.util
import json
import math
import random
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from statistics import fmean, median

from epochcost import errors, files
from epochcost.data import arrays
from epochcost.frameworks import registry, tuning, variants
from epochcost.frameworks.framework import compiles
from epochcost.measure import machine
from epochcost.measure.activity import GPU_SLOWED, OTHERS, OTHERS_ON_GPU, PAUSED
from epochcost.measure.termination import end_with_parent
from epochcost.record.check import LOSSES
from epochcost.record.record import recipe_id
from epochcost.record.types import OK, QUICK, Record, parse
from epochcost.record.usable import why_unusable
from epochcost.statistics.prediction import predict
from epochcost.training.launch import words
from epochcost.training.training import ROOT, recipe_of

_GAIN = 0.97
# The first rounds choose one of several, if there are. A choice that has no effect then wins the
# other four, in which it is the only contender, one time in sixteen.
_ROUNDS_TO_CHOOSE, ROUNDS = 2, 4
_CONFIRM_SECONDS = 60
# If two epochs take longer than this, the last rounds are quick runs too.
_LONGEST_SECONDS = 300
# A run that takes this many times as long as with the defaults, and a minute more, is given up:
# slower settings gain nothing. What is compiled first, which pays off in a whole training, has
# longer, and so have the defaults, without which there is no search.
_PATIENCE, _PATIENCE_TO_COMPILE, PATIENCE_SECONDS = 2, 4, 60
# How often a run is tried until nothing disturbs it (that settings are not to blame for).
_ATTEMPTS = 2
_PASSING = (OTHERS, OTHERS_ON_GPU, GPU_SLOWED, PAUSED)
# How much worse settings may be in the median of the rounds and still count as equal: accuracy, and
# share of a loss. And at least one round must be worse by no more than this part of it.
_SAME_ACCURACY, _SAME_LOSS, _IN_ONE_ROUND = 0.01, 0.02, 0.1


@dataclass(frozen=True)
class Search:
    """What settings are searched for, and where.

    data: folder of prepared arrays.
    python: one that has the framework.
    weights: as for scripts/train.py.
    records: the folder for a record of every run.
    output: config/tuned.yaml.
    """

    workload: str
    framework: str
    data: Path
    python: str = sys.executable
    weights: Path | None = None
    records: Path = Path("results/tuning")
    output: Path = ROOT / "config/tuned.yaml"


@dataclass(frozen=True)
class Outcome:
    """The result of a run.

    seconds: of a full run, predicted from this one.
    quality: of the last epoch; None for a quick run.
    reached: whether that is the recipe's target or better; None where not all epochs were trained.
    wall_s: seconds of its process, excluding waits for another training run to end.
    waits_s: of `seconds`, those that a quick run predicts for waits between epochs.
    """

    seconds: float
    quality: float | None
    reached: bool | None
    wall_s: float
    waits_s: float = 0.0

    @property
    def without_waits(self) -> float:
        """Seconds of a full run that does not wait between epochs."""
        return self.seconds - self.waits_s


def tune(search: Search) -> None:
    """Search, confirm, write the entry.

    Raises:
        InputError: no search is possible here, or the defaults fail.
    """
    if importlib.util.find_spec("scipy") is None:  # TensorFlow's environment lacks it.
        raise errors.InputError(
            f"{sys.executable} lacks scipy, without which quick runs predict nothing; start the "
            "search with the Python of the workflow, and name that of the framework: --python"
        )
    here = tuning.place_of(machine.facts())
    tuning.load(search.output)  # which a search would be for nothing if that were damaged
    runs = Runs(search, here)
    defaults = runs.defaults()
    choices, epochs = runs.choices(), epochs_to_confirm(defaults, runs.recipe)
    late = registry.FRAMEWORKS[search.framework].late
    screened = choices.keys() - set(late)
    if not epochs:  # Long epochs mostly mean large models, where quick runs see the allocator.
        screened.add(registry.KEEP_MEMORY)
        late = [name for name in late if name != registry.FLUSH_DENORMAL]  # which none shows
    early = {name: values for name, values in choices.items() if name in screened}
    best = screen(runs, early, defaults)
    trials = range(1, _ROUNDS_TO_CHOOSE + ROUNDS + 1)
    first, last = trials[:_ROUNDS_TO_CHOOSE], trials[_ROUNDS_TO_CHOOSE:]
    contenders = contenders_of(best, choices, late)
    if len(contenders) > 1:
        chosen, _ = won(runs, contenders, epochs, first, final=False)
        contenders = [chosen] if chosen else []
    best, ratio = won(runs, contenders, epochs, last)
    if runs.erred and not best:
        runs.defaults()  # which raises if it is not the settings that are to blame
    what = recipe_id(runs.recipe), runs.data
    case = tuning.Case(here, search.workload, search.framework, *what)
    tuning.save(search.output, case, best, runs.version)
    found = f"{json.dumps(best)}, {ratio:.2f}x the time of" if best else "nothing beat"
    print(f"{search.workload} with {search.framework}: {found} the defaults")


def screen(runs: "Runs", choices: dict[str, list], defaults: Outcome) -> dict:
    """The settings that save time in quick runs, added one after the other.

    Without waits between epochs: those come by chance, and would hide what a setting gains.
    """
    best, seconds = {}, defaults.without_waits
    for name, values in choices.items():
        for value in values[1:]:
            tried = best | {name: value}
            outcome = runs.run(tried)
            if outcome is not None and outcome.without_waits < seconds * _GAIN:
                best, seconds = tried, outcome.without_waits
    return best


def contenders_of(best: dict, choices: dict[str, list], late: Iterable[str]) -> list[dict]:
    """What the rounds decide between: the best, alone or with each or all of `late`."""
    more = {name: choices[name][1] for name in late if name in choices and name not in best}
    tried = [best, *(best | {name: value} for name, value in more.items())]
    if len(more) > 1:
        tried.append(best | more)
    return [settings for settings in tried if settings]


def epochs_to_confirm(defaults: Outcome, recipe: dict) -> int | None:
    """How many whole epochs decide; None if they take too long, or are not alike."""
    epoch = defaults.seconds / recipe["epochs"]
    if "fine_tuning" in recipe or 2 * epoch > _LONGEST_SECONDS:
        return None
    return min(recipe["epochs"], max(2, math.ceil(_CONFIRM_SECONDS / epoch)))


def won(
    runs: "Runs",
    contenders: list[dict],
    epochs: int | None,
    trials: Iterable[int],
    final: bool = True,
) -> tuple[dict, float]:
    """The fastest settings that win every round, else none; and their time over the defaults'.

    Args:
        trials: one per round, so that each has a seed of its own, and qualities differ by chance.
        final: whether these rounds are the last ones.
    """
    plain: list[Outcome] = []
    standing: list[tuple[dict, list[Outcome]]] = [(settings, []) for settings in contenders]
    for trial in trials:
        if not standing:
            break
        default, *outcomes = one_round(runs, [settings for settings, _ in standing], epochs, trial)
        plain.append(default)
        standing = [
            (settings, [*tuned, outcome])
            for (settings, tuned), outcome in zip(standing, outcomes, strict=True)
            if outcome is not None and outcome.seconds < default.seconds
        ]
    winners = []
    for settings, tuned in standing:
        ratio = median(t.seconds / p.seconds for t, p in zip(tuned, plain, strict=True))
        if ratio < _GAIN and as_good(tuned, plain, runs.recipe["quality"]["metric"], final):
            winners.append((ratio, settings))
    ratio, settings = min(winners, key=lambda winner: winner[0], default=(1.0, {}))
    return settings, ratio


def one_round(
    runs: "Runs", contenders: list[dict], epochs: int | None, trial: int
) -> list[Outcome | None]:
    """A run with the defaults and one of each contender, in that order; made in random order.

    All by the same seed.
    """
    makers = [runs.defaults, *(partial(runs.run, settings) for settings in contenders)]
    outcomes = {}
    for number in random.sample(range(len(makers)), len(makers)):
        outcomes[number] = makers[number](epochs=epochs, trial=trial)
    return [outcomes[number] for number in range(len(makers))]


def as_good(tuned: list[Outcome], plain: list[Outcome], metric: str, final: bool) -> bool:
    """Whether settings left the quality as it was; quick runs cannot tell.

    In the median over the rounds; the target is not missed more often; and in the last rounds they
    are not a little worse each time, as mere chance makes them once in sixteen searches.
    """
    if plain[0].quality is None:
        return True
    if sum(run.reached is False for run in tuned) > sum(run.reached is False for run in plain):
        return False
    pairs = [(one.quality, other.quality) for one, other in zip(tuned, plain, strict=True)]
    if metric in LOSSES:
        worse = [ours - theirs for ours, theirs in pairs]
        same = _SAME_LOSS * median(theirs for _, theirs in pairs)
    else:
        worse = [theirs - ours for ours, theirs in pairs]
        same = _SAME_ACCURACY
    return median(worse) <= same and (not final or min(worse) <= same * _IN_ONE_ROUND)


class Runs:
    """Runs with given settings, each a record of its own.

    recipe: of the workload.
    version: of the framework, once a run was made.
    erred: whether a run with settings ended by an error that its record cannot say.
    """

    erred = False

    def __init__(self, search: Search, here: str) -> None:
        self._search = search
        self.recipe = recipe_of(search.workload, search.framework)
        self.version = ""
        self.last: Path | None = None
        self._first: Outcome | None = None  # a quick run with the defaults
        self._folder = search.records / here / search.workload / search.framework

    @cached_property
    def data(self) -> str:
        """The kind of data that they train on: complete, subset or synthetic."""
        return arrays.manifest_of(self._search.data)["kind"]

    def choices(self) -> dict[str, list]:
        """The settings that the framework has for the workload."""
        return json.loads(self._train("--choices").stdout)

    def defaults(self, epochs: int | None = None, trial: int = 1) -> Outcome:
        """A run with the defaults (`run`).

        Raises:
            InputError: it failed, so there is nothing to compare settings with.
        """
        outcome = self.run({}, epochs, trial)
        if outcome is None:
            if self.last.exists():
                why = f"fails with the defaults; see {self.last}"
            else:
                why = "was killed with the defaults; this machine may have run out of memory"
            raise errors.InputError(f"{self._search.workload} with {self._search.framework} {why}")
        return outcome

    def run(self, settings: dict, epochs: int | None = None, trial: int = 1) -> Outcome | None:
        """A run over some whole epochs, or a quick one; None if it failed.

        One disturbed by other work is repeated, and counts only if the repeat fails.

        Raises:
            InputError: others used so much of the machine, twice, that nothing can be found.
        """
        outcome, unusable = None, ""
        for _ in range(_ATTEMPTS):
            content = self.attempt(settings, epochs, trial)
            said = content and outcome_of(content, self.recipe["epochs"])
            unusable = why_unusable(content) if said else ""
            self.version = content.software.framework_version if content else self.version
            flags = content.noise.flags if content else []
            what = f"{epochs} epochs" if epochs else "quick"
            seconds = f"{said.seconds:.1f} s" if said else "failed"
            print(what, json.dumps(settings), ", ".join([seconds, *flags]), flush=True)
            outcome = (None if unusable else said) or outcome
            if not any(flag.startswith(_PASSING) for flag in flags):
                break
        if unusable and outcome is None:
            raise errors.InputError(
                f"{unusable} during a run and its repeat, so their times say nothing; search "
                "again when the machine is free"
            )
        self._first = self._first or outcome
        return outcome

    def attempt(self, settings: dict, epochs: int | None, trial: int) -> Record | None:
        """The record of a run; None if there is none."""
        record = self.last = self._folder / f"{self._free_number()}.json"
        options = {"settings": json.dumps(settings), "trial": trial, "record": record}
        if epochs:
            options |= {"scale": "full", "epochs": epochs}
        if self._first:
            options["time_limit"] = round(self.patience(settings, epochs))
        self._train(*words(options), may_fail=bool(settings))
        # A process killed by the system, perhaps for its memory, leaves no record.
        return parse(files.read_json(record)) if record.exists() else None

    def patience(self, settings: dict, epochs: int | None) -> float:
        """Seconds after which a run is given up: a quick one, or one of so many whole epochs."""
        longer = not settings or compiles(settings)
        times = _PATIENCE_TO_COMPILE if longer else _PATIENCE
        training_s = self._first.seconds / self.recipe["epochs"] * (epochs or 0)
        return times * (self._first.wall_s + training_s) + PATIENCE_SECONDS

    def _free_number(self) -> int:
        taken = [int(path.stem) for path in self._folder.glob("*.json") if path.stem.isdigit()]
        return max(taken, default=0) + 1

    def _train(self, *options: str, may_fail: bool = False) -> subprocess.CompletedProcess:
        """Run scripts/train.py.

        Args:
            may_fail: whether an error in it says that its settings do not work.
        """
        search = self._search
        given = {"data": search.data, "weights": search.weights, "variant": variants.TUNED}
        done = subprocess.run(
            [
                *(search.python, str(ROOT / "scripts/train.py"), search.workload, search.framework),
                *(*words(given), *options),
            ],
            capture_output=True,
            text=True,
            preexec_fn=end_with_parent,  # a search that is killed leaves no training behind
        )
        if done.returncode > 0:
            said = done.stderr.strip().splitlines() or ["it said nothing"]
            why = f"a training ended with status {done.returncode}: {said[-1]}"
            if not (may_fail and done.returncode == 1):
                raise errors.InputError(why)
            self.erred = True
            print(why, flush=True)
        return done


def outcome_of(record: Record, epochs: int) -> Outcome | None:
    """What a record says about training for all epochs of its recipe; None if the run failed."""
    if record.status != OK:
        return None
    if record.run.scale == QUICK:
        prediction = predict(record)
        seconds, waits_s, quality, reached = prediction.seconds, prediction.waits_s, None, None
    else:
        first, *later = [epoch.seconds for epoch in record.epochs]
        seconds = first + (epochs - 1) * (fmean(later) if later else first)
        quality, reached, waits_s = record.quality.value, record.quality.reached, 0.0
        if len(record.epochs) < epochs:
            reached = None
    return Outcome(seconds, quality, reached, record.wall_s, waits_s)
