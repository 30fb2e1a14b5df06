# What ends a call before its first job.

import contextlib
import io
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from snakemake import cli

from epochcost.money import market, successors
from epochcost.hardware import check_machine, is_unsupported
from epochcost.measure import cloud
from epochcost.plan import resources
from epochcost.record.types import Cloud


def trains():
    """Whether this call has trainings to make."""
    return any(job.rule.name.startswith("train_") for job in workflow.dag.needrun_jobs())


def claim_hardware():
    """End the run before its first job if another call in this folder trains on its hardware."""
    try:
        lock.claim(Path(".snakemake"), hardware_to_train())
    except InputError as error:
        sys.exit(f"epochcost: {one_line(error)}")


@cache
def check_plan():
    """Refuse what cannot be; say where it will be. In a dry run, too: this changes nothing."""
    for refuse in (
        refuse_retired_hardware,
        refuse_gpus_older_than_frameworks,
        refuse_other_hardware,
        refuse_hardware_out_of_reach,
        refuse_own_python_without_packages,
    ):
        refuse()
    say_where()
    if KNOWN["max_cost_usd"] is not None:
        refuse_dear_plan()
    elif workflow.output_settings.dryrun:
        show_plan()


@cache
def executor():
    """What this call sends trainings to, or would, were it no dry run; None for this machine.

    While the rules are read, Snakemake tells of it only that it is not this machine: then a number
    of jobs is required.
    """
    if workflow.resource_settings.nodes is None or not workflow.is_main_process:
        return None
    with contextlib.redirect_stderr(io.StringIO()):  # which profiles there are was said before
        _, arguments = cli.parse_args(sys.argv[1:])
    return arguments.executor if arguments.executor not in (None, "local") else None


# How executors are called, and which resource of a training says where it goes.
PLACES = {
    resources.SLURM: ("Slurm", "slurm_partition", "partition"),
    resources.GOOGLE_BATCH: ("Google Batch", "googlebatch_machine_type", "machine type"),
    resources.KUBERNETES: ("Kubernetes", "machine_type", "nodes of type"),
    resources.AWS_BATCH: ("AWS Batch", None, None),
}


def resources_of(hardware):
    """What trainings on the hardware ask of where this call sends them."""
    return resources.resources_of(KNOWN.catalogue[hardware], executor())


def given_resources(hardware):
    """What the call or its profile sets of them (`--set-resources`)."""
    return workflow.resource_settings.overwrite_resources.get(rule_name("train", hardware), {})


def say_where():
    """Say where trainings are sent, if that is not this machine."""
    if executor() is None:
        return
    place, resource, what = PLACES.get(executor(), (executor(), None, None))
    goals = []
    for name in hardware_to_train():
        given = given_resources(name).get(resource)
        goal = given.raw if given else resources_of(name).get(resource)
        goals.append(f"{name} to {what} {goal}" if goal else name)
    # An id of a provider's stands for the same machine elsewhere.
    providers = {KNOWN.catalogue[name].get("provider") for name in hardware_to_train()}
    elsewhere = " or ".join(sorted(providers - {None, "own"})) if executor() == "slurm" else ""
    note = f"; nothing is rented from {elsewhere}" if elsewhere else ""
    print(f"epochcost: trainings are sent to {place}: {', '.join(goals)}{note}", file=sys.stderr)


def is_here(hardware):
    """Whether trainings run on this machine, and it is that hardware."""
    try:
        check_machine(hardware, Path(workflow.basedir, "config/hardware.yaml"), MACHINE)
    except InputError:
        return False
    return executor() is None


def refuse_retired_hardware():
    """End the run before its first job if the provider no longer rents the hardware."""
    if executor() not in (None, *resources.RENTING):
        return
    for name in hardware_to_train():
        if "retired" in KNOWN.catalogue[name] and not is_here(name):
            known = prices.load(*PRICES, rates=KNOWN["exchange_rates"])
            offers = market.Market(known, catalogue=KNOWN.catalogue)
            sys.exit(f"epochcost: {successors.refusal(name, KNOWN.catalogue, offers)}")


