# The interpreter of each framework.

from epochcost import frameworks

# With --sdm conda, Snakemake installs the same pins by envs/<name>.yaml; jobs find `python` there.
USES_CONDA = any(
    str(method) == "conda" for method in workflow.deployment_settings.deployment_method
)
if USES_CONDA:
    variables.ignore_user_packages()


def has_gpu(hardware):
    """Whether trainings on this hardware use a GPU."""
    return bool(MACHINE.gpus) if hardware == LOCAL else "gpu" in KNOWN.catalogue[hardware]


def environment_of(framework, hardware):
    """The environment that a framework trains in: its family, for CPU or for GPU, or this one."""
    family = frameworks.FRAMEWORKS[framework].environment
    if not family:
        return "workflow"
    return f"{family}-gpu" if has_gpu(hardware) else f"{family}-cpu"


def conda_file(framework, hardware):
    """What conda makes the environment from."""
    return f"../envs/{environment_of(framework, hardware)}.yaml"


def conda_of_trainings(hardware):
    """What `conda:` is for trainings; without --sdm conda it is not evaluated for each of them."""
    if not USES_CONDA:
        return "../envs/workflow.yaml"
    return lambda wildcards: conda_file(RunName.on(hardware, wildcards.run).framework, hardware)


def own_python(framework, hardware):
    """The interpreter that the configuration names for a framework, if it names one."""
    python = KNOWN["python"].get(frameworks.FRAMEWORKS[framework].environment)
    return python and python.replace("DEVICE", "gpu" if has_gpu(hardware) else "cpu")


def environment_marker(framework, hardware):
    """The file that says that a framework's environment is ready; none if managed elsewhere."""
    own = own_python(framework, hardware)
    if USES_CONDA or own or environment_of(framework, hardware) == "workflow":
        return []
    return f".venvs/{environment_of(framework, hardware)}/ready"


def python_of(framework, hardware):
    """The interpreter that trains."""
    if own_python(framework, hardware):
        return own_python(framework, hardware)
    if USES_CONDA or environment_of(framework, hardware) == "workflow":
        return "python"
    return f".venvs/{environment_of(framework, hardware)}/bin/python"


def environments_needed():
    """The environments of everything that is configured."""
    return {
        environment_of(framework, hardware)
        for hardware in KNOWN["hardware"]
        for workload in KNOWN["workloads"]
        for framework in KNOWN.frameworks_of(workload)
        if not own_python(framework, hardware)
    } - {"workflow"}
