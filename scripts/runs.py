"""Make the tables that say what was measured, from records and published measurements.

In: results/runs/, data/published/, config/hardware.yaml. Out, in results/tables/, a CSV per table:
runs, epochs, quality, targets, repeats, comparisons, predictions, scaling, noise.
"""

from pathlib import Path

import pandas as pd

from epochcost import configuration, errors, files
from epochcost.costs import noise, predictions, published, quality, repeats, rows, scaling, tables
from epochcost.records import record


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=files.folder, default=Path("results/runs"))
    parser.add_argument("--published", type=Path, default=Path("data/published"))
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
    labels = {key: entry["label"] for key, entry in configured.catalogue.items()}
    runs, epochs, noted = _rows(arguments.records, arguments.published, labels)
    runs = quality.judged_today(runs, configured.recipes)
    about, kept = (configured.complete_samples(), configured.recipes), arguments.keep_disturbed
    bases = pd.read_csv(arguments.published / "baselines.csv")
    for name, table in (
        ("runs", runs),
        ("epochs", epochs),
        ("noise", noted),
        ("quality", quality.quality_table(runs, epochs, *about, bases, kept)),
        ("targets", quality.targets_table(runs, configured.recipes)),
        ("repeats", repeats.repeats_table(runs, kept, arguments.precision)),
        ("comparisons", repeats.comparisons_table(runs, kept)),
        ("scaling", scaling.scaling_table(runs, kept)),
        ("predictions", predictions.predictions_table(runs, kept)),
    ):
        files.write_csv(arguments.output / f"{name}.csv", table)
    own = int(runs.source_id.eq(rows.OWN).sum())
    print(f"{own} runs, and {len(runs) - own} published ones")


def _rows(folder: Path, study: Path, labels: dict[str, str]):
    """runs.csv, epochs.csv and noise.csv."""
    runs, epochs, noted = published.runs(study, labels), published.epochs(study), []
    for path, content in record.read_all(folder):
        try:
            row = rows.run_row(content, labels.get(content["run"]["hardware"], ""))
            runs.append(row)
            epochs.extend(rows.epoch_rows(content, row.run_id))
            noted.append(noise.noise_row(content))
        except (TypeError, ValueError, KeyError) as error:
            raise errors.InputError(f"{path} has a value of the wrong kind: {error}") from error
    flagged, noted = noise.flag_slow_processors(tables.runs_table(runs), noise.noise_table(noted))
    return flagged, tables.epochs_table(epochs), noted


if __name__ == "__main__":
    errors.run(main)
