#!/usr/bin/env bash
# Snakemake runs this in a new conda environment, from the root of the repository.
# sha256 of the pins: 4a4d7ed254ad1b37de34a9e01a10eb2a888d8155db06cb65d0c8a706c2aa6a75
set -euo pipefail
# Into this environment, whatever pip is set to for other projects.
export PIP_USER=0
python -m pip install --requirement envs/workflow.txt
