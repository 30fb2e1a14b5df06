# Configuration, plan and the words that rules are written in.

import atexit
import csv
import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

# Jobs find the `python` that runs Snakemake, whether or not its environment is activated.
os.environ.update(PATH=f"{Path(sys.executable).parent}:{os.getenv('PATH', '')}")
sys.path.insert(0, str(Path(workflow.basedir, "scripts")))

from epochcost import configuration, files, frameworks, lock, planning, tuning
from epochcost.costs import prices
from epochcost.datasets import registry
from epochcost.errors import InputError, one_line
from epochcost.hardware import LOCAL, check_devices, check_machine
from epochcost.measurement import machine

RECORDS = Path("results/runs")
MARKERS = Path("results/made")
TUNING = Path("results/tuning")
TUNED = Path(workflow.basedir, "config/tuned.yaml")
RAW = Path("data/raw")
PRICES = [Path("data/published/prices.csv"), Path("config/prices.csv")]


# Whether trainings are on machines that share no folder with this one, and whether this is a job
# on one of them: it has what it was sent, and knows nothing of the plan.
CLOUD = workflow.storage_settings.default_storage_provider is not None
SENT = CLOUD and not workflow.is_main_process

# Bad input ends here with one line, before a graph of jobs is built.
try:
    KNOWN = configuration.load(config, Path(workflow.basedir))
    MACHINE = machine.describe()
    choose = (KNOWN.datasets, KNOWN["data"]["source"], KNOWN.mirror, RAW)
    ORIGINS = {}
    if not SENT:
        ORIGINS |= {name: registry.choose_origin(name, *choose) for name in KNOWN.datasets_needed()}
        ORIGINS |= {name: registry.choose_weights(name, *choose) for name in KNOWN.weights_needed()}
    PLAN = None if SENT else planning.plan(KNOWN, MACHINE, RECORDS, ORIGINS, TUNED)
    if CLOUD:
        configuration.check_cloud(KNOWN)
    if workflow.is_main_process:
        # Beside a job elsewhere its record may be under way.
        PLAN.drop_stale_markers(RECORDS, MARKERS)
    tuning.drop_stale_markers(TUNED, TUNING)
    prices.load(*PRICES, rates=KNOWN["exchange_rates"])
    if prices.is_file(KNOWN["price_book"]):
        prices.load(Path(KNOWN["price_book"]), rates=KNOWN["exchange_rates"])
    configuration.check_legacy(KNOWN["frameworks"], Path(".venvs"))
except (InputError, OSError) as error:
    sys.exit(f"epochcost: {one_line(error)}")

for origin in ORIGINS.values():
    if origin.notice:
        print(f"epochcost: {origin.notice}", file=sys.stderr)


def rule_name(what, hardware):
    """The name of a hardware's own rule, such as train_gce_k80."""
    return f"{what}_{hardware.replace('-', '_').replace('.', '_')}"


def here(path):
    """A file that stays on this machine where others travel."""
    return local(path) if CLOUD else path


def everything():
    """What a call without targets makes. With a bucket that is measuring alone."""
    if CLOUD:
        return measured
    return ["results/report.html", "results/quality.md", "results/audit.md", *pictures()]


def missing_of(hardware):
    """A pattern that matches no run of a hardware that is there."""
    return planning.NEVER if SENT else PLAN.workload_pattern(hardware)


def record_in_bucket(hardware, wildcards):
    """Where a training on a rented machine leaves its record."""
    dataset = KNOWN.workloads[wildcards.workload]["dataset"]
    asked = [MACHINE["id"], str(Path.cwd()), KNOWN["scale"], training_options()]
    plan = hashlib.sha256("\n".join(asked).encode()).hexdigest()[:8]
    return (
        f"runs/{plan}/{dataset}-{ORIGINS[dataset].kind}/{hardware}/{wildcards.workload}/"
        f"{wildcards.framework}/{wildcards.variant}-{wildcards.trial}.json"
    )


def trains():
    """Whether this call has trainings to make."""
    return any(job.rule.name.startswith("train_") for job in workflow.dag.needrun_jobs())


def reports():
    """Whether this call asks for the report."""
    return any(job.rule.name == "report" for job in workflow.dag.jobs)


# Executors that rent a machine from the provider of the hardware; others use machines that stand.
RENTING = ("googlebatch", "aws-batch")


