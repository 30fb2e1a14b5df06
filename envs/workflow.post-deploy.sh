#!/usr/bin/env bash
# Snakemake runs this in a new conda environment, from the root of the repository.
# sha256 of the pins: 3d60987b5271c7e7c66f4a427124824777ed158203aa41d4dac2098d6e49d52b
set -euo pipefail
# Into this environment, whatever pip is set to for other projects.
export PIP_USER=0
python -m pip install --requirement envs/workflow.txt
