"""Add records from another machine to this one's.

In: results/runs of another clone, the clone, one record, or what scripts/bundle.py writes. Out:
copies in results/runs, each checked; a run that is there already is not copied again, and none is
changed or overwritten. What else is in the folder is named. Exits with status 1 if a record was
refused.
"""

from pathlib import Path

from epochcost import errors, schemas
from epochcost.record import merge


def main() -> int:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "source",
        type=Path,
        help="results/runs of another clone, the clone, one record, or a file of records",
    )
    parser.add_argument("--records", type=Path, default=Path("results/runs"))
    arguments = parser.parse_args()
    source = arguments.source
    if not source.exists():
        raise errors.InputError(f"{source} does not exist")
    inner = source / "results/runs"
    merged = merge.merge(
        inner if inner.is_dir() else source, arguments.records, schemas.read("hardware")
    )
    print(*merged.lines(), sep="\n")
    if not any((merged.added, merged.known, merged.refused)):
        raise errors.InputError(f"{source} holds no records; name a folder such as results/runs")
    return 1 if merged.refused else 0


if __name__ == "__main__":
    errors.run(main)
