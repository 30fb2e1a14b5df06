"""Write the records of a machine to its file in data/measured, which git tracks.

In: results/runs. Out: a header and a record per line; what is there already stays.
"""

from pathlib import Path

from epochcost import errors, files
from epochcost.measure import machine
from epochcost.record import record, shipped


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rented", default="", help="how the machine was rented, in words: on demand, at home"
    )
    parser.add_argument("--machine", help="the id of another machine than this one, or `all`")
    parser.add_argument("--records", type=files.folder, default=Path("results/runs"))
    parser.add_argument("--output", type=Path, default=shipped.MEASURED)
    arguments = parser.parse_args()
    wanted = arguments.machine or machine.facts().id
    aside: dict[Path, str] = {}
    every = [one for _, one in record.read_all(arguments.records, aside)]
    found = [one for one in every if wanted in ("all", one.machine.id)]
    if not found:
        raise errors.InputError(f"{arguments.records} holds no records of the machine {wanted}")
    print(*shipped.write(found, arguments.output, arguments.rented), sep="\n")
    print(f"{len(found)} records, {len(aside)} set aside")


if __name__ == "__main__":
    errors.run(main)
