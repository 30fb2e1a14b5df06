# What a training needs: data, weights, settings, options.

import json
from functools import cache


@cache
def say_origins():
    """Say, in a call that needs data, which of them are not the real and complete ones, and why."""
    for origin in ORIGINS.values():
        if origin.notice:
            print(f"epochcost: {origin.notice}", file=sys.stderr)


def arrays_of(workload):
    """The manifest of the arrays that a workload trains on."""
    dataset = KNOWN.recipes_to_train[workload]["dataset"]
    return f"data/arrays/{dataset}/{ORIGINS[dataset].kind}/manifest.json"


def weights_of(workload):
    """The description of the weights that a training starts from; none if they are random."""
    name = KNOWN.recipes_to_train[workload].get("weights")
    if name is None or ORIGINS[name].source == registry.RANDOM:
        return []
    return f"data/raw/{name}/complete.json"


def source_of(dataset):
    """Where a data set's files come from: mirror or canonical, even if no workload needs it."""
    if dataset in ORIGINS:
        return ORIGINS[dataset].source
    return "mirror" if KNOWN.mirror else "canonical"


def checksums_of(dataset, kind):
    """The checksums of the files of a data set, by config/datasets.yaml."""
    archives = registry.archives(dataset, KNOWN.datasets)
    return [file.sha256 for archive in archives if archive.kind == kind for file in archive.files]


def preparation_code_of(dataset):
    """A checksum of the code that prepares a data set."""
    return preparation.code_of(KNOWN.preparation_of(dataset))


def files_of_arrays(wildcards):
    """What arrays are prepared from; generated ones need nothing."""
    say_origins()
    if wildcards.kind == "synthetic":
        return []
    return here(f"data/raw/{wildcards.dataset}/{wildcards.kind}.json")


def threads_of(hardware):
    """All cores of the hardware: a training shares its machine with no other job."""
    if workflow.is_main_process and workflow.local_exec:
        # Snakemake cuts this down to --cores, and knows no quota of a container.
        return MACHINE.logical_cores
    return KNOWN.catalogue[hardware].get("vcpus", MACHINE.usable_cores)


def needs_of(hardware):
    """The files that trainings on the hardware wait for."""
    say_origins()
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
    """Where trainings on the hardware find their data, weights and interpreters, as JSON."""
    workloads = {
        workload: {"data": str(Path(arrays_of(workload)).parent), "weights": weights_of(workload)}
        for workload in KNOWN["workloads"]
    }
    pythons = {name: python_of(name, hardware) for name in KNOWN["frameworks"]}
    return json.dumps({"workloads": workloads, "pythons": pythons})


def tuning_of(run):
    """The marker of the search that a tuned training waits for; none if its result is known."""
    if run.variant != variants.TUNED or run.hardware != LOCAL:
        return None
    case = planning.case(KNOWN, ORIGINS, tuning.place_of(MACHINE), run.workload, run.framework)
    known = tuning.settings_of(run.variant, TUNED, case)
    return tuning_marker(run.workload, run.framework) if known is None else None


def tuning_marker(workload, framework):
    """The file that says that a framework was tuned for a workload on this machine."""
    case = planning.case(KNOWN, ORIGINS, tuning.place_of(MACHINE), workload, framework)
    return str(tuning.marker(case, TUNED, TUNING))


def tunings():
    """The markers of everything that is configured."""
    return [
        tuning_marker(workload, framework)
        for workload in KNOWN["workloads"]
        for framework in KNOWN.frameworks_of(workload)
    ]


def settings_of_trainings(hardware):
    """The options of every training on some hardware, by name (scripts/train.py)."""
    hours = KNOWN["time_limit_hours"]
    options = {
        "hardware": hardware,
        "scale": KNOWN["scale"],
        "seed": KNOWN["seed"],
        "batch_size": KNOWN["batch_size"],
        "stage": None if CLOUD else KNOWN["stage"],
        "time_limit": hours and hours * 3600,
    }
    return {name: value for name, value in options.items() if value not in (None, "")}


def weights_option(files):
    """The option for weights to start from, where there are any."""
    return [f"--weights={files}"] if files else []
