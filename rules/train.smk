# One training rule per hardware, for the runs that are missing: train_local, train_gce_k80, ...
# Those that come first in the plan's order have the highest priority.
#
# The output is a marker. The record is written by the training itself and is the output of no rule:
# Snakemake deletes outputs before a job and after a failure, and a record is never deleted. A rule
# matches no run that is there (planning.Plan.workload_pattern), so nothing is made again.


# All that trainings on a hardware wait for, and where it is: arrays, weights, interpreters.
rule ready:
    input:
        lambda wildcards: needs_of(wildcards.hardware),
    output:
        "results/ready/{hardware}.json",
    log:
        "logs/ready/{hardware}.log",
    priority: FIRST
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        places=lambda wildcards: json.dumps(places_of(wildcards.hardware)),
    shell:
        "printf '%s\\n' {params.places:q} > {output} 2> {log}"


for hardware in KNOWN["hardware"]:

    rule:
        name:
            rule_name("train", hardware)
        input:
            ready=f"results/ready/{hardware}.json",
        output:
            touch(f"results/made/{hardware}/{{workload}}/{{framework}}/{{variant}}-{{trial}}"),
        log:
            f"logs/train/{hardware}/{{workload}}/{{framework}}/{{variant}}-{{trial}}.log",
        wildcard_constraints:
            workload=missing_of(hardware),
            framework="[a-z0-9-]+",
            variant="[a-z0-9_]+",
            trial="[0-9]+",
        priority: lambda wildcards, hardware=hardware: priority_of(hardware, wildcards)
        conda:
            conda_of_trainings(hardware)
        threads: threads_of(hardware)
        params:
            hardware=hardware,
            scale=KNOWN["scale"],
            options=training_options(),
        message:
            "Training {wildcards.workload} with {wildcards.framework} on {params.hardware}, "
            "trial {wildcards.trial} ({params.scale})"
        shell:
            "python scripts/start.py {input.ready} {wildcards.workload} {wildcards.framework} "
            "--hardware {params.hardware} --variant {wildcards.variant} "
            "--trial {wildcards.trial} --scale {params.scale} {params.options} > {log} 2>&1"
