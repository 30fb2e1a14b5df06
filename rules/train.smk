# One training rule per hardware, for the runs that are missing: train_local, train_gce_k80, ...
#
# A record that is there is no output of any rule (see planning.Plan.workload_pattern), so nothing
# can delete it or make it again.


for hardware in KNOWN["hardware"]:

    rule:
        name:
            f"train_{hardware.replace('-', '_').replace('.', '_')}"
        input:
            data=lambda wildcards: arrays_of(wildcards.workload),
            environment=lambda wildcards, hardware=hardware: environment_marker(
                wildcards.framework, hardware
            ),
        output:
            f"results/runs/{hardware}/{{workload}}/{{framework}}/{{variant}}-{{trial}}.json",
        log:
            f"logs/train/{hardware}/{{workload}}/{{framework}}/{{variant}}-{{trial}}.log",
        wildcard_constraints:
            workload=PLAN.workload_pattern(hardware),
            framework="[a-z0-9-]+",
            variant="[a-z0-9_]+",
            trial="[0-9]+",
        conda:
            lambda wildcards, hardware=hardware: (
                f"../envs/{environment_of(wildcards.framework, hardware)}.yaml"
            )
        threads: threads_of(hardware)
        params:
            python=lambda wildcards, hardware=hardware: python_of(wildcards.framework, hardware),
            data=lambda wildcards: Path(arrays_of(wildcards.workload)).parent,
            hardware=hardware,
            scale=KNOWN["scale"],
            seed=KNOWN["seed"],
        message:
            "Training {wildcards.workload} with {wildcards.framework} on {params.hardware}, "
            "trial {wildcards.trial} ({params.scale})"
        shell:
            "{params.python} scripts/train.py {wildcards.workload} {wildcards.framework} "
            "--hardware {params.hardware} --variant {wildcards.variant} "
            "--trial {wildcards.trial} --scale {params.scale} --seed {params.seed} "
            "--data {params.data} --record {output} > {log} 2>&1"


rule measure:
    input:
        [str(path) for path in PLAN.paths(RECORDS)],
    localrule: True
