# Tables -> figures, two per workload: time and cost over the K80 baseline.


rule figure:
    input:
        table="results/tables/relative.csv",
        baselines="data/published/baselines.csv",
        titles="config/workloads.yaml",
        order="config/hardware.yaml",
        code=["scripts/figure.py", code_of("figures")],
    output:
        svg=report(
            expand("results/figures/{{workload}}-{quantity}.svg", quantity=["time", "cost"]),
            caption="captions/figure.rst",
            category="Relative to the K80 with TensorFlow",
            subcategory="{workload}",
        ),
        png=expand("results/figures/{{workload}}-{quantity}.png", quantity=["time", "cost"]),
    log:
        "logs/figures/{workload}.log",
    wildcard_constraints:
        workload="[a-z0-9_]+",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    message:
        "Drawing {wildcards.workload}"
    shell:
        "python scripts/figure.py {wildcards.workload} > {log} 2>&1"


# What a buyer looks at: the options, a bill in its parts, the history.
rule figure_costs:
    input:
        multiext("results/tables/", "options.csv", "history.csv", "runs.csv"),
        baselines="data/published/baselines.csv",
        titles="config/workloads.yaml",
        code=["scripts/figure_costs.py", code_of("figures"), "scripts/epochcost/costs/history.py"],
    output:
        svg=report(
            expand(
                "results/figures/{{workload}}-{picture}.svg",
                picture=["frontier", "bill", "history"],
            ),
            caption="captions/figure_costs.rst",
            category="What it costs",
            subcategory="{workload}",
        ),
        png=expand(
            "results/figures/{{workload}}-{picture}.png", picture=["frontier", "bill", "history"]
        ),
    log:
        "logs/figures/{workload}-costs.log",
    wildcard_constraints:
        workload="[a-z0-9_]+",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        rental=rental_option(),
    message:
        "Drawing what {wildcards.workload} costs"
    shell:
        "python scripts/figure_costs.py {wildcards.workload} {params.rental} > {log} 2>&1"


rule figures:
    input:
        pictures(),
    localrule: True
