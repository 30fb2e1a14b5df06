"""Train: wait for the machine, train, leave a record."""

import dataclasses
import hashlib
import json
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from epochcost import errors, models
from epochcost.data import arrays
from epochcost.data import weights as initial_weights
from epochcost.errors import InputError
from epochcost.frameworks import FRAMEWORKS, checks
from epochcost.frameworks.framework import Framework, Task, load
from epochcost.measure import (
    extent,
    machine_lock,
    observation,
    revision,
    software,
    termination,
    variables,
    yardstick,
)
from epochcost.measure.activity import PAUSED, Activity
from epochcost.measure.checkpoints import MOST_STARTS, Checkpoints, what_runs
from epochcost.measure.clock import Clock, Stopwatch, process_age
from epochcost.measure.progress import Progress
from epochcost.measure.sampler import Sampler
from epochcost.models.recipes import own_parts
from epochcost.record import place as places
from epochcost.record.record import recipe_id
from epochcost.record.types import (
    Commit,
    Failure,
    Record,
    Run,
    Software,
    Weights,
    Yardstick,
    encoded,
)
from epochcost.record.usable import why_unusable
from epochcost.training.training import CHECKPOINTS, RECORDS, ROOT, Training


def run(training: Training) -> None:
    """Train once nobody else does on this machine, and leave a record, also of a failure.

    Raises:
        InputError: it cannot be; there is no record.
    """
    if training.record:
        place = places.Place(training.record)
    else:
        place = places.reserve(RECORDS, training.run, training.machine.id)
    progress = Progress(training.progress)
    progress.waits()
    try:
        with machine_lock.hold(str(training.run)) as waited:
            progress.prepares()
            with _checkpoints(training, waited) as checkpoints:
                record = _measured(training, waited, checkpoints, progress)
            if training.record:  # whoever names a place looks for the record only there
                place.write(encoded(record))
            else:
                places.keep(place, RECORDS, record)
    except BaseException:
        place.leave()
        raise
    if checkpoints:
        checkpoints.drop()
    if record.failure:
        progress.failed(_why(record.failure))
    elif lost := why_unusable(record):
        progress.lost(lost)
    for line in _remarks(training, record):
        print(f"epochcost: {line}", file=sys.stderr)


def _why(failure: Failure) -> str:
    return f"while in {failure.phase}: {failure.reason}"


def _remarks(training: Training, record: Record) -> Iterator[str]:
    """What whoever started the training should know about it."""
    version = record.software.framework_version
    if training.tuned_with not in (None, version):
        yield (
            f"these settings were found with {training.tuned_with}, and this is {version}; to "
            "search again, delete their entry in config/tuned.yaml"
        )
    if record.failure:
        yield f"{training.run} failed {_why(record.failure)} (recorded)"
    for flag in record.noise.flags:
        if flag.startswith(PAUSED):
            yield (
                f"{training.run} was {flag}; for a time without that run it again (snakemake "
                "--config again=true)"
            )


@contextmanager
def _checkpoints(training: Training, waited: float) -> Iterator[Checkpoints | None]:
    """The checkpoints of a run that resumes.

    They are kept separately for each recipe, settings and seed, so that no other training run of
    the same name can delete them.
    """
    if not training.resumes:
        yield None
        return
    what = [recipe_id(training.recipe), training.settings, training.seed]
    mark = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:8]
    path = training.run.path(CHECKPOINTS)
    checkpoints = Checkpoints(path.with_name(f"{path.stem}-{mark}"), waited)
    try:
        yield checkpoints
    except BaseException:
        checkpoints.leave()
        raise


