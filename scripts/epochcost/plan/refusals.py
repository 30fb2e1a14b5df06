"""What ends a call before its first job: each function refuses one kind of what cannot be.

All raise an InputError, and change nothing.
"""

import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from epochcost.errors import InputError
from epochcost.frameworks import variants
from epochcost.hardware import LOCAL, check_machine, is_unsupported
from epochcost.measure import cloud
from epochcost.money import market, prices, successors
from epochcost.plan import resources
from epochcost.plan.needs import Needs
from epochcost.plan.runs import Plan
from epochcost.record.types import Cloud

# Where the supplied image has the pinned frameworks (envs/Dockerfile).
OF_IMAGE = "/opt/epochcost/"
# What training imports beside frameworks, and what the packages are called.
IMPORTED = {"numpy": "numpy", "psutil": "psutil", "pynvml": "nvidia-ml-py", "yaml": "pyyaml"}
# Prints, if it fails, the reason as its last line.
_CAN_TRAIN = (
    "import sys; sys.version_info < (3, 11) and sys.exit(f'it is {sys.version.split()[0]}'); "
    f"import {', '.join(IMPORTED)}"
)


@dataclass(frozen=True)
class Destination:
    """Where the trainings of a call go.

    hardware: what is to be trained on.
    scheduler: Snakemake's name of it; None for this machine.
    given: resources that the call or its profile sets, by hardware.
    """

    hardware: list[str]
    scheduler: str | None
    given: Mapping[str, Mapping[str, Any]]


def check(plan: Plan, needs: Needs, to: Destination, catalogue: Path, asks: bool) -> None:
    """Refuse the first of all that cannot be.

    Args:
        catalogue: config/hardware.yaml.
        asks: whether the server of a cloud may be asked what this machine is.
    """
    retired_hardware(needs, to, catalogue)
    gpus_older_than_frameworks(needs, to)
    other_hardware(plan, needs, to, catalogue, asks)
    hardware_out_of_reach(needs, to)
    more_devices_than_hardware_has(plan, needs)
    pythons_without_packages(plan, needs, to)


def retired_hardware(needs: Needs, to: Destination, catalogue: Path) -> None:
    """Refuse hardware that its provider no longer rents, unless this machine is it."""
    if to.scheduler not in (None, *resources.RENTING):
        return
    known = needs.known
    for name in to.hardware:
        if "retired" in known.catalogue[name] and not _is_here(name, needs, to, catalogue):
            offers = prices.load(
                Path("data/published/prices.csv"), Path("config/prices.csv"),
                rates=known.exchange_rates,
            )  # fmt: skip
            today = market.Market(offers, catalogue=known.catalogue)
            raise InputError(successors.refusal(name, known.catalogue, today))


def _is_here(hardware: str, needs: Needs, to: Destination, catalogue: Path) -> bool:
    """Whether trainings run on this machine, and it is that hardware."""
    try:
        check_machine(hardware, catalogue, needs.machine)
    except InputError:
        return False
    return to.scheduler is None


def gpus_older_than_frameworks(needs: Needs, to: Destination) -> None:
    """Refuse to rent GPUs that the frameworks of the supplied image cannot use."""
    pythons = [needs.own_python(name, LOCAL) or "" for name in needs.known.frameworks]
    in_image = any(path.startswith(OF_IMAGE) for path in pythons)
    if to.scheduler not in resources.RENTING or not in_image:
        return
    for name in to.hardware:
        gpu = needs.known.catalogue[name].get("gpu")
        if is_unsupported(gpu):
            raise InputError(
                f"{name}: the frameworks of the supplied image are not built for a {gpu}, so every "
                f"training would fail; make an image with older ones outside of {OF_IMAGE} and "
                "name their Python (`python:` in the profile's hardware.yaml)"
            )


