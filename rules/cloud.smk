# Trainings on rented machines that share no folder with this one (a default storage provider is
# set): arrays go out through a bucket, records come home through it.
#
# A record's name there says what asked for it, as a short hash (`{plan}`), so that no other clone,
# recipe, scale or option finds it under its own name. A job there has the sources and what it was
# sent, and knows nothing of the plan. It trains in the container that the profile names, or with the
# Python of `python:`.

from epochcost.measure import revision
from epochcost.training.launch import words

# The commit of these sources, as machines get them without git's history.
if not SENT:
    os.environ[revision.COMMIT] = revision.to_send(Path(workflow.basedir))


envvars:
    revision.COMMIT,


rule pack:
    input:
        here("data/arrays/{dataset}/{kind}/manifest.json"),
    output:
        "arrays/{dataset}-{kind}.tar",
    log:
        here("logs/pack/{dataset}-{kind}.log"),
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        folder=lambda wildcards: f"data/arrays/{wildcards.dataset}/{wildcards.kind}",
    message:
        "Packing the arrays of {wildcards.dataset} ({wildcards.kind}) for the bucket"
    shell:
        "tar -C {params.folder:q} -cf {output:q} . 2> {log:q}"


for hardware in KNOWN.hardware:

    rule:
        name:
            rule_name("train", hardware)
        input:
            data=f"arrays/{{dataset}}-{{kind}}.tar",
        output:
            f"runs/{{plan}}/{{dataset}}-{{kind}}/{hardware}/{{workload}}/{{framework}}/{{variant}}-{{trial}}.json",
        log:
            f"logs/{{plan}}/{{dataset}}-{{kind}}/{hardware}/{{workload}}/{{framework}}/{{variant}}-{{trial}}.log",
        wildcard_constraints:
            plan="[0-9a-f]{8}",
            dataset="[a-z0-9-]+",
            kind="complete|subset|synthetic",
            workload="[a-z0-9_]+",
            framework="[a-z0-9-]+",
            variant="[a-z0-9_]+",
            trial="[0-9]+",
        conda:
            "../envs/workflow.yaml"
        threads: lambda wildcards, hardware=hardware: threads_of(hardware)
        resources:
            **resources_of(hardware),
        params:
            python=lambda wildcards, hardware=hardware: NEEDS.own_python(
                wildcards.framework, hardware
            )
            or "python",
            options=words(NEEDS.settings(hardware)),
        message:
            "Training {wildcards.workload} with {wildcards.framework}, trial {wildcards.trial}: "
            "{params.options}"
        shell:
            "mkdir -p arrays && tar -C arrays -xf {input.data:q} && "
            "{params.python:q} scripts/train.py {wildcards.workload:q} {wildcards.framework:q} "
            "--variant {wildcards.variant:q} --trial {wildcards.trial:q} {params.options:q} "
            "--data arrays --record {output:q} > {log:q} 2>&1"


# A record comes home as a copy that is the output of no rule; it is then not requested again.
for hardware in KNOWN.hardware:

    rule:
        name:
            rule_name("home", hardware)
        input:
            lambda wildcards, hardware=hardware: OPENED.place_in_bucket(hardware, wildcards.run),
        output:
            here(touch(f"results/made/{hardware}/{{run}}")),
        log:
            here(f"logs/home/{hardware}/{{run}}.log"),
        wildcard_constraints:
            run=missing_of(hardware),
        localrule: True
        conda:
            "../envs/workflow.yaml"
        message:
            "Bringing home {wildcards.run}"
        shell:
            "python scripts/merge.py {input:q} > {log:q} 2>&1"
