# What training a model costs, on any machine: measure -> price -> show.

from snakemake.utils import min_version

min_version("9.27")


include: "rules/start.smk"


configfile: "config/config.yaml"


report: "rules/report.rst"


include: "rules/common.smk"
include: "rules/call.smk"


rule all:
    """Measure what is configured, and make tables, figures and report."""
    default_target: True
    input:
        everything,
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
        before_trainings()


onsuccess:
    if asks_for("advise"):
        say_what_is_set_aside("results/advice")
    if asks_for("report"):
        say_what_is_set_aside("results/tables")
        if line := OPENED.without_price():
            errors.say(line)
        if answer := Path("results/answer.txt").read_text().strip():
            print(f"\n{answer}\n")
        print("epochcost: the report, with figures and tables, is results/report.html")


refuse_unknown_targets()
