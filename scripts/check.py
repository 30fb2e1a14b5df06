"""Check measurements from elsewhere before they join data/measured: a verdict to paste.

In: files of bundle.py. Exits with status 1 if one cannot join.
"""

from pathlib import Path

from epochcost import errors, estimate, schemas
from epochcost.models import workloads
from epochcost.sharing import verdict


def main() -> int:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, help="such as data/measured/X.jsonl")
    arguments = parser.parse_args()
    known = schemas.read("hardware"), workloads.read().recipes, estimate.read()
    bad = False
    for path in arguments.files:
        if not path.is_file():
            raise errors.InputError(f"{path} is no file")
        found = verdict.of_file(path, *known)
        print(*found.lines(), sep="\n")
        bad |= bool(found.problems)
    return int(bad)


if __name__ == "__main__":
    errors.run(main)
