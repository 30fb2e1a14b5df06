#!/usr/bin/env bash
# Snakemake runs this in a new conda environment, from the root of the repository.
# sha256 of the pins: ef5cd3fce37f271259dacd319a1ee84177c86986ede40c24335ee9d8f5fcbc1f
set -euo pipefail
python -m pip install --requirement envs/workflow.txt
