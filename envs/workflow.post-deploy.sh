#!/usr/bin/env bash
# Snakemake runs this in a new conda environment, from the root of the repository.
# sha256 of the pins: 3dccf0f28ed07ee7e6ee32ca953706ba71a64f6bdb08219bac5d953972dd86b2
set -euo pipefail
# Into this environment, whatever pip is set to for other projects.
export PIP_USER=0
python -m pip install --requirement envs/workflow.txt
