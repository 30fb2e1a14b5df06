# Everything to be measured, in rounds, and what this machine can do.


# With `precision`, each round follows the one before, for what is not yet precise enough.
checkpoint round:
    input:
        up_to_round,
    output:
        touch("results/rounds/{number}"),
    wildcard_constraints:
        number="[0-9]+",
    localrule: True
    message:
        "Round {wildcards.number} is made"


rule measure:
    """Measure what is configured, and no more."""
    input:
        measured,
    localrule: True
    message:
        "Everything configured is measured"


# What this machine can do, besides the short check before each run. PyTorch measures a GPU.
rule calibrate:
    """Measure for a minute what this machine can do."""
    input:
        NEEDS.ready("pytorch", LOCAL) if NEEDS.has_gpu(LOCAL) else [],
    log:
        "logs/calibrate.log",
    localrule: True
    conda:
        conda_of("pytorch", LOCAL)
    threads: threads_of(LOCAL)
    params:
        python=NEEDS.python("pytorch", LOCAL) if NEEDS.has_gpu(LOCAL) else "python",
    message:
        "Measuring for about a minute what this machine can do"
    shell:
        "{params.python:q} scripts/calibrate.py 2>&1 | tee {log:q}"
