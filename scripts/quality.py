"""Write what full runs reached, what targets are set from, and what quick runs predicted.

In: quality.csv, targets.csv and predictions.csv of results/tables. Out: Markdown tables in
results/quality.md, or `-` for the screen.
"""

import sys
from pathlib import Path

import pandas as pd

from epochcost import errors, files
from epochcost.results import tables
from epochcost.show import quality


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument(
        "--output", default="results/quality.md", help="a file, or - for the screen"
    )
    parser.add_argument(
        "--machine", help="its rows alone, without the targets, which are from all machines"
    )
    arguments = parser.parse_args()
    found = {
        name: tables.read(arguments.tables / f"{name}.csv")
        for name in ("quality", "targets", "predictions")
    }
    if arguments.machine is not None:
        found = _of_machine(arguments.machine, found)
    parts = [
        quality.markdown(found["quality"]),
        quality.targets_markdown(found["targets"]),
        quality.predictions_markdown(found["predictions"]),
    ]
    text = "\n".join(part for part in parts if part)
    if arguments.output == "-":
        sys.stdout.write(text)
    else:
        files.write_text(Path(arguments.output), text)


def _of_machine(label: str, found: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The rows of a machine, and no targets.

    Raises:
        InputError: no run was made on such a machine.
    """
    known = set(found["quality"].hardware_label)
    if label not in known:
        raise errors.InputError(
            f"no full run on a machine '{label}'; {errors.nearest(label, known)}"
        )
    own = {
        name: table[table.hardware_label.eq(label)]
        for name, table in found.items()
        if name != "targets"
    }
    return own | {"targets": found["targets"].head(0)}


if __name__ == "__main__":
    errors.run(main)
