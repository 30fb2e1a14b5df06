"""Train one workload in one framework and leave a record of it.

Runs in the framework's own environment. In: a folder of prepared arrays, config/workloads.yaml.
Out: one JSON record (config/schemas/record.schema.json). A training run that fails leaves a record
too, with the phase and the reason; bad input leaves none.
"""

import argparse
import dataclasses
import hashlib
import json
import random
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from epochcost import errors, frameworks, models
from epochcost.data import arrays
from epochcost.data import weights as initial_weights
from epochcost.errors import InputError
from epochcost.frameworks import checks, tuning, variants
from epochcost.frameworks.framework import Task, load
from epochcost.hardware import check_devices, check_machine
from epochcost.measure import clock as clocks
from epochcost.measure import (
    cloud,
    extent,
    machine,
    observation,
    revision,
    software,
    termination,
    variables,
    yardstick,
)
from epochcost.measure.activity import PAUSED, Activity
from epochcost.measure.checkpoints import MOST_STARTS, Checkpoints, what_runs
from epochcost.measure.exclusive import alone
from epochcost.measure.progress import Progress
from epochcost.measure.sampler import Sampler
from epochcost.models import recipes
from epochcost.record import place as places
from epochcost.record import record, schema
from epochcost.record.names import RunName
from epochcost.record.types import (
    Commit,
    Failure,
    Machine,
    Record,
    Run,
    Software,
    Weights,
    Yardstick,
)

ROOT = Path(__file__).resolve().parents[1]
RECORDS = Path("results/runs")
# Those of numpy and PyTorch go further.
_LARGEST_SEED = 2**31 - 1


def main() -> int:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("workload", help="an id of config/workloads.yaml")
    parser.add_argument("framework", choices=sorted(frameworks.FRAMEWORKS))
    parser.add_argument("--data", type=Path, required=True, help="folder of prepared arrays")
    parser.add_argument(
        "--weights", type=Path, help="description of fetched weights; default: random ones"
    )
    parser.add_argument(
        "--record", type=Path, help="the record, a .json file; default: its place in results/runs"
    )
    parser.add_argument("--hardware", default="local", help="an id of config/hardware.yaml")
    parser.add_argument(
        "--variant",
        default=variants.DEFAULT,
        help="default, tuned, no_onednn, bfloat16, or devices_2 (3, 4, ...); default: default",
    )
    parser.add_argument(
        "--settings", type=_json, help="JSON; default: those of the variant (tuned.yaml)"
    )
    parser.add_argument(
        "--choices", action="store_true", help="print the settings that there are, and end"
    )
    parser.add_argument("--trial", type=_positive, default=1, help="number of this repeated run")
    parser.add_argument("--scale", choices=["quick", "full"], default="quick")
    parser.add_argument("--batch-size", type=_positive, help="default: the recipe's")
    parser.add_argument("--epochs", type=_positive, help="default: the recipe's")
    parser.add_argument(
        "--time-limit",
        type=errors.positive,
        help="seconds after which a run has failed; default: none",
    )
    parser.add_argument(
        "--progress", type=int, help="descriptor of a file to note on how far it is; default: none"
    )
    parser.add_argument("--seed", type=_seed, default=1, help="the trial number is added to it")
    arguments = parser.parse_args()
    variables.lift_limits()
    if arguments.choices:
        recipe = _recipe(arguments.workload, arguments.framework)
        print(json.dumps(load(arguments.framework).choices(recipe)))
        return 0
    signal.signal(signal.SIGTERM, termination.end_now)
    return train(arguments)


def train(arguments: argparse.Namespace) -> int:
    """Train as the arguments say; returns 0 when a record was left."""
    recipe = _recipe(arguments.workload, arguments.framework)
    for name in ("batch_size", "epochs"):
        if given := getattr(arguments, name):
            recipe = recipe | {name: given}
    if arguments.epochs and "fine_tuning" in recipe:
        raise InputError(
            f"the epochs of {arguments.workload} are of different kinds; leave --epochs out"
        )
    _check_dataset(arguments.data, recipe)
    stopwatch = clocks.Stopwatch()
    here = machine.facts() | {"cloud": cloud.identify()}
    describe_s = stopwatch.seconds()
    check_machine(arguments.hardware, ROOT / "config/hardware.yaml", here)
    settings, tuned_with = _settings(arguments, tuning.place_of(here))
    check_devices(variants.devices_of(arguments.variant), here)
    place = places.Place(arguments.record or _path_below(RECORDS, arguments))
    progress = Progress(arguments.progress)
    progress.waits()
    try:
        with alone(str(RunName.of(arguments))) as waited:
            progress.prepares()
            with _checkpoints(arguments, recipe, settings, waited) as checkpoints:
                content = _measure(
                    arguments, recipe, settings, here, describe_s, waited, checkpoints, progress
                )
            if arguments.record:  # whoever names a place looks for the record only there
                place.write(content)
            else:
                places.keep(place, RECORDS, content)
    except BaseException:
        place.leave()
        raise
    if checkpoints:
        checkpoints.drop()
    version = content.software.framework_version
    if tuned_with not in (None, version):
        print(
            f"epochcost: these settings were found with {tuned_with}, and this is {version}; to "
            "search again, delete their entry in config/tuned.yaml",
            file=sys.stderr,
        )
    if failure := content.failure:
        why = f"while in {failure.phase}: {failure.reason}"
        progress.failed(why)
        print(f"epochcost: {content.run.id} failed {why} (recorded)", file=sys.stderr)
    for flag in content.noise.flags:
        if flag.startswith(PAUSED):
            print(
                f"epochcost: {content.run.id} was {flag}; for a time without that run it "
                "again (snakemake --config again=true)",
                file=sys.stderr,
            )
    return 0


