# The fastest settings of a framework for a workload on this machine -> config/tuned.yaml.


rule tune_one:
    input:
        data=lambda wildcards: NEEDS.arrays(wildcards.workload),
        weights=lambda wildcards: NEEDS.weights(wildcards.workload),
        environment=lambda wildcards: NEEDS.ready(wildcards.framework, LOCAL),
    output:
        touch(
            f"results/tuning/{tuning.place_of(MACHINE)}/{{workload}}/{{framework}}/tuned-{{what}}"
        ),
    log:
        "logs/tune/{workload}/{framework}-{what}.log",
    wildcard_constraints:
        workload="[a-z0-9_]+",
        framework="[a-z0-9-]+",
        what="[0-9a-f]{8}-[a-z]+(-[0-9]+)?",
    priority: FIRST
    localrule: True
    conda:
        "../envs/workflow.yaml"
    threads: threads_of(LOCAL)
    params:
        python=lambda wildcards: NEEDS.python(wildcards.framework, LOCAL),
        data=lambda wildcards: Path(NEEDS.arrays(wildcards.workload)).parent,
        weights=lambda wildcards, input: [f"--weights={path}" for path in input.weights],
    message:
        "Tuning {wildcards.framework} for {wildcards.workload} (log: {log})"
    shell:
        "python scripts/tune.py {wildcards.workload:q} {wildcards.framework:q} "
        "--python {params.python:q} --data {params.data:q} {params.weights:q} 2>&1 | tee {log:q}"


rule tune:
    """Search for the fastest settings on this machine."""
    input:
        lambda wildcards: NEEDS.searches(),
    localrule: True
    message:
        "Everything configured is tuned"
