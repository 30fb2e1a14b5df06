# What ends a call before its first job.

import subprocess

from epochcost.costs import market, successors
from epochcost.hardware import check_devices, check_machine, is_unsupported
from epochcost.measurement import cloud
from epochcost.measurement.machine import has_bfloat16


def trains():
    """Whether this call has trainings to make."""
    return any(job.rule.name.startswith("train_") for job in workflow.dag.needrun_jobs())


def claim_hardware():
    """End the run before its first job if another call in this folder trains on its hardware."""
    try:
        lock.claim(Path(".snakemake"), hardware_to_train())
    except InputError as error:
        sys.exit(f"epochcost: {one_line(error)}")


# Executors that rent a machine from the provider of the hardware; others use existing machines.
RENTING = ("googlebatch", "aws-batch")


def is_here(hardware):
    """Whether trainings run on this machine, and it is that hardware."""
    try:
        check_machine(hardware, Path(workflow.basedir, "config/hardware.yaml"), MACHINE)
    except InputError:
        return False
    return workflow.local_exec


def refuse_retired_hardware():
    """End the run before its first job if the provider no longer rents the hardware."""
    if not workflow.local_exec and workflow.executor_plugin.name not in RENTING:
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
    if workflow.local_exec or workflow.executor_plugin.name not in RENTING:
        return
    pythons = [own_python(framework) or "" for framework in KNOWN["frameworks"]]
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


def refuse_hardware_without_partition():
    """End the run before its first job if Slurm would use a default partition for a training."""
    if workflow.local_exec or workflow.executor_plugin.name != "slurm":
        return
    for name in hardware_to_train():
        job = rule_name("train", name)
        if "slurm_partition" not in workflow.resource_settings.overwrite_resources.get(job, {}):
            sys.exit(f"epochcost: the profile gives {job} no slurm_partition under set-resources")


def refuse_hardware_without_cores():
    """End the run before its first job if it would request this one's cores of another machine."""
    if workflow.local_exec:
        return
    for name in hardware_to_train():
        if "vcpus" not in KNOWN.catalogue[name]:
            sys.exit(f"epochcost: config/hardware.yaml: {name}: vcpus is needed to request it")


def refuse_other_hardware():
    """End the run before its first job if this machine is to train as hardware that it is not."""
    if not workflow.local_exec:
        return
    try:
        here = MACHINE | {"cloud": cloud.describe()}
        for name in hardware_to_train():
            check_machine(name, Path(workflow.basedir, "config/hardware.yaml"), here)
        for variant in sorted({run.variant for run in PLAN.missing}):
            check_devices(variants.devices_of(variant), MACHINE)
            if variant == variants.NO_ONEDNN and MACHINE["gpus"]:
                raise InputError("no_onednn is for processors, and this machine has a GPU")
            if variant == variants.BFLOAT16 and not has_bfloat16(
                "gpu" if MACHINE["gpus"] else "cpu"
            ):
                raise InputError("this machine has no arithmetic for bfloat16")
    except InputError as error:
        sys.exit(f"epochcost: {one_line(error)}")


# What training imports beside frameworks, and what the packages are called.
IMPORTED = {"numpy": "numpy", "psutil": "psutil", "pynvml": "nvidia-ml-py", "yaml": "pyyaml"}
# Prints, if it fails, the reason as its last line.
CAN_TRAIN = (
    "import sys; sys.version_info < (3, 11) and sys.exit(f'it is {sys.version.split()[0]}'); "
    f"import {', '.join(IMPORTED)}"
)


def refuse_own_python_without_packages():
    """End the run before its first job if a configured Python lacks what training imports."""
    if not workflow.local_exec:  # the nodes may have another one under the same path
        return
    for python in {own_python(run.framework) for run in PLAN.possible} - {None}:
        try:
            done = subprocess.run([python, "-c", CAN_TRAIN], capture_output=True, text=True)
            said = done.stderr.strip() or f"it ended with status {done.returncode}"
            reason = said.splitlines()[-1] if done.returncode else None
        except OSError as error:
            reason = error.strerror
        if reason:
            sys.exit(
                f"epochcost: config: python: {python}: {reason}; a Python of one's own is 3.11 or "
                f"newer, with {', '.join(IMPORTED.values())} and the framework (PYTHONPATH does not count)"
            )


def refuse_dear_plan():
    """End the run before its first job if it would cost more than `max_cost_usd`."""
    if KNOWN["max_cost_usd"] is None:
        return
    command = ["python", "scripts/estimate.py", plan_file(), *estimate_options()]
    command.append(f"--most={KNOWN['max_cost_usd']}")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip() or "epochcost: scripts/estimate.py failed")
    print(f"epochcost: {done.stdout.strip()}", file=sys.stderr)