# Where the supplied image has the pinned frameworks (envs/Dockerfile).
OF_IMAGE = "/opt/epochcost/"


def refuse_gpus_older_than_frameworks():
    """End the run before its first job if it would rent GPUs that its frameworks cannot use."""
    if executor() not in resources.RENTING:
        return
    pythons = [own_python(framework, LOCAL) or "" for framework in KNOWN["frameworks"]]
    if not any(path.startswith(OF_IMAGE) for path in pythons):
        return
    for name in hardware_to_train():
        gpu = KNOWN.catalogue[name].get("gpu")
        if is_unsupported(gpu):
            sys.exit(
                f"epochcost: {name}: the frameworks of the supplied image are not built for a "
                f"{gpu}, so every training would fail; make an image with older ones outside of "
                f"{OF_IMAGE} and name their Python (`python:` in the profile's hardware.yaml)"
            )


def refuse_hardware_out_of_reach():
    """End the run before its first job if a scheduler cannot be asked for the hardware."""
    if executor() is None:
        return
    for name in hardware_to_train():
        if why := resources.why_not(KNOWN.catalogue[name], executor(), given_resources(name)):
            sys.exit(f"epochcost: {name} cannot be had from {executor()}: {why}")


def refuse_other_hardware():
    """End the run before its first job if this machine is to train as hardware that it is not."""
    if executor() is not None:
        return
    try:
        # A dry run asks no server, so not that of a cloud either.
        asked = None if workflow.output_settings.dryrun else cloud.identify()
        here = replace(MACHINE, cloud=asked and Cloud(**asked))
        for name in hardware_to_train():
            check_machine(name, Path(workflow.basedir, "config/hardware.yaml"), here)
        for variant in sorted({run.variant for run in PLAN.missing}):
            variants.check_machine(variant, MACHINE)
    except InputError as error:
        sys.exit(f"epochcost: {one_line(error)}")


# What training imports beside frameworks, and what the packages are called.
IMPORTED = {"numpy": "numpy", "psutil": "psutil", "pynvml": "nvidia-ml-py", "yaml": "pyyaml"}
# Prints, if it fails, the reason as its last line.
CAN_TRAIN = (
    "import sys; sys.version_info < (3, 11) and sys.exit(f'it is {sys.version.split()[0]}'); "
    f"import {', '.join(IMPORTED)}"
)


def why_it_cannot_train(python):
    """What a Python lacks that training imports; None if it lacks nothing."""
    try:
        done = subprocess.run([python, "-B", "-c", CAN_TRAIN], capture_output=True, text=True)
    except OSError as error:
        return error.strerror
    said = done.stderr.strip() or f"it ended with status {done.returncode}"
    return said.splitlines()[-1] if done.returncode else None


def refuse_own_python_without_packages():
    """End the run before its first job if a configured Python lacks what training imports."""
    if executor() is not None:  # the nodes may have another one under the same path
        return
    pythons = sorted({own_python(run.framework, run.hardware) for run in PLAN.possible} - {None})
    with ThreadPoolExecutor() as threads:  # each takes a third of a second
        reasons = list(threads.map(why_it_cannot_train, pythons))
    for python, reason in zip(pythons, reasons, strict=True):
        if reason:
            sys.exit(
                f"epochcost: config: python: {python}: {reason}; a Python of one's own is 3.11 or "
                f"newer, with {', '.join(IMPORTED.values())} and the framework (PYTHONPATH does not count)"
            )


def refuse_dear_plan():
    """End the run before its first job if it would cost more than `max_cost_usd`."""
    process = estimating("--most", str(KNOWN["max_cost_usd"]), stderr=subprocess.PIPE)
    said, why = process.communicate()
    if process.returncode:
        sys.exit(why.strip() or "epochcost: scripts/estimate.py failed")
    print(f"epochcost: {said.strip()}", file=sys.stderr)
