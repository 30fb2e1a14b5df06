"""Fetch the files of a data set, from its server or from a mirror folder.

In: config/datasets.yaml. Out: data/raw/<data set>/<file>... and <kind>.json, which describes them.
Every file is checked against its sha256 before it gets its final name.
"""

import os
from pathlib import Path

from epochcost import configuration, errors
from epochcost.data import download


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="an id of config/datasets.yaml")
    parser.add_argument("--kind", choices=["complete", "subset"], default="complete")
    parser.add_argument("--source", choices=["canonical", "mirror"], default="canonical")
    parser.add_argument(
        "--mirror",
        type=Path,
        default=os.environ.get(configuration.MIRROR_VARIABLE),
        help="the mirror folder; default: EPOCHCOST_MIRROR, else that of the configuration",
    )
    parser.add_argument("--raw", type=Path, default=Path("data/raw"), help="where files go")
    arguments = parser.parse_args()
    known = configuration.load()
    known.check_dataset(arguments.dataset)
    download.fetch(
        arguments.dataset,
        arguments.kind,
        arguments.source,
        known.datasets,
        arguments.raw,
        arguments.mirror or known.mirror,
    )


if __name__ == "__main__":
    errors.run(main)
