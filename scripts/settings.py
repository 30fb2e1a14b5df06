"""Write what is made of the keys of config.yaml: their JSON Schema, and their table in the README.

python scripts/settings.py
"""

import argparse

from epochcost import ROOT, files, settings


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    settings.write(ROOT, files.read_yaml(ROOT / "config/config.yaml"))


if __name__ == "__main__":
    main()
