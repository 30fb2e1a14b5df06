# Records + published measurements + price book -> tables.

TABLES = [
    "runs",
    "epochs",
    "costs",
    "relative",
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
        price_book=KNOWN["price_book"],
        local_price=local_price(),
        machine=MACHINE["id"],
        precision=precision_option(),
        disturbed=disturbed_option(),
    message:
        "Making the tables"
    shell:
        "python scripts/tables.py --prices {input.prices} --price-book {params.price_book} "
        "{params.local_price} --machine {params.machine} {params.precision} {params.disturbed} "
        "> {log} 2>&1"
