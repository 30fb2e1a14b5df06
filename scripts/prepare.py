"""Prepare the arrays of a data set, from its files or generated.

In: data/raw/<data set>/<kind>.json and the files it names (nothing for kind synthetic).
Out: <folder>/*.npy and <folder>/manifest.json.
"""

from pathlib import Path

from epochcost import errors, files
from epochcost.data import preparation
from epochcost.models import workloads


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="an id of config/datasets.yaml")
    parser.add_argument("--kind", choices=["complete", "subset", "synthetic"], default="complete")
    parser.add_argument("--raw", type=Path, default=Path("data/raw"), help="fetched files")
    parser.add_argument("--output", type=Path, help="folder for the arrays")
    arguments = parser.parse_args()
    folder = arguments.output or Path("data/arrays", arguments.dataset, arguments.kind)
    manifest = preparation.prepare(
        arguments.dataset,
        arguments.kind,
        arguments.raw,
        folder,
        workloads.read().preparation_of(arguments.dataset),
    )
    skipped = files.read_json(manifest)["skipped"]
    if skipped:
        reasons = ", ".join(f"{count} ({reason})" for reason, count in sorted(skipped.items()))
        print(f"epochcost: samples of {arguments.dataset} left out as damaged: {reasons}")


if __name__ == "__main__":
    errors.run(main)
