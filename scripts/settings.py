"""Write what is made of the keys of config.yaml: their JSON Schema, and their table in the README.

python scripts/settings.py
"""

from epochcost import ROOT, errors, files, settings


def main() -> None:
    errors.Parser(description=__doc__.splitlines()[0]).parse_args()
    settings.write(ROOT, files.read_yaml(ROOT / "config/config.yaml"))


if __name__ == "__main__":
    errors.run(main)
