"""Make one of the pinned environments of envs/ with uv.

In: envs/<name>.txt. Out: a virtual environment in .venvs/<name>.
"""

from pathlib import Path

from epochcost import errors
from epochcost.frameworks.environments import ROOT, make


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    names = sorted(path.stem for path in (ROOT / "envs").glob("*.txt"))
    parser.add_argument("name", choices=names, help="a file of envs/, without .txt")
    parser.add_argument("--output", type=Path, help="folder; default: .venvs/<name>")
    arguments = parser.parse_args()
    make(arguments.name, arguments.output or ROOT / ".venvs" / arguments.name)


if __name__ == "__main__":
    errors.run(main)
