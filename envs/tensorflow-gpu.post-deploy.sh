#!/usr/bin/env bash
# Snakemake runs this in a new conda environment, from the root of the repository.
# sha256 of the pins: 0f0fcd49d7d9632b43f715d620a41943b76b328abab46a3b008c5e16df3f1ab3
set -euo pipefail
# Into this environment, whatever pip is set to for other projects.
export PIP_USER=0
python -m pip install --requirement envs/tensorflow-gpu.txt
