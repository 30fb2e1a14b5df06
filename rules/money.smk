# What a buyer asks: where to train, and what a plan will cost.


import zlib


rule plan:
    output:
        "results/plan.csv",
    log:
        "logs/plan.log",
    localrule: True
    params:
        # Another plan is written anew.
        of=lambda wildcards: zlib.crc32(OPENED.table().encode()),
    message:
        "Writing down what is planned"
    run:
        Path(output[0]).write_text(OPENED.table())


rule estimate:
    input:
        "results/plan.csv",
    log:
        "logs/estimate.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        options=estimate_options(),
    message:
        "Adding up what is planned"
    shell:
        "python scripts/estimate.py {input:q} {params.options:q} 2>&1 | tee {log:q}"


rule prices:
    log:
        "logs/prices.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        rates=exchange_option(),
    message:
        "Getting the prices of today"
    shell:
        "python scripts/prices.py {params.rates:q} 2>&1 | tee {log:q}"


rule schedule:
    log:
        "logs/schedule.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        options=lambda wildcards: schedule_options(),
        prices=price_options(),
    message:
        "Writing the schedule for measuring at intervals"
    shell:
        "python scripts/schedule.py {params.options:q} {params.prices:q} 2>&1 | tee {log:q}"


# From the existing records: a question starts no training.
rule advise:
    log:
        "logs/advise.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        tables="results/advice",
        question=question(),
        rental=rental_option(),
        prices=price_options(),
        spot=spot_options(),
        disturbed=disturbed_option(),
    message:
        "Looking for the best place to train"
    shell:
        "python scripts/runs.py --measured data/measured {params.disturbed:q} "
        "--output {params.tables:q} "
        "> {log:q} 2> >(tee -a {log:q} >&2) && "
        "python scripts/costs.py {params.prices:q} {params.spot:q} {params.disturbed:q} "
        "--tables {params.tables:q} --output {params.tables:q} >> {log:q} 2>&1 && "
        "python scripts/advise.py {params.question:q} {params.rental:q} --tables {params.tables:q} "
        "2>&1 | tee -a {log:q}"