def other_hardware(plan: Plan, needs: Needs, to: Destination, catalogue: Path, asks: bool) -> None:
    """Refuse to measure this machine as hardware that it is not, or by a variant it has not."""
    if to.scheduler is not None:
        return
    asked = cloud.identify() if asks else None
    here = replace(needs.machine, cloud=asked and Cloud(**asked))
    for name in to.hardware:
        check_machine(name, catalogue, here)
    for variant in sorted({run.variant for run in plan.missing}):
        variants.check_machine(variant, here)


def hardware_out_of_reach(needs: Needs, to: Destination) -> None:
    """Refuse hardware that a scheduler cannot be asked for."""
    if to.scheduler is None:
        return
    for name in to.hardware:
        entry, given = needs.known.catalogue[name], to.given.get(name, {})
        if why := resources.why_not(entry, to.scheduler, given):
            raise InputError(f"{name} cannot be had from {to.scheduler}: {why}")


def more_devices_than_hardware_has(plan: Plan, needs: Needs) -> None:
    """Refuse to divide a model over more devices than a machine type has."""
    for run in plan.missing:
        entry, wanted = needs.known.catalogue[run.hardware], variants.devices_of(run.variant)
        # Of `local` neither is known here.
        there = entry.get("gpu_count") or entry.get("vcpus") or wanted
        if wanted > there:
            what = "GPU" if "gpu" in entry else "core"
            raise InputError(
                f"{run.variant}: {run.hardware} has {there} {what}{'s' if there > 1 else ''}"
            )


def pythons_without_packages(plan: Plan, needs: Needs, to: Destination) -> None:
    """Refuse a configured Python that lacks what training imports."""
    if to.scheduler is not None:  # the nodes may have another one under the same path
        return
    found = {needs.own_python(run.framework, run.hardware) for run in plan.possible}
    pythons = sorted(found - {None})
    with ThreadPoolExecutor() as threads:  # each takes a third of a second
        reasons = list(threads.map(_why_it_cannot_train, pythons))
    for python, reason in zip(pythons, reasons, strict=True):
        if reason:
            raise InputError(
                f"config: python: {python}: {reason}; a Python of one's own is 3.11 or newer, with "
                f"{', '.join(IMPORTED.values())} and the framework (PYTHONPATH does not count)"
            )


def _why_it_cannot_train(python: str) -> str | None:
    """What a Python lacks that training imports; None if it lacks nothing."""
    try:
        done = subprocess.run([python, "-B", "-c", _CAN_TRAIN], capture_output=True, text=True)
    except OSError as error:
        return error.strerror
    said = done.stderr.strip() or f"it ended with status {done.returncode}"
    return said.splitlines()[-1] if done.returncode else None


# How schedulers are called, and which resource of a training says where it goes.
_PLACES = {
    resources.SLURM: ("Slurm", "slurm_partition", "partition"),
    resources.GOOGLE_BATCH: ("Google Batch", "googlebatch_machine_type", "machine type"),
    resources.KUBERNETES: ("Kubernetes", "machine_type", "nodes of type"),
    resources.AWS_BATCH: ("AWS Batch", None, None),
}


def said_of(needs: Needs, to: Destination) -> str:
    """Where trainings are sent, in a line."""
    place, resource, what = _PLACES.get(to.scheduler, (to.scheduler, None, None))
    goals = []
    for name in to.hardware:
        given = to.given.get(name, {}).get(resource)
        asked = resources.resources_of(needs.known.catalogue[name], to.scheduler)
        goal = given or asked.get(resource)
        goals.append(f"{name} to {what} {goal}" if goal else name)
    # An id of a provider's stands for the same machine elsewhere.
    providers = {needs.known.catalogue[name].get("provider") for name in to.hardware}
    elsewhere = " or ".join(sorted(providers - {None, "own"}))
    note = f"; nothing is rented from {elsewhere}" if elsewhere and to.scheduler == "slurm" else ""
    return f"trainings are sent to {place}: {', '.join(goals)}{note}"
