# Archives -> verified files -> arrays.


rule fetch:
    output:
        here("data/raw/{dataset}/{kind}.json"),
    log:
        here("logs/fetch/{dataset}-{kind}.log"),
    wildcard_constraints:
        dataset="[a-z0-9-]+",
        kind="complete|subset",
    priority: FIRST
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        source=lambda wildcards: NEEDS.source(wildcards.dataset),
        # Another edition in config/datasets.yaml is fetched and prepared again.
        checksums=lambda wildcards: NEEDS.checksums(wildcards.dataset, wildcards.kind),
    message:
        "Fetching {wildcards.dataset} ({params.source})"
    shell:
        "python scripts/fetch.py {wildcards.dataset:q} --kind {wildcards.kind:q} "
        "--source {params.source:q} 2>&1 | tee {log:q}"


rule prepare:
    input:
        files_of_arrays,
    output:
        here("data/arrays/{dataset}/{kind}/manifest.json"),
    log:
        here("logs/prepare/{dataset}-{kind}.log"),
    wildcard_constraints:
        dataset="[a-z0-9-]+",
        kind="complete|subset|synthetic",
    priority: FIRST
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        # Arrays that other code prepared are prepared again.
        code=lambda wildcards: preparation.code_of(KNOWN.lists.preparation_of(wildcards.dataset)),
    message:
        "Preparing the arrays of {wildcards.dataset} ({wildcards.kind})"
    shell:
        "python scripts/prepare.py {wildcards.dataset:q} --kind {wildcards.kind:q} "
        "2>&1 | tee {log:q}"


rule data:
    """Fetch and prepare the data."""
    input:
        lambda wildcards: [here(NEEDS.arrays(workload)) for workload in KNOWN.workloads],
    localrule: True
    message:
        "The data are ready"
