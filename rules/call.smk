# What a call says and refuses before its first job, and what its analysis waits for.

import atexit
import subprocess
import tempfile

from epochcost import lock
from epochcost.measure import crowd, revision
from epochcost.plan import refusals, resources
from epochcost.settings import REPEATED, TRAINED


@cache
def executor():
    """What this call sends trainings to, or would, were it no dry run; None for this machine.

    While the rules are read, Snakemake tells of it only that it is not this machine: then a number
    of jobs is required.
    """
    if workflow.resource_settings.nodes is None or not workflow.is_main_process:
        return None
    return call.executor_of(sys.argv[1:])


def resources_of(hardware):
    """What trainings on the hardware ask of where this call sends them."""
    return resources.resources_of(KNOWN.catalogue[hardware], executor())


def destination():
    """Where this call sends its trainings, with the resources that it or its profile sets."""
    names = OPENED.hardware_to_train()
    set_by_call = workflow.resource_settings.overwrite_resources
    given = {
        name: {key: value.raw for key, value in set_by_call[rule_name("train", name)].items()}
        for name in names
        if rule_name("train", name) in set_by_call
    }
    return refusals.Destination(names, executor(), given)


@cache
def check_plan():
    """Refuse what cannot be; say where it will be. In a dry run, too: this changes nothing."""
    to, dryrun = destination(), workflow.output_settings.dryrun
    with errors.in_one_line():
        refusals.check(
            PLAN, NEEDS, to, Path(workflow.basedir, "config/hardware.yaml"), asks=not dryrun
        )
    if to.scheduler:
        errors.say(refusals.said_of(NEEDS, to))
    if KNOWN.max_cost_usd is not None:
        refuse_dear_plan()
    elif dryrun:
        process = estimating()  # while Snakemake builds its graph
        atexit.register(lambda: print(f"The plan, and its cost:\n{process.stdout.read()}", end=""))


def estimating(*options, **kept):
    """Start to add up what the plan takes and costs; without a file, as a dry run leaves none.

    Args:
        kept: what becomes of its errors, as `subprocess.Popen` has it.
    """
    command = [*"python scripts/estimate.py /dev/stdin --settings".split(), KNOWN.part("estimate")]
    command += options
    with tempfile.TemporaryFile("w+") as table:
        table.write(OPENED.table())
        table.seek(0)
        return subprocess.Popen(command, stdin=table, stdout=subprocess.PIPE, text=True, **kept)


def refuse_dear_plan():
    """End the run before its first job if it would cost more than `max_cost_usd`."""
    process = estimating("--most", str(KNOWN.max_cost_usd), stderr=subprocess.PIPE)
    said, why = process.communicate()
    if process.returncode:
        sys.exit(why.strip() or "epochcost: scripts/estimate.py failed")
    errors.say(said.strip())


def schedule_settings():
    """What is measured at intervals, which must be possible there."""
    with errors.in_one_line():
        KNOWN.schedule.check_complete()
        wanted.read(config | {"hardware": KNOWN.schedule.hardware}, Path(workflow.basedir))
    return KNOWN.part("schedule")


def trains():
    """Whether this call has trainings to make."""
    return any(job.rule.name.startswith("train_") for job in workflow.dag.needrun_jobs())


def before_trainings():
    """Check the plan, keep other calls off its hardware, and say what records will lack."""
    if why := revision.why_unknown(Path(workflow.basedir)):
        errors.say(f"records will not name their commit: {why}")
    with errors.in_one_line():
        lock.claim(Path(".snakemake"), OPENED.hardware_to_train())
    check_plan()
    if not CLOUD and executor() is None and (said := crowd.warning(MACHINE)):
        errors.say(said)


def asks_for(rule):
    """Whether this call asks for what a rule makes."""
    return any(job.rule.name == rule for job in workflow.dag.jobs)


def say_what_is_set_aside(folder):
    """Name the files below results/runs that gave no row in the tables of a folder."""
    for line in opening.set_aside(Path(folder, "set_aside.csv"))[:10]:
        errors.say(line)


@cache
def say_origins():
    """Say, in a call that needs data, which of them are not the real and complete ones, and why."""
    for origin in NEEDS.origins.values():
        if origin.notice:
            errors.say(origin.notice)


def files_of_arrays(wildcards):
    """What arrays are prepared from; generated ones need nothing."""
    say_origins()
    if wildcards.kind == "synthetic":
        return []
    return here(f"data/raw/{wildcards.dataset}/{wildcards.kind}.json")


def needs_of(hardware):
    """The files that trainings on the hardware wait for."""
    say_origins()
    if hardware not in KNOWN.hardware:
        sys.exit(f"epochcost: nothing is to be trained on '{hardware}'")
    return NEEDS.files(PLAN, hardware)


def up_to_round(wildcards):
    """The runs of a round, and those before it."""
    number = int(wildcards.number)
    if number <= PLAN.runs:
        return OPENED.files()
    return [f"results/rounds/{number - 1}", *OPENED.files_of_round(number)]


# The targets that make missing runs; without a target it is `all`. Any other only reads.
MEASURING = {"all", "measure"}


@cache
def say_what_is_read():
    """Say in a call that measures nothing what it reads, where that is not all it could be."""
    if said := OPENED.read(call.given(sys.argv, [*TRAINED, *REPEATED])):
        errors.say(said)


def measured(wildcards):
    """What the analysis waits for: every record that is there.

    If this call measures, also every one that it will make, including those of rounds that are not
    planned yet.
    """
    asked = workflow.dag_settings.targets
    if asked and MEASURING.isdisjoint(asked):
        if set(asked) != {"advise"}:  # whose answer says what it is based on
            say_what_is_read()
        return [here(path) for path in OPENED.files(missing=False)]
    if workflow.output_settings.dryrun and PLAN.missing:
        check_plan()
    files = set(OPENED.files())
    if KNOWN.precision:
        number = PLAN.runs
        while more := OPENED.files_of_round(number):
            files |= set(more)
            checkpoints.round.get(number=number)
            number += 1
    return [here(path) for path in sorted(files)]


def refuse_unknown_targets():
    """End the run before its graph is built if no rule makes what it is asked for."""
    if not workflow.is_main_process:
        return
    rules = list(workflow.rules)
    many = {rule.name for rule in rules if rule.has_wildcards()}
    single = [rule for rule in rules if rule.name not in many]
    known = {rule.name for rule in single} | {str(path) for rule in single for path in rule.output}
    with errors.in_one_line():
        call.check_targets(
            sys.argv, known, many, lambda path: any(rule.is_producer(path) for rule in rules)
        )
