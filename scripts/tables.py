"""Make the tables of results/tables/ from records, published measurements and prices.

In: results/runs/, data/published/, config/prices.csv, config/hardware.yaml. Out: one CSV per table:
runs, epochs, costs, relative, quality, repeats, comparisons, predictions, noise.
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from epochcost import configuration, errors, files
from epochcost.costs import noise, predictions, prices, published, quality, repeats, rows, tables
from epochcost.hardware import LOCAL
from epochcost.measurement import machine
from epochcost.records import record


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=Path, default=Path("results/runs"))
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    parser.add_argument("--prices", type=Path, nargs="*", default=[Path("config/prices.csv")])
    parser.add_argument("--price-book", type=_book, default="latest", help="latest, or YYYY-MM")
    parser.add_argument("--local-price", type=_price, help="USD an hour of hardware `local`")
    parser.add_argument("--local-price-kind", choices=prices.KINDS, default="on_demand")
    parser.add_argument("--machine", help="the machine with that price; default: this one")
    parser.add_argument(
        "--keep-disturbed",
        action="store_true",
        help="let disturbed runs count beside undisturbed ones",
    )
    parser.add_argument(
        "--precision", type=float, help="half the interval over the median that was wanted"
    )
    parser.add_argument("--output", type=Path, default=Path("results/tables"))
    arguments = parser.parse_args()
    configured = configuration.load()
    labels = {key: entry["label"] for key, entry in configured.hardware.items()}
    runs, epochs, noted = _rows(arguments.records, arguments.published, labels)
    known = prices.load(arguments.published / "prices.csv", *arguments.prices)
    costs = tables.costs_table(
        runs,
        known,
        arguments.price_book,
        _local_price(arguments),
        arguments.machine or machine.describe()["id"],
    )
    kept = arguments.keep_disturbed
    baselines = pd.read_csv(arguments.published / "baselines.csv")
    relative = tables.relative_table(
        runs, costs, baselines, configured.complete_samples(), configured.recipes, kept
    )
    for name, table in (
        ("runs", runs),
        ("epochs", epochs),
        ("costs", costs),
        ("relative", relative),
        ("repeats", repeats.repeats_table(runs, kept, arguments.precision)),
        ("comparisons", repeats.comparisons_table(runs, kept)),
        ("noise", noted),
        ("predictions", predictions.predictions_table(runs, kept)),
        (
            "quality",
            quality.quality_table(runs, epochs, configured.complete_samples(), configured.recipes),
        ),
    ):
        with files.atomic(arguments.output / f"{name}.csv") as temporary:
            table.to_csv(temporary, index=False, lineterminator="\n")
    print(f"{len(runs)} runs; {tables.without_price(relative)} rows have no known price")


def _rows(folder: Path, study: Path, labels: dict[str, str]):
    """runs.csv, epochs.csv and noise.csv."""
    runs, epochs, noted = published.runs(study, labels), published.epochs(study), []
    for _, content in record.read_all(folder):
        row = rows.run_row(content, labels.get(content["run"]["hardware"], ""))
        runs.append(row)
        epochs.extend(rows.epoch_rows(content, row.run_id))
        noted.append(noise.noise_row(content))
    flagged, noted = noise.flag_slow_processors(tables.runs_table(runs), noise.noise_table(noted))
    return flagged, tables.epochs_table(epochs), noted


def _local_price(arguments: argparse.Namespace) -> prices.Price | None:
    if arguments.local_price is None:
        return None
    return prices.Price(
        LOCAL,
        arguments.local_price,
        arguments.local_price_kind,
        None,
        tables.CONFIGURED_BOOK,
    )


def _book(text: str) -> str:
    if text != prices.LATEST and not re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no price book: latest, or YYYY-MM")
    return text


def _price(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} cannot be a price")
    return value


if __name__ == "__main__":
    errors.run(main)
