#!/usr/bin/env bash
# Snakemake runs this in a new conda environment, from the root of the repository.
# sha256 of the pins: 5602d01253bead0c145510579e0b19edda4d0ff7154a63a481798e0bd33816c8
set -euo pipefail
# Into this environment, whatever pip is set to for other projects.
export PIP_USER=0
python -m pip install --requirement envs/torch-gpu.txt
