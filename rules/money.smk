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


rule reference:
    """Say what is known of a GPU, and from where."""
    log:
        "logs/reference.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        settings=KNOWN.part("reference"),
    message:
        "Looking up a GPU"
    shell:
        "python scripts/reference.py --settings {params.settings:q} 2>&1 | tee {log:q}"


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


# A question starts no training, and leaves the tables of the report as they are: it may be with
# another price.
use rule runs as runs_asked_for with:
    output:
        for_advice(rules.runs.output),
    log:
        "logs/runs_asked_for.log",


use rule costs as costs_asked_for with:
    input:
        for_advice(rules.costs.input[:2]),
        rules.costs.input[2:],
    output:
        for_advice(rules.costs.output),
    log:
        "logs/costs_asked_for.log",


rule advise:
    """Say where to train."""
    input:
        for_advice(rules.tables.input),
    log:
        "logs/advise.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        settings=KNOWN.part("advise"),
    message:
        "Looking for the best place to train"
    shell:
        "python scripts/advise.py --settings {params.settings:q} --tables results/advice "
        "2>&1 | tee {log:q}"
