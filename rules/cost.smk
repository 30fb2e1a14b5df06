# Records + published measurements + price book -> tables.

TABLES = [
    "runs",
    "epochs",
    "costs",
    "relative",
    "options",
    "frontier",
    "spot",
    "history",
    "quality",
    "repeats",
    "comparisons",
    "predictions",
    "noise",
]


rule tables:
    input:
        records=measured,
        published=multiext("data/published/", "measurements.csv", "prices.csv", "baselines.csv"),
        prices="config/prices.csv",
        own_prices=own_book(),
        hardware="config/hardware.yaml",
        code=["scripts/tables.py", code_of("costs"), code_of("statistics")],
    output:
        expand("results/tables/{table}.csv", table=TABLES),
    log:
        "logs/tables.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        prices=price_options(),
        spot=spot_options(),
        precision=precision_option(),
        disturbed=disturbed_option(),
    message:
        "Making the tables"
    shell:
        "python scripts/tables.py {params.prices} {params.spot} {params.precision} "
        "{params.disturbed} > {log} 2>&1"
