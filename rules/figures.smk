# Tables -> figures of each workload: time and cost by machine; what a buyer looks at.


rule figure:
    input:
        multiext("results/tables/", "relative.csv", "options.csv", "history.csv", "runs.csv"),
        baselines="data/published/baselines.csv",
        order="config/hardware.yaml",
        code=sources_of("figure"),
    output:
        compared=report(
            expand("results/figures/{{workload}}-{picture}.svg", picture=COMPARED),
            category="Relative to the K80 with TensorFlow",
            subcategory="{workload}",
        ),
        costs=report(
            expand("results/figures/{{workload}}-{picture}.svg", picture=TO_CHOOSE_FROM),
            category="What it costs",
            subcategory="{workload}",
        ),
        png=expand("results/figures/{{workload}}-{picture}.png", picture=COMPARED + TO_CHOOSE_FROM),
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


rule figures:
    """Draw the figures."""
    input:
        pictures(),
    localrule: True
    message:
        "The figures are made"
