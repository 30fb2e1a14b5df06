# Tables and figures -> the report page, the answer in words, and what full runs reached.

import shlex


rule report:
    """Write the report from the records that are there."""
    input:
        tables=rules.tables.input,
        records=measured,
        figures=rules.figures.output,
        published=multiext("data/published/", "baselines.csv", "sources.csv"),
        code=sources_of("report"),
    output:
        page=report("results/report.html", category="Report", labels={"page": "all results"}),
        answer="results/answer.txt",
        metrics="results/metrics.json",
    log:
        "logs/report.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        # What the calls that it suggests must repeat.
        given=f"--given={shlex.join(call.given(sys.argv, REPEATED))}",
    message:
        "Writing the report"
    shell:
        "python scripts/report.py --report {output.page:q} --answer {output.answer:q} "
        "--metrics {output.metrics:q} {params.given:q} > {log:q} 2>&1"


# To paste: of the tables that are there, or of the records.
rule table:
    """Print the results of this machine, to paste."""
    input:
        rules.tables.input,
    log:
        "logs/table.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        settings=KNOWN.part("table"),
        machine=MACHINE.id,
    message:
        "The results of this machine"
    shell:
        "python scripts/table.py --settings {params.settings:q} 2>&1 | tee {log:q}"


rule quality:
    """Write what full runs reached to `results/quality.md`."""
    input:
        tables=rules.tables.input,
        code=sources_of("quality"),
    output:
        "results/quality.md",
    log:
        "logs/quality.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    message:
        "Writing what full runs reached"
    shell:
        "python scripts/quality.py --output {output:q} > {log:q} 2>&1"
