"""Say where rows of a result come from: records, price, data, commit and environment.

In: words that a row must have, such as `mnist_mlp pytorch local`; results/tables.
"""

from pathlib import Path

from epochcost import errors
from epochcost.record import shipped
from epochcost.record.types import Record
from epochcost.results import rows, tables
from epochcost.show import trace
from epochcost.show.figures import selection


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="+", help="a workload, framework, hardware, run, ...")
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument("--records", type=Path, default=Path("results/runs"))
    parser.add_argument("--measured", type=Path, default=shipped.MEASURED)
    arguments = parser.parse_args()
    relative = selection.side_by_side(tables.read(arguments.tables / "relative.csv"))
    found = trace.rows_with(relative, arguments.words)
    read = shipped.with_own(arguments.records, arguments.measured, {})
    records: dict[str, tuple[Path, Record]] = {}
    for path, one in read:  # as the tables name them
        name = rows.run_id(rows.told_apart(one, records))
        records[name] = path, one
    print(*trace.lines(found, records), sep="\n")


if __name__ == "__main__":
    errors.run(main)