def _settings(arguments: argparse.Namespace, here: str) -> tuple[dict, str | None]:
    """What the run changes in the framework's own settings, and the version they were found with.

    Args:
        here: where settings are tuned (`tuning.place_of`).
    """
    given, variant = arguments.settings, variants.variant_of(arguments.variant)
    if not frameworks.with_variant(variant, [arguments.framework]):
        raise InputError(f"the variant {variant} is not for {arguments.framework}")
    if given is None:
        known, names = ROOT / "config/tuned.yaml", (arguments.workload, arguments.framework)
        if variant == variants.TUNED and arguments.batch_size:
            raise InputError("the variant tuned is for the recipe's own batch_size alone")
        recipe, kind = _recipe(*names), arrays.manifest_of(arguments.data)["kind"]
        case = tuning.Case(here, *names, record.recipe_id(recipe), kind)
        found = tuning.needed(variant, known, case)
        return found, tuning.version_of(known, case) if variant == variants.TUNED else None
    if variant != variants.TUNED:
        raise InputError("--settings is for --variant tuned")
    if not isinstance(given, dict):
        raise InputError('--settings is a JSON object, such as {"keep_memory": true}')
    tuning.refuse_devices(given)
    return given, None


def _path_below(folder: Path, arguments: argparse.Namespace) -> Path:
    """Where the files of the run are."""
    return RunName.of(arguments).path(folder)


def _measure(
    arguments: argparse.Namespace,
    recipe: dict,
    settings: dict,
    here: dict,
    describe_s: float,
    waited: float,
    checkpoints: Checkpoints | None,
    progress: Progress,
) -> Record:
    """The record of a training run, whether or not it succeeded."""
    name, begun = RunName.of(arguments), observation.now()
    run = Run(str(name), **vars(name), scale=arguments.scale, started_at=begun, finished_at=begun)
    preparing = clocks.Stopwatch()
    rates, effective = yardstick.asked(), variables.effective()
    alive = checkpoints and checkpoints.alive
    activity, sampler = Activity(), Sampler(settings.get("devices", 1), alive)
    prepare_s = describe_s + preparing.seconds()
    framework = _import(arguments.framework, settings)
    imported = clocks.process_age() - waited - prepare_s
    checks.check(framework, arguments.framework, recipe, arguments.variant, settings, here)
    definition = models.load(arguments.workload, frameworks.FRAMEWORKS[arguments.framework].needs)
    with errors.blamed(models.check(arguments.workload)):
        random.seed(arguments.seed + arguments.trial)
        np.random.seed(arguments.seed + arguments.trial)  # a split at random stays the same
        prepared, split, reading = _read_data(arguments.data, recipe, definition)
    weights = None
    if "weights" in recipe:
        weights, file = initial_weights.find(recipe["weights"], arguments.weights)
        split = dataclasses.replace(split, weights=file)
    samples = (len(split.x_train), split.validation_samples)
    commit = revision.commit(ROOT)
    about = observation.About(
        machine=schema.read(Machine, here),
        yardstick=rates and Yardstick(**rates),
        git=commit and Commit(**commit),
        seed=arguments.seed + arguments.trial,
        settings=recipe,
        data=observation.data_part(prepared.manifest, samples),
        weights=weights and Weights(**weights),
    )
    clock = clocks.Clock(extent.of(arguments.scale, recipe, *samples), waited)
    clock.begins = progress.epoch
    if checkpoints:
        version, device = [framework.VERSION, settings, effective], framework.device()
        this = what_runs(about, clock, version, device, revision.code(ROOT))
        run = dataclasses.replace(run, started_at=checkpoints.begin(this, clock, begun))
    for phase, seconds in (("import", imported), ("data", reading), ("measuring", prepare_s)):
        clock.add(phase, seconds)
    given_up = checkpoints is not None and checkpoints.starts > MOST_STARTS
    limit_s = arguments.time_limit
    with errors.blamed(models.check(arguments.workload)):
        failure = _train(framework, definition, split, clock, about, settings, limit_s, given_up)
    about_it = framework.VERSION, framework.device(), framework.threads(), settings
    known = software.versions(*about_it) | framework.software()
    used = Software(**known, variables=effective)
    shares, seen = activity.summary(), sampler.stop()
    return observation.record(run, about, used, clock, shares, seen, failure)


