#!/usr/bin/env bash
# Snakemake runs this in a new conda environment, from the root of the repository.
# sha256 of the pins: ade5c08f5adda1920c9a12b347ba1421f81aee6629c7914ef84473ca83832847
set -euo pipefail
# Into this environment, whatever pip is set to for other projects.
export PIP_USER=0
python -m pip install --requirement envs/jax-cpu.txt
