"""Fetch the files of a data set, from its server or from a mirror folder.

In: config/datasets.yaml. Out: data/raw/<data set>/<file>... and <kind>.json, which describes them.
Every file is checked against its sha256 before it gets its final name.
"""

import os
from pathlib import Path

from epochcost import errors
from epochcost.data import download
from epochcost.data.registry import MIRROR
from epochcost.models import workloads


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="an id of config/datasets.yaml")
    parser.add_argument("--kind", choices=["complete", "subset"], default="complete")
    parser.add_argument("--source", choices=["canonical", "mirror"], default="canonical")
    parser.add_argument(
        "--mirror",
        type=Path,
        default=os.environ.get(MIRROR),
        help="the mirror folder; default: the variable EPOCHCOST_MIRROR",
    )
    parser.add_argument("--raw", type=Path, default=Path("data/raw"), help="where files go")
    arguments = parser.parse_args()
    known = workloads.read().datasets
    errors.check_name("data set", arguments.dataset, known)
    download.fetch(
        arguments.dataset,
        arguments.kind,
        arguments.source,
        known,
        arguments.raw,
        arguments.mirror,
    )


if __name__ == "__main__":
    errors.run(main)
