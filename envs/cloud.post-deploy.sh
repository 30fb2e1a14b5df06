#!/usr/bin/env bash
# Snakemake runs this in a new conda environment, from the root of the repository.
# sha256 of the pins: 59b3b23b857b649b6d6abc24d1af77b1c167c59f9e448afa448a2040e1b96d90
set -euo pipefail
python -m pip install --requirement envs/cloud.txt
