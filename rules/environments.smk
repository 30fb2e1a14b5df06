# Pinned environments, one per family of frameworks and device: envs/<name>.txt -> .venvs/<name>.


rule environment:
    input:
        "envs/{environment}.txt",
    output:
        touch(".venvs/{environment}/ready"),
    log:
        "logs/environments/{environment}.log",
    wildcard_constraints:
        environment="(?:tensorflow|torch|jax)-(?:cpu|gpu)",
    priority: FIRST
    localrule: True
    conda:
        "../envs/workflow.yaml"
    message:
        "Creating the environment {wildcards.environment} (log: {log})"
    shell:
        "python scripts/environment.py {wildcards.environment:q} > {log:q} 2>&1"


rule environments:
    """Make the frameworks' environments."""
    input:
        expand(".venvs/{environment}/ready", environment=sorted(NEEDS.environments())),
    localrule: True
    message:
        "The environments are ready"
