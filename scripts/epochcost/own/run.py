"""Measure an own training: wait for the machine, watch the command, leave a record."""

import os
import time
from dataclasses import replace
from pathlib import Path

from epochcost import ROOT, __version__
from epochcost.hardware import check_machine
from epochcost.measure import (
    activity,
    cloud,
    machine,
    machine_lock,
    observation,
    revision,
    variables,
    yardstick,
)
from epochcost.measure.sampler import Sampler
from epochcost.own import environment, recipe
from epochcost.own.asked import RECORDS, Asked
from epochcost.own.watch import watch
from epochcost.record import place as places
from epochcost.record.types import (
    FAILED,
    FULL,
    OK,
    QUICK,
    SCHEMA_VERSION,
    Cloud,
    Commit,
    Failure,
    Machine,
    Own,
    Phases,
    Record,
    Run,
    Software,
    Yardstick,
    encoded,
)

_CATALOGUE = ROOT / "config/hardware.yaml"


def run(asked: Asked) -> tuple[Record, Path]:
    """Watch a command once nobody else trains on this machine; returns its record, and where it is.

    Raises:
        InputError: it cannot be watched; there is no record.
    """
    identified = cloud.identify()
    here = replace(machine.facts(), cloud=identified and Cloud(**identified))
    check_machine(asked.hardware, _CATALOGUE, here)
    if asked.record:
        place = places.Place(asked.record)
    else:
        place = places.reserve(RECORDS, asked.name, here.id)
    try:
        with machine_lock.hold(str(asked.name)):
            record = _measured(asked, here)
        if asked.record:
            place.write(encoded(record))
            return record, asked.record
        return record, places.keep(place, RECORDS, record)
    except BaseException:
        place.leave()
        raise


def _measured(asked: Asked, here: Machine) -> Record:
    environment.search_first(asked.path)
    what = recipe.of(asked.command, asked.folder)
    rates, commit = yardstick.asked(), revision.commit(ROOT)
    begun = observation.now()
    moving, sampler = activity.Activity(), Sampler()
    since = time.perf_counter()
    try:
        own = watch(asked.command, asked.limits, asked.folder)
    except BaseException:
        sampler.stop()  # or it says that nobody listens
        raise
    wall = time.perf_counter() - since
    shares, seen = moving.summary(), sampler.stop()
    joules, method = observation.energy(seen)
    phase = "train" if own.steps else "first_step"
    failure = Failure(phase, own.error or f"it ended with status {own.status}")
    finished = own.ended == "finished"
    return Record(
        schema_version=SCHEMA_VERSION,
        run=Run(
            str(asked.name),
            **vars(asked.name),
            scale=FULL if finished else QUICK,
            started_at=begun,
            finished_at=observation.now(),
        ),
        status=FAILED if own.ended == "failed" else OK,
        failure=failure if own.ended == "failed" else None,
        machine=here,
        yardstick=rates and Yardstick(**rates),
        git=commit and Commit(**commit),
        seed=None,
        settings=what,
        data=None,
        weights=None,
        software=_software(own),
        wall_s=wall,
        phases=_phases(own, wall),
        epochs=(),
        blocks=(),
        input=None,
        sample=None,
        quality=None,
        flop_per_sample=None,
        steady_state=None,
        utilisation=observation.utilisation(shares, seen),
        energy_j=joules,
        energy_method=method,
        interruptions=0,
        noise=activity.noise(shares, seen),
        own=own,
    )


def _software(own: Own) -> Software:
    """What trained; `gpu` for any device that is no processor."""
    on_gpu = own.device not in ("", "cpu")
    return Software(
        python=own.python,
        epochcost=__version__,
        framework_version=", ".join(f"{name} {own.packages[name]}" for name in own.packages),
        packages=own.packages,
        device="gpu" if on_gpu else "cpu",
        threads=None,
        settings={"devices": len(own.uuids)} if len(own.uuids) > 1 else {},
        environment=os.environ.get("EPOCHCOST_CONTAINER") or None,
        variables=variables.effective(),
    )


def _phases(own: Own, wall: float) -> Phases:
    """The start up to the first step, the steps that were seen, and the end."""
    seconds = {
        "import": own.start_s,
        "train": sum(one.seconds for one in own.stretches),
        "finish": own.end_s,
    }
    return Phases.of(seconds | {"other": wall - sum(filter(None, seconds.values()))})
