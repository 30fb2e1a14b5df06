"""Write the conda files of envs/ that follow from the pins.

In: envs/<name>.txt. Out: envs/<name>.yaml (Python and pip) and envs/<name>.post-deploy.sh (the
same pins with pip; Snakemake runs it in the new environment). The sha256 in it makes Snakemake
see that pins have changed.
"""

from pathlib import Path

from epochcost import errors, files

ENVS = Path(__file__).resolve().parents[1] / "envs"

YAML = """\
# For `snakemake --sdm conda`; {name}.post-deploy.sh installs the pins of {name}.txt.
channels:
  - conda-forge
dependencies:
  - python=3.11
  - pip
"""
POST_DEPLOY = """\
#!/usr/bin/env bash
# Snakemake runs this in a new conda environment, from the root of the repository.
# sha256 of the pins: {sha256}
set -euo pipefail
# Into this environment, whatever pip is set to for other projects.
export PIP_USER=0
python -m pip install --requirement envs/{name}.txt
"""


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.parse_args()
    for path in with_conda():
        for suffix, content in conda_files(path).items():
            files.write_text(ENVS / f"{path.stem}{suffix}", content)


def with_conda() -> list[Path]:
    """The pins of environments that rules name; the one for clouds runs Snakemake itself."""
    return sorted(path for path in ENVS.glob("*.txt") if path.stem != "cloud")


def conda_files(pins: Path) -> dict[str, str]:
    """The content of the conda files that belong to a file of pins, by their suffix."""
    return {
        ".yaml": YAML.format(name=pins.stem),
        ".post-deploy.sh": POST_DEPLOY.format(name=pins.stem, sha256=files.sha256(pins)),
    }


if __name__ == "__main__":
    errors.run(main)
