# Tables and figures -> the report page and the answer in words.


rule report:
    input:
        tables=rules.tables.output,
        records=rules.tables.input.records,
        figures=pictures(),
        published=multiext("data/published/", "baselines.csv", "sources.csv"),
        code=["scripts/report.py", code_of("report")],
    output:
        page="results/report.html",
        answer="results/answer.txt",
        quality="results/quality.md",
    log:
        "logs/report.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    message:
        "Writing the report"
    shell:
        "python scripts/report.py --report {output.page} --answer {output.answer} "
        "--quality {output.quality} > {log} 2>&1"
