# Records + published measurements -> tables of runs; these + price book -> tables of costs. Another
# price book remakes only the tables of costs.

from epochcost.money import prices
from epochcost.record import shipped


rule runs:
    """Write the tables of measurements."""
    input:
        records=measured,
        measured=shipped.files_in(shipped.MEASURED),
        published=multiext("data/published/", "measurements.csv", "baselines.csv"),
        hardware="config/hardware.yaml",
        recipes=multiext("config/", "workloads.yaml", "datasets.yaml"),
        spread="config/spread.csv",
        code=sources_of("runs"),
    output:
        multiext(
            "results/tables/",
            "runs.csv",
            "epochs.csv",
            "noise.csv",
            "quality.csv",
            "targets.csv",
            "repeats.csv",
            "comparisons.csv",
            "predictions.csv",
            "scaling.csv",
            "set_aside.csv",
        ),
    log:
        "logs/runs.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        folder=subpath(output[0], parent=True),
        settings=KNOWN.part("runs"),
        own_models=own_models(),
    message:
        "Writing the tables of measurements"
    shell:
        "python scripts/runs.py --measured data/measured --settings {params.settings:q} "
        "--output {params.folder:q} > {log:q} 2>&1"


rule costs:
    """Write the tables of costs."""
    input:
        multiext("results/tables/", "runs.csv", "epochs.csv"),
        published=multiext("data/published/", "prices.csv", "baselines.csv"),
        prices=multiext("config/", "prices.csv", "billing.csv"),
        recipes=multiext("config/", "workloads.yaml", "datasets.yaml"),
        own_prices=KNOWN.price_book if prices.is_file(KNOWN.price_book) else [],
        spread="config/spread.csv",
        reference=multiext("data/reference/", "speeds.csv", "gpus.csv", "intervals.csv"),
        code=sources_of("costs"),
    output:
        multiext(
            "results/tables/",
            "costs.csv",
            "relative.csv",
            "options.csv",
            "frontier.csv",
            "spot.csv",
            "estimates.csv",
            "history.csv",
        ),
    log:
        "logs/costs.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        folder=subpath(output[0], parent=True),
        settings=KNOWN.part("costs"),
        machine=MACHINE.id,  # its price is that of no other one
        own_models=own_models(),
    message:
        "Writing the cost tables"
    shell:
        "python scripts/costs.py --settings {params.settings:q} --tables {params.folder:q} "
        "--output {params.folder:q} > {log:q} 2>&1"


rule tables:
    """Write all tables."""
    input:
        rules.runs.output,
        rules.costs.output,
    localrule: True
    message:
        "The tables are made"
