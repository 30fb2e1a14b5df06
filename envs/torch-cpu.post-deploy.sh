#!/usr/bin/env bash
# Snakemake runs this in a new conda environment, from the root of the repository.
# sha256 of the pins: 02ab7ae1680f3ded3980fc51266c142530a9042b990b4a2db62f3f27c49784f3
set -euo pipefail
# Into this environment, whatever pip is set to for other projects.
export PIP_USER=0
python -m pip install --requirement envs/torch-cpu.txt