def _measured(
    training: Training, waited: float, checkpoints: Checkpoints | None, progress: Progress
) -> Record:
    """The record of a run, whether or not it succeeded."""
    begun = observation.now()
    preparing = Stopwatch()
    rates, effective = yardstick.asked(), variables.effective()
    alive = checkpoints and checkpoints.alive
    activity, sampler = Activity(), Sampler(training.settings.get("devices", 1), alive)
    prepare_s = training.describing_s + preparing.seconds()
    framework = _import(training)
    imported = process_age() - waited - prepare_s
    task, weights, reading = _read(training, framework)
    samples = (len(task.split.x_train), task.split.validation_samples)
    commit = revision.commit(ROOT)
    about = observation.About(
        machine=training.machine,
        yardstick=rates and Yardstick(**rates),
        git=commit and Commit(**commit),
        seed=task.seed,
        settings=task.recipe,
        data=observation.data_part(training.manifest, samples),
        weights=weights,
    )
    clock = Clock(extent.of(training.scale, task.recipe, *samples), waited)
    clock.begins = progress.epoch
    if checkpoints:
        version, device = [framework.VERSION, task.settings, effective], framework.device()
        this = what_runs(about, clock, version, device, revision.code(ROOT))
        begun = checkpoints.begin(this, clock, begun)
    for phase, seconds in (("import", imported), ("data", reading), ("measuring", prepare_s)):
        clock.add(phase, seconds)
    given_up = checkpoints is not None and checkpoints.starts > MOST_STARTS
    with errors.blamed(models.check(training.run.workload)):
        failure = _train(framework, task, clock, training.time_limit, given_up)
    now = framework.VERSION, framework.device(), framework.threads(), task.settings
    known = software.versions(*now) | framework.software()
    used = Software(**known, variables=effective)
    shares, seen = activity.summary(), sampler.stop()
    name = training.run
    run = Run(str(name), **vars(name), scale=training.scale, started_at=begun, finished_at=begun)
    return observation.record(run, about, used, clock, shares, seen, failure)


def _import(training: Training) -> Framework:
    """The framework, if it can do here what is asked of it.

    Raises:
        InputError: this Python does not have it, or it cannot.
    """
    name = training.run.framework
    try:
        return load(name, training.settings)
    except ImportError as error:
        raise InputError(f"{name} cannot be imported by {sys.executable}: {error}") from None


def _read(training: Training, framework: Framework) -> tuple[Task, Weights | None, float]:
    """What is trained, what the record says about its weights, and the seconds of reading data.

    Raises:
        InputError: the framework cannot do that here, or the workload's model or data are wrong.
    """
    run, recipe = training.run, training.recipe
    checks.check(framework, run.framework, recipe, run.variant, training.settings, training.machine)
    needs = FRAMEWORKS[run.framework].needs
    own = [f"torch_{part}" for part in own_parts(recipe)]
    model = models.load(run.workload, (*needs, *own))
    with errors.blamed(models.check(run.workload)):
        random.seed(training.seed)
        np.random.seed(training.seed)  # a split at random stays the same
        stopwatch = Stopwatch()
        prepared = arrays.load(training.data, training.manifest)
        split = model.inputs(prepared, recipe["model"])
        models.check_split(split, recipe)
        reading = stopwatch.seconds()
    weights = None
    if "weights" in recipe:
        found, file = initial_weights.find(recipe["weights"], training.weights)
        weights = Weights(**found)
        split = dataclasses.replace(split, weights=file)
    return Task(recipe, model, split, training.seed, training.settings), weights, reading


def _train(
    framework: Framework, task: Task, clock: Clock, limit_s: float | None, given_up: bool
) -> Failure | None:
    """Train to the end of the clock's extent; returns why if that failed.

    Args:
        given_up: whether it was killed too often to be started again.
    """
    try:
        with termination.time_limit(limit_s, clock):
            if given_up:
                clock.phase_now = "train"
                raise termination.GivenUpError(
                    f"killed {MOST_STARTS} times since its last checkpoint; the system may have "
                    "run out of memory"
                )
            predict = framework.train(task, clock)
            failure = _shortfall(clock)
            # A model of numbers that are none cannot choose a character.
            if failure is None and task.model.has("sample") and predict is not None:
                with clock.phase("sample"):
                    hyper = task.recipe["model"]
                    clock.sample = task.model.sample(predict, task.split, hyper, task.seed)
            return failure
    except (termination.GivenUpError, *framework.FAILURES) as error:
        # What is measured after the training says nothing about it, and is left out.
        if clock.phase_now == "measuring" and len(clock.epochs) == clock.extent.epochs:
            return _shortfall(clock)
        return Failure(clock.phase_now, errors.printable(errors.one_line(error), 500))


def _shortfall(clock: Clock) -> Failure | None:
    """What a training that came to its end lacks; None if it is whole."""
    if observation.diverged(clock):
        return Failure("train", "the loss is not a finite number")
    done, planned = len(clock.epochs), clock.extent.epochs
    if done != planned:
        return Failure("train", f"it ended after {done} of {planned} epochs")
    return None
