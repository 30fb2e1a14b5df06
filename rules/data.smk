# Archives -> verified files -> arrays.


rule fetch:
    output:
        here("data/raw/{dataset}/{kind}.json"),
    log:
        here("logs/fetch/{dataset}-{kind}.log"),
    wildcard_constraints:
        kind="complete|subset",
    priority: FIRST
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        source=lambda wildcards: source_of(wildcards.dataset),
        # Another edition in config/datasets.yaml is fetched and prepared again.
        checksums=lambda wildcards: checksums_of(wildcards.dataset, wildcards.kind),
    message:
        "Fetching {wildcards.dataset} ({params.source})"
    shell:
        "python scripts/fetch.py {wildcards.dataset} --kind {wildcards.kind} "
        "--source {params.source} 2>&1 | tee {log}"


rule prepare:
    input:
        files_of_arrays,
    output:
        here("data/arrays/{dataset}/{kind}/manifest.json"),
    log:
        here("logs/prepare/{dataset}-{kind}.log"),
    wildcard_constraints:
        kind="complete|subset|synthetic",
    priority: FIRST
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        # Arrays that other code prepared are prepared again.
        code=lambda wildcards: preparation_code_of(wildcards.dataset),
    message:
        "Preparing the arrays of {wildcards.dataset} ({wildcards.kind})"
    shell:
        "python scripts/prepare.py {wildcards.dataset} --kind {wildcards.kind} 2>&1 | tee {log}"


rule data:
    input:
        lambda wildcards: [here(arrays_of(workload)) for workload in KNOWN["workloads"]],
    localrule: True
    message:
        "The data are ready"
