# All that is to be measured, in rounds, and what this machine can do.


# With `precision`, a round is trained after the one before, for what is not yet precise enough.
checkpoint round:
    input:
        up_to_round,
    output:
        touch("results/rounds/{number}"),
    wildcard_constraints:
        number="[0-9]+",
    localrule: True


rule measure:
    input:
        measured,
    localrule: True


# What this machine can do, beside the short look before each run. A GPU is measured with PyTorch.
rule calibrate:
    input:
        environment_marker("pytorch", LOCAL) if has_gpu(LOCAL) else [],
    log:
        "logs/calibrate.log",
    localrule: True
    conda:
        conda_file("pytorch", LOCAL)
    threads: threads_of(LOCAL)
    params:
        python=python_of("pytorch", LOCAL) if has_gpu(LOCAL) else "python",
    message:
        "Measuring for about a minute what this machine can do"
    shell:
        "{params.python} scripts/calibrate.py 2>&1 | tee {log}"
