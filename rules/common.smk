# What rules look up: the configuration, the plan, and what trainings need.

import json
from functools import cache

from epochcost.data import preparation
from epochcost.frameworks import tuning
from epochcost.hardware import LOCAL
from epochcost.plan import opening, runs, wanted
from epochcost.plan.sources import sources_of
from epochcost.record.names import RunName

# Whether trainings run on machines that share no folder with this one, and whether this is a job
# on one of them: it has what it was sent, and knows nothing of the plan.
CLOUD = workflow.storage_settings.default_storage_provider is not None
SENT = CLOUD and not workflow.is_main_process
RUNS_JOBS = not workflow.is_main_process or call.runs_jobs(
    sys.argv, workflow.output_settings.dryrun
)
# With --sdm conda, Snakemake installs the same pins by envs/<name>.yaml; jobs find `python` there.
USES_CONDA = "conda" in map(str, workflow.deployment_settings.deployment_method)
if USES_CONDA:
    variables.ignore_user_packages()

with errors.in_one_line():
    OPENED = opening.begin(
        config,
        Path(workflow.basedir),
        opening.Call(workflow.is_main_process, RUNS_JOBS, SENT, USES_CONDA, not CLOUD),
    )
KNOWN, NEEDS, PLAN, MACHINE = OPENED.known, OPENED.needs, OPENED.plan, OPENED.needs.machine

# What trainings wait for comes before any of them, so that they follow each other without a gap.
FIRST = 1_000_000


def here(path):
    """A file that stays on this machine when others are sent."""
    return local(path) if CLOUD else path


def everything(wildcards):
    """What a call without targets makes; with a bucket, that is only measuring."""
    if CLOUD:
        return measured(wildcards)
    return ["results/report.html", "results/quality.md", *rules.figures.output]


def for_advice(tables):
    """Where tables are that answer a question, beside those of the report."""
    return [path.replace("results/tables/", "results/advice/") for path in tables]


def rule_name(what, hardware):
    """The name of the rule for some hardware, such as train_gce_k80."""
    return f"{what}_{hardware.replace('-', '_').replace('.', '_')}"


def missing_of(hardware):
    """A pattern for the names of runs on the hardware that matches no existing one."""
    return runs.NEVER if SENT else PLAN.pattern(hardware)


def threads_of(hardware):
    """All cores of the hardware: a training shares its machine with no other job."""
    if workflow.is_main_process and workflow.local_exec:
        # Snakemake cuts this down to --cores, and knows no quota of a container.
        return MACHINE.logical_cores
    return KNOWN.catalogue[hardware].get("vcpus", MACHINE.usable_cores)


def conda_of(framework, hardware):
    """What conda makes the environment of a framework from."""
    return f"../envs/{NEEDS.environment(framework, hardware)}.yaml"


def conda_of_trainings(hardware):
    """What `conda:` is for trainings; without --sdm conda it is not evaluated for each of them."""
    if not USES_CONDA:
        return "../envs/workflow.yaml"
    return lambda wildcards: conda_of(RunName.on(hardware, wildcards.run).framework, hardware)


def own_models():
    """Checksums of the files of one's own workloads: rows of earlier ones are marked in tables."""
    return [recipe["code"] for recipe in KNOWN.recipes.values() if "code" in recipe]
