"""Make the tables of results/tables/ from records, published measurements and prices.

In: results/runs/, data/published/, config/prices.csv, config/hardware.yaml. Out: one CSV per table:
runs, epochs, costs, relative, options, frontier, spot, history, quality, repeats, comparisons,
predictions, noise.
"""

from pathlib import Path

import pandas as pd

from epochcost import configuration, errors, files
from epochcost.costs import (
    billing,
    history,
    market,
    noise,
    options,
    predictions,
    published,
    quality,
    repeats,
    rows,
    spot,
    tables,
)
from epochcost.records import record


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=Path, default=Path("results/runs"))
    market.add_options(parser)
    parser.add_argument(
        "--spot-rates",
        type=billing.amount,
        nargs="*",
        default=[0, 0.02, 0.05, 0.1, 0.2, 0.5, 1],
        help="interruptions an hour of spot machines",
    )
    parser.add_argument(
        "--spot-wait", type=billing.amount, default=120, help="seconds until the next spot machine"
    )
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
    prices = market.of(arguments)
    about = configured.complete_samples(), configured.recipes
    kept = arguments.keep_disturbed
    costs = tables.costs_table(runs, prices)
    baselines = pd.read_csv(arguments.published / "baselines.csv")
    relative = tables.relative_table(runs, costs, baselines, *about, prices, kept)
    choices = options.options_table(runs, epochs, *about, prices, kept)
    rates, wait_s = arguments.spot_rates, arguments.spot_wait
    for name, table in (
        ("runs", runs),
        ("epochs", epochs),
        ("costs", costs),
        ("relative", relative),
        ("options", choices),
        ("frontier", choices[choices.efficient.astype(bool)]),
        ("spot", spot.spot_table(relative, rates, wait_s, prices.rental)),
        ("history", history.history_table(runs, prices)),
        ("repeats", repeats.repeats_table(runs, kept, arguments.precision)),
        ("comparisons", repeats.comparisons_table(runs, kept)),
        ("noise", noted),
        ("predictions", predictions.predictions_table(runs, kept)),
        ("quality", quality.quality_table(runs, epochs, *about)),
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


if __name__ == "__main__":
    errors.run(main)
