"""Put records from another machine beside one's own.

In: results/runs of another clone, the clone, or one record. Out: copies in results/runs, each
checked; a run that is there already is not copied again, and none is changed or overwritten.
Ends with status 1 where a record was refused.
"""

from pathlib import Path

from epochcost import configuration, errors
from epochcost.records import merging


def main() -> int:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "source", type=Path, help="results/runs of another clone, the clone, or one record"
    )
    parser.add_argument("--records", type=Path, default=Path("results/runs"))
    arguments = parser.parse_args()
    return merge(arguments.source, arguments.records)


def merge(source: Path, records: Path, empty: bool = False) -> int:
    """Merge a folder or record and say what became of it; returns 1 where something was refused.

    Args:
        empty: whether there may be no records.
    """
    if not source.exists():
        raise errors.InputError(f"{source} is not there")
    inner = source / "results/runs"
    merged = merging.merge(
        inner if inner.is_dir() else source, records, configuration.load().hardware
    )
    for path, target in merged.added.items():
        renamed = f" (was {path.stem})" if path.stem != target.stem else ""
        print(f"{target}{renamed}")
    for reason in merged.refused.values():
        print(f"refused: {reason}")
    if not any((merged.added, merged.known, merged.refused)) and not empty:
        raise errors.InputError(f"{source} holds no records; name a folder such as results/runs")
    counts = (len(merged.added), len(merged.known), len(merged.refused))
    print("{} records merged, {} here already, {} refused".format(*counts))
    return 1 if merged.refused else 0


if __name__ == "__main__":
    errors.run(main)
