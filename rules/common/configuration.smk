# The configuration, the plan, and this machine: what every rule may use.

import csv

from epochcost import configuration, lock
from epochcost.frameworks import tuning, variants
from epochcost.plan import runs as planning
from epochcost.plan.sources import sources_of
from epochcost.money import billing, prices
from epochcost.data import preparation, registry
from epochcost.errors import InputError, one_line
from epochcost.hardware import LOCAL
from epochcost.measure import machine
from epochcost.record import backup, merge
from epochcost.record.names import RunName

RECORDS = Path("results/runs")
MARKERS = Path("results/made")
TUNING = Path("results/tuning")
TUNED = Path(workflow.basedir, "config/tuned.yaml")
RAW = Path("data/raw")
PRICES = [Path("data/published/prices.csv"), Path("config/prices.csv")]


# Whether trainings run on machines that share no folder with this one, and whether this is a job
# on one of them: it has what it was sent, and knows nothing of the plan.
CLOUD = workflow.storage_settings.default_storage_provider is not None
SENT = CLOUD and not workflow.is_main_process

# Whether jobs will run, and not just be looked at: only then is anything changed, locked or asked.
RUNS_JOBS = not workflow.is_main_process or call.runs_jobs(
    sys.argv, workflow.output_settings.dryrun
)

# Bad input ends here with one line, before a graph of jobs is built.
try:
    if workflow.is_main_process and RUNS_JOBS:
        lock.enter(Path(".snakemake"))
    KNOWN = configuration.load(config, Path(workflow.basedir))
    if KNOWN.mirror:
        # For fetch.py. Not a parameter of its rule: without it, what was fetched stays fetched.
        os.environ[configuration.MIRROR_VARIABLE] = str(KNOWN.mirror)
    MACHINE = machine.facts()
    choose = (KNOWN.datasets, KNOWN["data"]["source"], KNOWN.mirror, RAW)
    reachable = registry.can_fetch if RUNS_JOBS else None
    ORIGINS = {}
    if not SENT:
        ORIGINS |= {
            name: registry.choose_origin(name, *choose, reachable)
            for name in KNOWN.datasets_needed()
        }
        ORIGINS |= {
            name: registry.choose_weights(name, *choose, reachable)
            for name in KNOWN.weights_needed()
        }
    if workflow.is_main_process:
        # Records that something else has deleted, such as `dvc pull --force`, are no missing runs.
        if RUNS_JOBS:
            for line in merge.came_back(backup.settle(RECORDS)):
                print(f"epochcost: {line}", file=sys.stderr)
        elif gone := backup.gone(RECORDS):
            sys.exit(
                f"epochcost: {len(gone)} records are gone from {RECORDS}, such as the one of "
                f"{gone[0]}; a call that runs jobs brings them back"
            )
    PLAN = None if SENT else planning.plan(KNOWN, MACHINE, RECORDS, ORIGINS, TUNED, MARKERS)
    if CLOUD:
        configuration.check_cloud(KNOWN)
    prices.load(*PRICES, rates=KNOWN["exchange_rates"])
except (InputError, OSError) as error:
    sys.exit(f"epochcost: {one_line(error)}")

if KNOWN.left_out and workflow.is_main_process:
    print(f"epochcost: left out: {'; '.join(KNOWN.left_out)}", file=sys.stderr)


def rule_name(what, hardware):
    """The name of the rule for some hardware, such as train_gce_k80."""
    return f"{what}_{hardware.replace('-', '_').replace('.', '_')}"


def here(path):
    """A file that stays on this machine when others are sent."""
    return local(path) if CLOUD else path


def everything():
    """What a call without targets makes; with a bucket, that is only measuring."""
    if CLOUD:
        return measured
    return ["results/report.html", "results/quality.md", *pictures()]


def reports():
    """Whether this call asks for the report."""
    return any(job.rule.name == "report" for job in workflow.dag.jobs)


def own_models():
    """Checksums of the files of one's own workloads: rows of earlier ones are marked in tables."""
    return [recipe["code"] for recipe in KNOWN.recipes.values() if "code" in recipe]


def set_aside():
    """A line for each file that the analysis left out."""
    with open("results/tables/set_aside.csv", newline="") as file:
        return [
            f"epochcost: set aside: {row['path']} {row['reason']}" for row in csv.DictReader(file)
        ]


# The pictures of a workload: relative to the published baseline, and what a buyer looks at.
COMPARED = ["time", "cost"]
TO_CHOOSE_FROM = ["frontier", "bill", "history"]


def pictures():
    """The figures of every workload that has a baseline."""
    with open("data/published/baselines.csv", newline="") as file:
        compared = [row["workload"] for row in csv.DictReader(file) if row["scope"] == "all"]
    return expand(
        "results/figures/{workload}-{picture}.svg",
        workload=compared,
        picture=COMPARED + TO_CHOOSE_FROM,
    )
