# Tables -> figures: of each workload time and cost by machine, and what a buyer looks at; and what
# training cost in 2017 and costs now.


rule figure:
    input:
        multiext("results/tables/", "relative.csv", "options.csv"),
        baselines="data/published/baselines.csv",
        order="config/hardware.yaml",
        code=sources_of("figure"),
    output:
        picture("{workload}", "machines", "Time and cost by machine"),
        picture("{workload}", "frontier", "What there is to choose from"),
        picture("{workload}", "bill", "What the bills are made of"),
        "results/figures/{workload}-machines-narrow.svg",
        expand("results/figures/{{workload}}-{picture}.png", picture=PICTURES),
    log:
        "logs/figures/{workload}.log",
    wildcard_constraints:
        workload="[a-z0-9_]+",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        settings=KNOWN.part("figure"),
        machine=MACHINE.id,  # which is named
    message:
        "Drawing {wildcards.workload}"
    shell:
        "python scripts/figure.py {wildcards.workload:q} --settings {params.settings:q} "
        "> {log:q} 2>&1"


rule history:
    input:
        "results/tables/history.csv",
        code=sources_of("figure"),
    output:
        picture("all workloads", "history", "What changed since 2017", stem="history"),
        "results/figures/history-narrow.svg",
        expand("results/figures/{picture}.png", picture=["history", "history-narrow"]),
    log:
        "logs/figures/history.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    message:
        "Drawing what changed since 2017"
    shell:
        "python scripts/figure.py history > {log:q} 2>&1"


rule figures:
    """Draw the figures."""
    input:
        pictures(),
    localrule: True
    message:
        "The figures are made"