def refuse_retired_hardware():
    """End the run before its first job, if its provider rents the hardware no more."""
    if not workflow.local_exec and workflow.executor_plugin.name not in RENTING:
        return
    for name in hardware_to_train():
        if "retired" in KNOWN.hardware[name] and not is_here(name):
            # Imported where it is needed: it takes a fifth of a second, which each job would pay.
            from epochcost.costs import market, successors

            offers = market.Market(prices.load(*PRICES, rates=KNOWN["exchange_rates"]))
            sys.exit(f"epochcost: {successors.refusal(name, KNOWN.hardware, offers)}")


def refuse_hardware_without_partition():
    """End the run before its first job, if Slurm would take a default partition for a training."""
    if workflow.local_exec or workflow.executor_plugin.name != "slurm":
        return
    for name in hardware_to_train():
        job = rule_name("train", name)
        if "slurm_partition" not in workflow.resource_settings.overwrite_resources.get(job, {}):
            sys.exit(f"epochcost: the profile gives {job} no slurm_partition under set-resources")


def hardware_to_train():
    """The hardware of the runs that are to be made."""
    return sorted({run.hardware for run in PLAN.missing})


def is_here(hardware):
    """Whether trainings run on this machine, and it is that hardware."""
    try:
        check_machine(hardware, Path(workflow.basedir, "config/hardware.yaml"), MACHINE)
    except InputError:
        return False
    return workflow.local_exec


def refuse_other_hardware():
    """End the run before its first job, if this machine is to train as hardware that it is not."""
    if not workflow.local_exec:
        return
    try:
        for name in hardware_to_train():
            check_machine(name, Path(workflow.basedir, "config/hardware.yaml"), MACHINE)
        for variant in sorted({run.variant for run in PLAN.missing}):
            check_devices(tuning.devices_of(variant), MACHINE)
    except InputError as error:
        sys.exit(f"epochcost: {one_line(error)}")


# What trainings wait for comes before any of them, so that they follow each other without a gap.
FIRST = 1_000_000


def priority_of(hardware, wildcards):
    """The higher, the sooner a training is started."""
    names = {**wildcards, "trial": int(wildcards.trial)}
    return PLAN.priority(planning.Run(hardware, **names))


def runs_of_round(number):
    """What stands for the runs of a round; which they are follows from the rounds before."""
    plan = planning.plan(KNOWN, MACHINE, RECORDS, ORIGINS, TUNED)
    return plan.files(plan.round(number), RECORDS, MARKERS)


def up_to_round(wildcards):
    """The runs of a round, and those before it."""
    number = int(wildcards.number)
    if number <= PLAN.runs:
        return PLAN.inputs(RECORDS, MARKERS)
    return [f"results/rounds/{number - 1}", *runs_of_round(number)]


def measured(wildcards):
    """What the analysis waits for: every record, also of rounds that are not planned yet."""
    show_plan()
    files = set(PLAN.inputs(RECORDS, MARKERS))
    if KNOWN["precision"]:
        number = PLAN.runs
        while more := runs_of_round(number):
            files |= set(more)
            checkpoints.round.get(number=number)
            number += 1
    return [here(path) for path in sorted(files)]


def arrays_of(workload):
    """The manifest of the arrays that a workload trains on."""
    dataset = KNOWN.workloads[workload]["dataset"]
    return f"data/arrays/{dataset}/{ORIGINS[dataset].kind}/manifest.json"


def weights_of(workload):
    """The description of the weights that a training starts from; none where it starts from random
    ones."""
    name = KNOWN.workloads[workload].get("weights")
    if name is None or ORIGINS[name].source == registry.RANDOM:
        return []
    return f"data/raw/{name}/complete.json"


def needs_of(hardware):
    """The files that trainings on a hardware wait for."""
    if hardware not in KNOWN["hardware"]:
        sys.exit(f"epochcost: nothing is to be trained on '{hardware}'")
    runs = [run for run in PLAN.possible if run.hardware == hardware]
    pairs = sorted({(run.workload, run.framework) for run in runs})
    files = [arrays_of(workload) for workload, _ in pairs]
    files += [weights_of(workload) for workload, _ in pairs if weights_of(workload)]
    markers = [environment_marker(framework, hardware) for _, framework in pairs]
    files += [marker for marker in markers if marker]
    files += [search for run in runs if (search := tuning_of(run))]
    return sorted(set(files))


def places_of(hardware):
    """Where trainings on a hardware find their data, weights and interpreters."""
    workloads = {
        workload: {"data": str(Path(arrays_of(workload)).parent), "weights": weights_of(workload)}
        for workload in KNOWN["workloads"]
    }
    pythons = {name: python_of(name, hardware) for name in KNOWN["frameworks"]}
    return {"workloads": workloads, "pythons": pythons}


