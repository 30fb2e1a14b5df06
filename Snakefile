# What training a model costs, on any machine: measure -> price -> show.

from snakemake.utils import min_version

min_version("9.27")


include: "rules/common/start.smk"


configfile: "config/config.yaml"


include: "rules/common/terminal.smk"
include: "rules/common/configuration.smk"
include: "rules/common/plan.smk"
include: "rules/common/trainings.smk"
include: "rules/common/environments.smk"
include: "rules/common/options.smk"
include: "rules/common/guards.smk"


rule all:
    default_target: True
    input:
        everything(),
    message:
        "Everything is made"


include: "rules/environments.smk"
include: "rules/data.smk"
include: "rules/tune.smk"
include: "rules/cloud.smk" if CLOUD else "rules/train.smk"
include: "rules/measure.smk"
include: "rules/cost.smk"
include: "rules/money.smk"
include: "rules/figures.smk"
include: "rules/report.smk"


onstart:
    if trains():
        notice_unknown_commit()
        claim_hardware()
        check_plan()


onsuccess:
    if reports():
        for line in set_aside()[:10]:
            print(line, file=sys.stderr)
        print("epochcost: the report is results/report.html")


refuse_unknown_targets()
