# One training rule per hardware, for the runs that are missing: train_local, train_gce_k80, ...
# Those that come first in the plan's order have the highest priority.
#
# The output is a marker. The record is written by the training itself and is the output of no rule:
# Snakemake deletes outputs before a job and after a failure, and a record is never deleted. A rule
# matches the missing runs alone (planning.Plan.workload_pattern), so nothing is made again.


for hardware in KNOWN["hardware"]:

    rule:
        name:
            f"train_{hardware.replace('-', '_').replace('.', '_')}"
        input:
            data=lambda wildcards: arrays_of(wildcards.workload),
            weights=lambda wildcards: weights_of(wildcards.workload),
            tuned=lambda wildcards, hardware=hardware: tuning_of(
                wildcards.variant, wildcards.workload, wildcards.framework, hardware
            ),
            environment=lambda wildcards, hardware=hardware: environment_marker(
                wildcards.framework, hardware
            ),
        output:
            touch(f"results/made/{hardware}/{{workload}}/{{framework}}/{{variant}}-{{trial}}"),
        log:
            f"logs/train/{hardware}/{{workload}}/{{framework}}/{{variant}}-{{trial}}.log",
        wildcard_constraints:
            workload=PLAN.workload_pattern(hardware),
            framework="[a-z0-9-]+",
            variant="[a-z0-9_]+",
            trial="[0-9]+",
        priority: lambda wildcards, hardware=hardware: priority_of(hardware, wildcards)
        conda:
            lambda wildcards, hardware=hardware: conda_file(wildcards.framework, hardware)
        threads: threads_of(hardware)
        params:
            python=lambda wildcards, hardware=hardware: python_of(wildcards.framework, hardware),
            data=lambda wildcards: Path(arrays_of(wildcards.workload)).parent,
            weights=lambda wildcards, input: weights_option(input.weights),
            hardware=hardware,
            scale=KNOWN["scale"],
            seed=KNOWN["seed"],
            batch_size=batch_size_option(),
            time_limit=time_limit_option(),
        message:
            "Training {wildcards.workload} with {wildcards.framework} on {params.hardware}, "
            "trial {wildcards.trial} ({params.scale})"
        shell:
            "{params.python} scripts/train.py {wildcards.workload} {wildcards.framework} "
            "--hardware {params.hardware} --variant {wildcards.variant} "
            "--trial {wildcards.trial} --scale {params.scale} --seed {params.seed} "
            "--data {params.data} {params.weights} {params.batch_size} {params.time_limit} "
            "> {log} 2>&1"


# With `precision`, a round is trained after the one before, for what is not yet precise enough.
checkpoint round:
    input:
        up_to_round,
    output:
        touch("results/rounds/{number}"),
    wildcard_constraints:
        number="[0-9]+",
    localrule: True


rule measure:
    input:
        measured,
    localrule: True


# What this machine can do, beside the short look before each run. A GPU is measured with PyTorch.
rule calibrate:
    input:
        environment_marker("pytorch", LOCAL) if has_gpu(LOCAL) else [],
    log:
        "logs/calibrate.log",
    localrule: True
    conda:
        conda_file("pytorch", LOCAL)
    threads: threads_of(LOCAL)
    params:
        python=python_of("pytorch", LOCAL) if has_gpu(LOCAL) else "python",
    message:
        "Measuring for about a minute what this machine can do"
    shell:
        "{params.python} scripts/calibrate.py 2>&1 | tee {log}"
