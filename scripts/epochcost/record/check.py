"""Whether a record contradicts itself: what cannot have been observed is not believed."""

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from epochcost import files, hardware
from epochcost.errors import InputError
from epochcost.hardware import LOCAL
from epochcost.record.schema import read
from epochcost.record.types import (
    OWN_TRAINING,
    TRAIN,
    Data,
    Epoch,
    Machine,
    Own,
    Record,
    document,
)

# What a run is judged by where there is no accuracy: of training, or of held-out data.
LOSS = "loss"
LOSSES = (LOSS, "val_loss")
_ACCURACY = "val_accuracy"
_CATALOGUE = Path(__file__).resolve().parents[3] / "config/hardware.yaml"
# Sums of the same seconds in another order, and times that are rounded.
_SAME, _SAME_S = 0.01, 0.01
# What phases of early versions counted twice; what a clock's date is off by.
_ABOUT, _ABOUT_S = 0.1, 60.0
# What tables can hold as a date, and when the first of these models was trained.
_YEARS = range(2015, 2200)


def contradiction(record: Record) -> str | None:
    """Why a record cannot be, in a few words; None where nothing speaks against it.

    Args:
        record: one that was parsed (`types.parse`).
    """
    return next(_contradictions(record), None)


def reached(metric: str, value: float | None, target: float) -> bool:
    """Whether a run is as good as its recipe asks; a lower loss is better."""
    if value is None:
        return False
    return value <= target if metric in LOSSES else value >= target


def _contradictions(record: Record) -> Iterator[str]:
    yield from _outcome(record)
    yield from _dates(record)
    if record.own is not None:
        yield from _own(record, record.own)
    elif record.data is None or record.quality is None:
        yield "it is of no own training, and has no data or no quality"
    elif missing := [key for key in ("epochs", "batch_size") if key not in record.settings]:
        yield f"no settings {missing[0]}"
    else:
        yield from _epochs(record)
        yield from _times(record)
        yield from _blocks(record)
        yield from _quality(record)
        yield from _data(record)
    yield from _machine(record)


def _outcome(record: Record) -> Iterator[str]:
    if (record.status == "failed") != (record.failure is not None):
        there = "a failure" if record.failure else "no failure"
        yield f"its status is {record.status}, and it has {there}"


def _dates(record: Record) -> Iterator[str]:
    """Its two dates, and whether there is room between them for the time that it took."""
    begin, end = map(datetime.fromisoformat, (record.run.started_at, record.run.finished_at))
    if begin.year not in _YEARS or end.year not in _YEARS:
        yield f"it is of the year {begin.year}"
    elif end > datetime.now(UTC) + timedelta(days=1):
        yield f"it is of {end.date()}, which is to come"
    if end < begin:
        yield "it finished before it started"
    between = (end - begin).total_seconds()
    if record.wall_s > between * (1 + _ABOUT) + _ABOUT_S:
        yield f"it took {record.wall_s:g} s, and {between:g} s are between its start and its end"


def _own(record: Record, own: Own) -> Iterator[str]:
    """Whether what was seen of an own training fits together, and into its time."""
    if record.run.framework != OWN_TRAINING:
        yield f"it is an own training, and its framework is {record.run.framework[:40]!r}"
    if (own.ended == "failed") != (record.status == "failed"):
        yield f"its status is {record.status}, and its script {own.ended}"
    if (own.ended == "finished") != (record.run.scale == "full"):
        yield f"it is a {record.run.scale} run, and its script {own.ended}"
    counted = 1 + sum(one.steps for one in own.stretches)
    if counted != own.steps and (own.steps or own.stretches or own.ended != "failed"):
        yield f"it has {own.steps} steps, and its stretches have {counted} with the first"
    parts = own.start_s + sum(one.seconds for one in own.stretches) + (own.end_s or 0.0)
    if _exceeds(parts, record.wall_s):
        yield f"its parts took {parts:g} s, and the whole run {record.wall_s:g} s"
    for one in own.stretches:
        if _exceeds(one.waited_s, one.seconds) or _exceeds(one.gaps_s, one.seconds):
            yield f"of {one.seconds:g} s, {one.waited_s:g} s were waited and {one.gaps_s:g} s gaps"
    if any(gap.step > own.steps for gap in own.gaps):
        yield "it has a gap after more steps than it took"


def _epochs(record: Record) -> Iterator[str]:
    epochs, run = record.epochs, record.run
    wanted, ended_well = record.settings["epochs"], record.status == "ok"
    numbers = [epoch.epoch for epoch in epochs]
    if numbers != list(range(1, len(numbers) + 1)):
        seen = set()
        twice = next((number for number in numbers if number in seen or seen.add(number)), None)
        yield (
            f"epoch {twice} is there twice"
            if twice is not None
            else f"its {len(numbers)} epochs are not numbered from 1 to {len(numbers)}"
        )
    if ended_well and not epochs:
        yield "it is ok, and has no epochs"
    full, metric = run.scale == "full", record.quality.metric
    if full and (len(epochs) > wanted or (ended_well and len(epochs) != wanted)):
        yield f"it has {len(epochs)} of {wanted} epochs, and its status is {record.status}"
    for epoch in epochs:
        yield from _epoch(epoch, record.data, full, metric)


def _epoch(epoch: Epoch, data: Data, full: bool, metric: str) -> Iterator[str]:
    number = epoch.epoch
    if epoch.train_s <= 0:
        yield f"epoch {number} took {epoch.train_s:g} s"
    if (epoch.eval_s is None) != (epoch.eval_samples == 0):
        yield f"epoch {number} has a validation pass without samples, or samples without a pass"
    for name, here, whole in (
        ("samples", epoch.samples, data.train_samples),
        ("eval_samples", epoch.eval_samples, data.validation_samples),
    ):
        # A recipe may have no validation pass.
        wrong = here not in (0, whole) if full else here > whole
        if wrong or (name == "samples" and here == 0):
            yield f"epoch {number} has {here} {name}, and the data {whole}"
    if metric == _ACCURACY and not 0 <= (epoch.metric or 0) <= 1:
        yield f"epoch {number} has an accuracy of {epoch.metric:g}"


