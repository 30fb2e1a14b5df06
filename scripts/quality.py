"""Write what full runs reached, what targets are set from, and what quick runs predicted.

In: quality.csv, targets.csv and predictions.csv of results/tables. Out: Markdown tables in
results/quality.md, or `-` for the screen.
"""

import sys
from pathlib import Path

from epochcost import errors, files
from epochcost.costs import tables
from epochcost.report import quality


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument(
        "--output", default="results/quality.md", help="a file, or - for the screen"
    )
    arguments = parser.parse_args()
    parts = [
        markdown(tables.read(arguments.tables / f"{name}.csv"))
        for name, markdown in (
            ("quality", quality.markdown),
            ("targets", quality.targets_markdown),
            ("predictions", quality.predictions_markdown),
        )
    ]
    text = "\n".join(part for part in parts if part)
    if arguments.output == "-":
        sys.stdout.write(text)
    else:
        files.write_text(Path(arguments.output), text)


if __name__ == "__main__":
    errors.run(main)
