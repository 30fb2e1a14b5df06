# Which runs are to be made, in which order, and the files that represent them.

import atexit
import hashlib
import subprocess
import tempfile
from functools import cache

from epochcost.record.record import recipe_id

# What trainings wait for comes before any of them, so that they follow each other without a gap.
FIRST = 1_000_000


def missing_of(hardware):
    """A pattern for the names of runs on the hardware that matches no existing one."""
    return planning.NEVER if SENT else PLAN.pattern(hardware)


def record_in_bucket(hardware, run):
    """Where a training on a rented machine leaves its record."""
    recipe = KNOWN.recipes_to_train[RunName.on(hardware, run).workload]
    dataset = recipe["dataset"]
    settings = json.dumps(settings_of_trainings(hardware))
    asked = [MACHINE.id, str(Path.cwd()), settings, recipe_id(recipe)]
    plan = hashlib.sha256("\n".join(asked).encode()).hexdigest()[:8]
    return f"runs/{plan}/{dataset}-{ORIGINS[dataset].kind}/{hardware}/{run}.json"


def hardware_to_train():
    """The hardware of the runs to be made."""
    return sorted({run.hardware for run in PLAN.missing})


def runs_of_round(number):
    """The files for the runs of a round, which follow from the rounds before."""
    plan = planning.plan(KNOWN, MACHINE, RECORDS, ORIGINS, TUNED, MARKERS)
    return plan.files(plan.round(number), RECORDS, MARKERS)


def up_to_round(wildcards):
    """The runs of a round, and those before it."""
    number = int(wildcards.number)
    if number <= PLAN.runs:
        return PLAN.inputs(RECORDS, MARKERS)
    return [f"results/rounds/{number - 1}", *runs_of_round(number)]


# The targets that make missing runs; without a target it is `all`. Any other only reads.
MEASURING = {"all", "measure"}


def measures():
    """Whether this call is to make the runs that are missing."""
    asked = workflow.dag_settings.targets
    return not asked or not MEASURING.isdisjoint(asked)


def measured(wildcards):
    """What the analysis waits for: every record that is there.

    If this call measures, also every one that it will make, including those of rounds that are not
    planned yet.
    """
    if not measures():
        say_what_is_read()
        return [here(path) for path in PLAN.inputs(RECORDS, MARKERS, missing=False)]
    if workflow.output_settings.dryrun and PLAN.missing:
        check_plan()
    files = set(PLAN.inputs(RECORDS, MARKERS))
    if KNOWN["precision"]:
        number = PLAN.runs
        while more := runs_of_round(number):
            files |= set(more)
            checkpoints.round.get(number=number)
            number += 1
    return [here(path) for path in sorted(files)]


def plan_table():
    """A table of the runs that are still to be made, as CSV."""
    trained = {
        name: f"{recipe_id(recipe)},{ORIGINS[recipe['dataset']].kind}"
        for name, recipe in KNOWN.recipes_to_train.items()
        if recipe["dataset"] in ORIGINS
    }
    lines = [
        ",".join([*map(str, vars(run).values()), trained[run.workload]]) for run in PLAN.missing
    ]
    return "\n".join(["hardware,workload,framework,variant,trial,recipe,data", *lines, ""])


@cache
def say_what_is_read():
    """Say in a call that measures nothing what it reads, where that is not all it could be."""
    there, missing = len(PLAN.existing), len(PLAN.missing)
    if not there:
        print(f"epochcost: no run was made yet: {RECORDS} holds no records", file=sys.stderr)
    elif missing:
        print(
            f"epochcost: runs that are there: {there}; configured and missing: {missing} "
            "(`snakemake` makes them)",
            file=sys.stderr,
        )


def estimating(*options, **kept):
    """Start to add up what the plan takes and costs; without a file, as a dry run leaves none.

    Args:
        kept: what becomes of its errors, as `subprocess.Popen` has it.
    """
    command = [*"python scripts/estimate.py /dev/stdin".split(), *estimate_options(), *options]
    with tempfile.TemporaryFile("w+") as table:
        table.write(plan_table())
        table.seek(0)
        return subprocess.Popen(
            command,
            stdin=table,
            stdout=subprocess.PIPE,
            text=True,
            **kept,
        )


@cache
def show_plan():
    """Say after a dry run what it would train where, and what that would cost."""
    process = estimating()  # while Snakemake builds its graph
    atexit.register(lambda: print(f"The plan, and its cost:\n{process.stdout.read()}", end=""))
