# What a buyer asks: where to train, and what a plan will cost.


import zlib


rule plan:
    """Write the planned runs to `results/plan.csv`."""
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
    """Say what the planned runs take and cost."""
    input:
        "results/plan.csv",
    log:
        "logs/estimate.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        settings=KNOWN.part("estimate"),
    message:
        "Adding up what is planned"
    shell:
        "python scripts/estimate.py {input:q} --settings {params.settings:q} 2>&1 | tee {log:q}"


rule prices:
    """Add today's prices to `config/prices.csv`."""
    log:
        "logs/prices.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        settings=KNOWN.part("prices"),
    message:
        "Getting the prices of today"
    shell:
        "python scripts/prices.py --settings {params.settings:q} 2>&1 | tee {log:q}"


rule schedule:
    """Write the files for measuring at intervals."""
    log:
        "logs/schedule.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        settings=lambda wildcards: schedule_settings(),
    message:
        "Writing the schedule for measuring at intervals"
    shell:
        "python scripts/schedule.py --settings {params.settings:q} 2>&1 | tee {log:q}"


# From the existing records: a question starts no training.
rule advise:
    """Say where to train."""
    log:
        "logs/advise.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        tables="results/advice",
        settings=KNOWN.part("runs", "costs", "advise"),
    message:
        "Looking for the best place to train"
    shell:
        "python scripts/runs.py --measured data/measured --settings {params.settings:q} "
        "--output {params.tables:q} "
        "> {log:q} 2> >(tee -a {log:q} >&2) && "
        "python scripts/costs.py --settings {params.settings:q} "
        "--tables {params.tables:q} --output {params.tables:q} >> {log:q} 2>&1 && "
        "python scripts/advise.py --settings {params.settings:q} --tables {params.tables:q} "
        "2>&1 | tee -a {log:q}"