def tuning_of(run):
    """The marker of the search that a tuned training waits for; none where its result is known."""
    if run.variant != tuning.TUNED or run.hardware != LOCAL:
        return None
    names = (run.workload, run.framework)
    known = tuning.settings_of(run.variant, TUNED, tuning.place_of(MACHINE), *names)
    return tuning_marker(*names) if known is None else None


def tuning_marker(workload, framework):
    """The file that says that a framework was tuned for a workload on this machine."""
    return f"{TUNING}/{tuning.place_of(MACHINE)}/{workload}/{framework}/tuned"


def tunings():
    """The markers of everything that is configured."""
    return [
        tuning_marker(workload, framework)
        for workload in KNOWN["workloads"]
        for framework in KNOWN.frameworks_of(workload)
    ]


def training_options():
    """The options of every training: seed, and batch size and time limit where configured."""
    options = [f"--seed {KNOWN['seed']}"]
    if KNOWN["batch_size"]:
        options.append(f"--batch-size {KNOWN['batch_size']}")
    if KNOWN["stage"] and not CLOUD:
        options.append(f"--stage {shlex.quote(KNOWN['stage'])}")
    if KNOWN["time_limit_hours"]:
        options.append(f"--time-limit {KNOWN['time_limit_hours'] * 3600:g}")
    return " ".join(options)


def weights_option(files):
    """The option for weights to start from, where there are any."""
    return f"--weights {files}" if files else ""


def code_of(room):
    """The Python files of a room of the package: what a rule's result depends on."""
    return sorted(str(path) for path in Path("scripts/epochcost", room).glob("*.*"))


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


# With --sdm conda Snakemake makes the same pins from envs/<name>.yaml, and jobs find `python` there.
USES_CONDA = any(
    str(method) == "conda" for method in workflow.deployment_settings.deployment_method
)


def has_gpu(hardware):
    """Whether trainings on this hardware use a GPU."""
    return bool(MACHINE["gpus"]) if hardware == LOCAL else "gpu" in KNOWN.hardware[hardware]


def environment_of(framework, hardware):
    """The environment that a framework trains in: its family, for CPU or for GPU."""
    family = frameworks.FRAMEWORKS[framework].environment
    if frameworks.FRAMEWORKS[framework].legacy:
        return family
    return f"{family}-gpu" if has_gpu(hardware) else f"{family}-cpu"


def conda_file(framework, hardware):
    """The same for conda; a framework of 2017 is started from the workflow's own."""
    if frameworks.FRAMEWORKS[framework].legacy:
        return "../envs/workflow.yaml"
    return f"../envs/{environment_of(framework, hardware)}.yaml"


def conda_of_trainings(hardware):
    """What `conda:` is for trainings; without --sdm conda it is not asked for each of them."""
    if not USES_CONDA:
        return "../envs/workflow.yaml"
    return lambda wildcards: conda_file(wildcards.framework, hardware)


def own_python(framework):
    """The interpreter that the configuration names for a framework, if it names one."""
    return KNOWN["python"].get(frameworks.FRAMEWORKS[framework].environment)


def environment_marker(framework, hardware):
    """The file that says that a framework's environment is ready; none where others care for it."""
    if USES_CONDA or own_python(framework):
        return []
    return f".venvs/{environment_of(framework, hardware)}/ready"


def python_of(framework, hardware):
    """The interpreter that trains."""
    if own_python(framework):
        return own_python(framework)
    if USES_CONDA or frameworks.FRAMEWORKS[framework].legacy:
        return "python"  # of the workflow; a legacy framework finds its own
    return f".venvs/{environment_of(framework, hardware)}/bin/python"


def environments_needed():
    """The environments of everything that is configured."""
    return {
        environment_of(framework, hardware)
        for hardware in KNOWN["hardware"]
        for workload in KNOWN["workloads"]
        for framework in KNOWN.frameworks_of(workload)
        if not own_python(framework)
    }


def source_of(dataset):
    """Where the files of a data set come from: mirror or canonical, also if no workload needs it."""
    if dataset in ORIGINS:
        return ORIGINS[dataset].source
    return "mirror" if KNOWN.mirror else "canonical"


def files_of_arrays(wildcards):
    """What arrays are prepared from; generated ones need nothing."""
    if wildcards.kind == "synthetic":
        return []
    return here(f"data/raw/{wildcards.dataset}/{wildcards.kind}.json")


def threads_of(hardware):
    """All cores of the hardware: a training shares its machine with no other job."""
    return KNOWN.hardware[hardware].get("vcpus", MACHINE["usable_cores"])


def precision_option():
    """The option that says how precise the medians were to be, where that is configured."""
    return f"--precision {KNOWN['precision']}" if KNOWN["precision"] else ""


