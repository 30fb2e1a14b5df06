#!/usr/bin/env bash
# Snakemake runs this in a new conda environment, from the root of the repository.
# sha256 of the pins: d6b2cab851c20d12effe13bf23ab40aea7d937b9a60ead63adf9a7c1337cd407
set -euo pipefail
# Into this environment, whatever pip is set to for other projects.
export PIP_USER=0
python -m pip install --requirement envs/tensorflow-cpu.txt