def _times(record: Record) -> Iterator[str]:
    """Whether the parts of the time fit into the whole."""
    wall, phases, epochs = record.wall_s, record.phases, record.epochs
    training = sum(epoch.train_s for epoch in epochs)
    validating = sum(epoch.eval_s or 0.0 for epoch in epochs)
    within = training + validating + (phases.predict or 0.0)
    if _exceeds(within, wall):
        yield f"its epochs took {within:g} s, and the whole run {wall:g} s"
    if phases.spent > wall * (1 + _ABOUT) + _SAME_S:
        yield f"its phases took {phases.spent:g} s, and the whole run {wall:g} s"
    timed = (phases.first_step or 0.0) + (phases.train or 0.0)
    for name, inside, outside in (
        ("training", training, timed),
        ("validation", validating, phases.evaluate or 0.0),
    ):
        # The epoch in which a run failed is in its phases alone.
        if _exceeds(inside, outside) or (record.status == "ok" and _exceeds(outside, inside)):
            yield f"{name} took {inside:g} s by its epochs, and {outside:g} s by its phases"
    # Sleep of the machine is in no time of the run.
    paused = sum(one.seconds for one in record.noise.pauses or () if one.cause != "suspended")
    if paused > wall * (1 + _ABOUT) + _ABOUT_S:
        yield f"it was paused for {paused:g} s, and took {wall:g} s"


def _blocks(record: Record) -> Iterator[str]:
    """Whether the stretches of an epoch are together as long as it; a quick run rests on them."""
    epochs = {epoch.epoch: epoch for epoch in record.epochs}
    seconds: dict[tuple[int, str], float] = defaultdict(float)
    for block in record.blocks:
        seconds[block.epoch, block.part] += block.seconds
    for (number, part), took in seconds.items():
        epoch = epochs.get(number)
        whole = epoch and (epoch.train_s if part == TRAIN else epoch.eval_s)
        if whole is None:
            yield f"it has blocks of {part} in epoch {number}, which has no such part"
        elif _exceeds(took, whole) or _exceeds(whole, took):
            yield f"epoch {number} has blocks of {took:g} s of {part}, and {whole:g} s of it"
    trained = {number for number, part in seconds if part == TRAIN}
    quick = (record.run.scale, record.status) == ("quick", "ok")
    # The first records have the blocks of the first epoch alone.
    if quick and trained not in ({1}, set(epochs)):
        yield "it is a quick run, and not every epoch has its blocks"


def _quality(record: Record) -> Iterator[str]:
    quality, wanted = record.quality, record.settings.get("quality")
    metric, value, target = quality.metric, quality.value, quality.target
    asked = isinstance(wanted, dict) and (wanted.get("metric"), wanted.get("target"))
    if asked and asked != (metric, target):
        yield f"it was judged by {metric} {target:g}, and its recipe asks for something else"
    if metric == _ACCURACY and not 0 <= (value or 0) <= 1:
        yield f"its accuracy is {value:g}"
    if quality.reached is None:  # not judged: generated data, or part of a training
        return
    if quality.reached != reached(metric, value, target):
        verdict = "reached" if quality.reached else "missed"
        yield f"it says that it {verdict} its target, with {metric} {value} for {target}"
    synthetic = record.data.source == "synthetic"
    if synthetic or (record.run.scale, record.status) != ("full", "ok"):
        yield "it was judged by its quality, and did not train to the end on real data"


def _data(record: Record) -> Iterator[str]:
    settings, data = record.settings, record.data
    if settings.get("dataset", data.dataset) != data.dataset:
        yield f"it trained on {data.dataset[:40]!r}, and its recipe on another data set"
    if ("weights" in settings) != (record.weights is not None):
        yield "either its recipe or the run itself started from weights, and not both"
    steady = record.steady_state
    if steady and not 0 < steady.low <= steady.samples_per_second <= steady.high:
        yield "its steady state is not between its own bounds"


def _machine(record: Record) -> Iterator[str]:
    machine, devices = record.machine, record.software.settings.get("devices", 1)
    # GPUs of other makers than NVIDIA are not described.
    on_gpu = machine.gpus and record.software.device == "gpu"
    if machine.usable_cores > machine.logical_cores:
        yield f"it had {machine.usable_cores} of {machine.logical_cores} cores"
    if not isinstance(devices, int) or isinstance(devices, bool) or devices < 1:
        yield "its number of devices is none"
    elif on_gpu and devices > len(machine.gpus):
        yield f"it trained on {devices} of {len(machine.gpus)} GPUs"
    facts = json.dumps(document(machine), sort_keys=True)
    if reason := _other_hardware(record.run.hardware, facts):
        yield reason


@cache
def _other_hardware(name: str, machine: str) -> str | None:
    """Why a machine (JSON) is not the hardware that it was measured as; None where it may be.

    Hardware that is in no catalogue here may be anything.
    """
    if name == LOCAL or name not in files.read_yaml(_CATALOGUE):
        return None
    try:
        hardware.check_machine(name, _CATALOGUE, read(Machine, json.loads(machine)))
    except InputError as error:
        said = str(error).split("; use hardware")[0]
        return said.replace("this machine", "its machine")
    return None


def _exceeds(part: float, whole: float) -> bool:
    """Whether seconds are more than others by more than rounding."""
    return part > whole * (1 + _SAME) + _SAME_S
