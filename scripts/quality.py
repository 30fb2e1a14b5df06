"""Write what full runs reached, and what quick runs predicted, as Markdown tables.

In: quality.csv and predictions.csv of results/tables. Out: results/quality.md, or `-` for the
screen.
"""

import sys
from pathlib import Path

import pandas as pd

from epochcost import errors, files
from epochcost.report import quality


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument(
        "--output", default="results/quality.md", help="a file, or - for the screen"
    )
    arguments = parser.parse_args()
    text = quality.markdown(pd.read_csv(arguments.tables / "quality.csv"))
    predictions = pd.read_csv(arguments.tables / "predictions.csv")
    if predicted := quality.predictions_markdown(predictions):
        text += f"\n{predicted}"
    if arguments.output == "-":
        sys.stdout.write(text)
    else:
        files.write_text(Path(arguments.output), text)


if __name__ == "__main__":
    errors.run(main)
