#!/usr/bin/env bash
# Snakemake runs this in a new conda environment, from the root of the repository.
# sha256 of the pins: 33b990fab653cb1b34a90187c9c022d917e112e1aacd1c2ccabd0d829f40792e
set -euo pipefail
python -m pip install --requirement envs/workflow.txt
