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


rule figures:
    input:
        pictures(),
    localrule: True
