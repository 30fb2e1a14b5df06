#!/usr/bin/env bash
# Snakemake runs this in a new conda environment, from the root of the repository.
# sha256 of the pins: a8dfdd9ba7ed375cb9121837a446e4c5f35519caf6f26181fcd8e12699c22a63
set -euo pipefail
# Into this environment, whatever pip is set to for other projects.
export PIP_USER=0
python -m pip install --requirement envs/jax-gpu.txt