def disturbed_option():
    """The option to let disturbed runs count."""
    return "--keep-disturbed" if KNOWN["keep_disturbed"] else ""


def local_price():
    """The price of this machine as options, empty when it is not known."""
    hourly, kind = KNOWN["price"]["per_hour_usd"], KNOWN["price"]["kind"]
    if KNOWN["owned"]:
        hourly, kind = prices.Owned(**KNOWN["owned"]).per_hour_usd(), prices.OWNED
    return "" if hourly is None else f"--local-price {hourly} --local-price-kind {kind}"


def assignments(section):
    """A section of the configuration as `key=value,key=value`."""
    return ",".join(f"{key}={value}" for key, value in KNOWN[section].items())


def rental_option():
    """The option of what is paid for beside a training."""
    return f"--rental {assignments('billing')}"


def exchange_option():
    """The option of currencies, where there are any."""
    return f"--exchange-rates {assignments('exchange_rates')}" if KNOWN["exchange_rates"] else ""


def spot_options():
    """The options of interruptions."""
    rates = " ".join(str(rate) for rate in KNOWN["spot"]["interruptions_per_hour"])
    return f"--spot-rates {rates} --spot-wait {KNOWN['spot']['wait_s']}"


def plan_table():
    """A table of the runs that are still to be made, as CSV."""
    lines = [",".join(map(str, vars(run).values())) for run in PLAN.missing]
    return "\n".join(["hardware,workload,framework,variant,trial", *lines, ""])


def plan_file():
    """The same as a file."""
    path = Path("results/plan.csv")
    files.write_text(path, plan_table())
    return str(path)


@cache
def show_plan():
    """Say after a dry run what it would train where, and what that would cost."""
    if not (workflow.output_settings.dryrun and PLAN.missing):
        return
    command = f"python scripts/estimate.py /dev/stdin {estimate_options()}"
    with tempfile.TemporaryFile("w+") as table:
        table.write(plan_table())
        table.seek(0)
        # It is made while Snakemake builds its graph.
        process = subprocess.Popen(
            shlex.split(command), stdin=table, stdout=subprocess.PIPE, text=True
        )
    atexit.register(lambda: print(f"The plan, and its cost:\n{process.stdout.read()}", end=""))


def price_options():
    """The options of the prices that things are counted with."""
    options = [
        f"--prices {PRICES[1]} --price-book {shlex.quote(KNOWN['price_book'])}",
        local_price(),
        rental_option(),
        exchange_option(),
        f"--machine {MACHINE['id']}",
    ]
    return " ".join(option for option in options if option)


def estimate_options():
    """The options of what a plan would cost."""
    return f"--scale {KNOWN['scale']} {price_options()}"


def refuse_dear_plan():
    """End the run before its first job, if it would cost more than `max_cost_usd`."""
    if KNOWN["max_cost_usd"] is None:
        return
    command = f"python scripts/estimate.py {plan_file()} {estimate_options()}"
    command += f" --most {KNOWN['max_cost_usd']}"
    done = subprocess.run(shlex.split(command), capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip() or f"epochcost: {command} failed")
    print(f"epochcost: {done.stdout.strip()}", file=sys.stderr)


def schedule_options():
    """What is measured again by the clock, as options."""
    wanted = KNOWN["schedule"]
    for key in ("hardware", "up", "repository", "records"):
        if not wanted[key]:
            sys.exit(
                f"epochcost: config: schedule: {key} is empty; config/config.yaml says what it is"
            )
    options = [wanted["hardware"]]
    for key in ("every", "up", "repository", "records", "image"):
        options.append(f"--{key} {shlex.quote(str(wanted[key]))}")
    for key in ("disk_gib", "disk_usd_per_gib_month", "rule_usd_per_month"):
        options.append(f"--{key.replace('_', '-')} {wanted[key]}")
    chosen = [f"{key}={','.join(KNOWN[key])}" for key in ("workloads", "frameworks", "variants")]
    return " ".join([*options, "--arguments", *chosen, f"scale={KNOWN['scale']}"])


def question():
    """What is asked of the advice, as options."""
    options = {
        "workload": KNOWN["workload"] or " ".join(KNOWN["workloads"]),
        "deadline": KNOWN["deadline"],
        "budget": KNOWN["budget"],
    }
    return " ".join(
        f"--{name} {value if name == 'workload' else shlex.quote(str(value))}"
        for name, value in options.items()
        if value is not None
    )


def own_book():
    """The price file of one's own, where one is configured."""
    return KNOWN["price_book"] if prices.is_file(KNOWN["price_book"]) else []