def _train(
    framework,
    definition,
    split: models.Split,
    clock: clocks.Clock,
    about: observation.About,
    settings: dict,
    limit_s: float | None,
    given_up: bool,
) -> Failure | None:
    """Train to the end of the clock's extent; returns why if that failed.

    Args:
        given_up: whether it was killed too often to be started again.
    """
    recipe, seed = about.settings, about.seed
    try:
        with termination.time_limit(limit_s, clock):
            if given_up:
                clock.phase_now = "train"
                raise termination.GivenUpError(
                    f"killed {MOST_STARTS} times since its last checkpoint; the system may have "
                    "run out of memory"
                )
            predict = framework.train(Task(recipe, definition, split, seed, settings), clock)
            failure = _shortfall(clock)
            # A model of numbers that are none cannot choose a character.
            if failure is None and definition.has("sample") and predict is not None:
                with clock.phase("sample"):
                    clock.sample = definition.sample(predict, split, recipe["model"], seed)
            return failure
    except (termination.GivenUpError, *framework.FAILURES) as error:
        # What is measured after the training says nothing about it, and is left out.
        if clock.phase_now == "measuring" and len(clock.epochs) == clock.extent.epochs:
            return _shortfall(clock)
        return Failure(clock.phase_now, errors.printable(errors.one_line(error), 500))


def _shortfall(clock: clocks.Clock) -> Failure | None:
    """What a training that came to its end lacks; None if it is whole."""
    if observation.diverged(clock):
        return Failure("train", "the loss is not a finite number")
    done, planned = len(clock.epochs), clock.extent.epochs
    if done != planned:
        return Failure("train", f"it ended after {done} of {planned} epochs")
    return None


def _import(name: str, settings: dict):
    """The module that drives a framework.

    Raises:
        InputError: this Python does not have the framework.
    """
    try:
        return load(name, settings)
    except ImportError as error:
        raise InputError(f"{name} cannot be imported by {sys.executable}: {error}") from None


@contextmanager
def _checkpoints(
    arguments: argparse.Namespace, recipe: dict, settings: dict, waited: float
) -> Iterator[Checkpoints | None]:
    """The checkpoints of a full run; a quick one may as well start over.

    So do those with a record of its own place: a search gives up a run that was killed, and a
    machine of a cloud is gone with its checkpoints. They are kept separately for each recipe,
    settings and seed, so that no other training run of the same name can delete them.
    """
    if arguments.scale != "full" or arguments.record:
        yield None
        return
    what = [record.recipe_id(recipe), settings, arguments.seed]
    mark = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:8]
    path = _path_below(Path("results/checkpoints"), arguments)
    checkpoints = Checkpoints(path.with_name(f"{path.stem}-{mark}"), waited)
    try:
        yield checkpoints
    except BaseException:
        checkpoints.leave()
        raise


def _check_dataset(folder: Path, recipe: dict) -> None:
    """Refuse a folder without the recipe's data, before anything is waited for."""
    found = arrays.manifest_of(folder)["dataset"]
    if found != recipe["dataset"]:
        raise InputError(f"{folder} holds {found}, not {recipe['dataset']}")


def _read_data(folder: Path, recipe: dict, definition):
    """The arrays, what the model takes from them, and the seconds that reading took."""
    stopwatch = clocks.Stopwatch()
    prepared = arrays.load(folder)
    split = definition.inputs(prepared, recipe["model"])
    models.check_split(split, recipe)
    return prepared, split, stopwatch.seconds()


def _positive(text: str) -> int:
    return _at_least(1, text)


def _seed(text: str) -> int:
    value = _at_least(0, text)
    if value > _LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"{text} is above {_LARGEST_SEED}")
    return value


def _at_least(least: int, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
    if value < least:
        raise argparse.ArgumentTypeError(f"{text} is below {least}")
    return value


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not JSON: {error}") from None


def _recipe(workload: str, framework: str) -> dict:
    recipe = recipes.of(workload, ROOT / "config/workloads.yaml")
    recipe = recipe | {"model": recipes.HyperParameters(recipe["model"])}
    if framework not in recipe["frameworks"]:
        raise InputError(
            f"{workload} is not trained by {framework}; "
            f"frameworks that train it: {', '.join(recipe['frameworks'])}"
        )
    return recipe


if __name__ == "__main__":
    errors.run(main)
