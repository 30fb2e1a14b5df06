# One training rule per hardware, for the missing runs: train_local, train_gce_k80, ...
# Those that come first in the plan's order have the highest priority.
#
# The output is a marker. The record is written by the training itself and is the output of no rule:
# Snakemake deletes outputs before a job and after a failure, and a record is never deleted. A rule
# matches no existing run (planning.Plan.pattern), so nothing is made again.
#
# With ten thousand trainings, each word of the rule is formatted ten thousand times, so it has few.


# Everything that trainings on the hardware wait for, and where: arrays, weights, interpreters.
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
        places=lambda wildcards: json.dumps(NEEDS.places(wildcards.hardware)),
    message:
        "Everything that trainings on {wildcards.hardware} need is there"
    shell:
        "printf '%s\\n' {params.places:q} > {output:q} 2> {log:q}"


for hardware in KNOWN.hardware:

    rule:
        name:
            rule_name("train", hardware)
        input:
            ready=f"results/ready/{hardware}.json",
        output:
            touch(f"results/made/{hardware}/{{run}}"),
        log:
            f"logs/train/{hardware}/{{run}}.log",
        wildcard_constraints:
            run=missing_of(hardware),
        priority: lambda wildcards, hardware=hardware: PLAN.priority(hardware, wildcards.run)
        conda:
            conda_of_trainings(hardware)
        threads: lambda wildcards, hardware=hardware: threads_of(hardware)
        resources:
            **resources_of(hardware),
        params:
            settings=json.dumps(NEEDS.settings(hardware)),
            place=lambda wildcards, hardware=hardware: PLAN.place(hardware, wildcards.run),
        message:
            "Training {wildcards.run} ({params.place})"
        shell:
            "python scripts/start.py {input.ready:q} {wildcards.run:q} --settings {params.settings:q} "
            "--signs 3 3>&1 > {log:q} 2>&1"
