"""Share this clone's records: merge those of others, analyse all, push data and then git.

Nothing is trained. If somebody else was faster, or it was ended, the same call goes on.
"""

from epochcost import ROOT, errors
from epochcost.sharing import together


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rented", default="", help="how this machine was rented, in words: on demand, at home"
    )
    parser.add_argument("--check", action="store_true", help="only whether the store can be used")
    arguments = parser.parse_args()
    if arguments.check:
        together.check_store(ROOT)
    else:
        together.share(ROOT, arguments.rented)


if __name__ == "__main__":
    errors.run(main)
