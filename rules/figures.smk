# Tables -> figures: of each workload time and cost by machine, and what a buyer looks at; and what
# training cost in 2017 and costs now.

COMPARED = opening.compared_workloads(Path("data/published/baselines.csv"))
# Those that Snakemake's own report shows: of what, and what it is called there.
SHOWN = {"history": ("all workloads", "What changed since 2017")} | {
    f"{workload}-{picture}": (workload, what)
    for workload in COMPARED
    for picture, what in {
        "machines": "Time and cost by machine",
        "frontier": "What there is to choose from",
        "bill": "What the bills are made of",
    }.items()
}
# For phones.
NARROW = ["history-narrow", *(f"{workload}-machines-narrow" for workload in COMPARED)]


rule figures:
    """Draw the figures."""
    input:
        multiext("results/tables/", "relative.csv", "options.csv", "history.csv"),
        baselines="data/published/baselines.csv",
        order="config/hardware.yaml",
        code=sources_of("figures"),
    output:
        [
            report(
                f"results/figures/{stem}.svg",
                category=what,
                labels={"workload": workload, "picture": stem.removeprefix(f"{workload}-")},
            )
            for stem, (workload, what) in SHOWN.items()
        ],
        expand("results/figures/{stem}.svg", stem=NARROW),
        expand("results/figures/{stem}.png", stem=[*SHOWN, *NARROW]),
    log:
        "logs/figures.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    threads: MACHINE.usable_cores
    params:
        settings=KNOWN.part("figures"),
        machine=MACHINE.id,  # which is named
    message:
        "Drawing the figures"
    shell:
        "python scripts/figures.py --settings {params.settings:q} > {log:q} 2>&1"
