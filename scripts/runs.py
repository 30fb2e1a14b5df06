"""Make the tables that say what was measured, from records and published measurements.

In: results/runs/, data/measured/, data/published/, config/hardware.yaml. Out, in results/tables/, a
CSV per table: runs, epochs, quality, targets, repeats, comparisons, predictions, scaling, noise,
set_aside (the records that cannot be believed, and why; also on stderr).
"""

from pathlib import Path

import pandas as pd

from epochcost import errors, files, schemas, settings
from epochcost.models import workloads
from epochcost.results import (
    noise,
    predictions,
    published,
    quality,
    repeats,
    rows,
    scaling,
    set_aside,
    tables,
)


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=files.folder, default=Path("results/runs"))
    parser.add_argument("--measured", type=Path, help="folder of those that came with the clone")
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    settings.option(parser, "runs")
    parser.add_argument("--output", type=Path, default=Path("results/tables"))
    arguments = parser.parse_args()
    chosen, lists = arguments.settings, workloads.read()
    labels = {key: entry["label"] for key, entry in schemas.read("hardware").items()}
    own = rows.of_folder(
        arguments.records, labels, also=noise.noise_row, measured=arguments.measured
    )
    runs = tables.runs_table([*published.runs(arguments.published, labels), *own.runs])
    runs, noted = noise.flag_slow_processors(runs, noise.noise_table(own.more))
    epochs = tables.epochs_table([*published.epochs(arguments.published), *own.epochs])
    runs = quality.judged_today(runs, lists.recipes)
    newest = tables.of_newest_code(runs)
    about, kept = (lists.complete_samples(), lists.recipes), chosen.keep_disturbed
    bases = pd.read_csv(arguments.published / "baselines.csv")
    for name, table in (
        ("runs", runs),
        ("epochs", epochs),
        ("noise", noted),
        ("quality", quality.quality_table(runs, epochs, *about, bases, kept)),
        ("targets", quality.targets_table(runs, lists.recipes)),
        ("repeats", repeats.repeats_table(newest, kept, chosen.precision)),
        ("comparisons", repeats.comparisons_table(newest, kept)),
        ("scaling", scaling.scaling_table(newest, kept)),
        ("predictions", predictions.predictions_table(newest, kept)),
        ("set_aside", set_aside.table(own.aside)),
    ):
        files.write_csv(arguments.output / f"{name}.csv", table)
    here, theirs = int(tables.made_here(runs).sum()), len(runs) - len(own.runs)
    said = f" {len(own.runs) - here} that came with the clone," if here < len(own.runs) else ""
    print(f"{here} runs,{said} and {theirs} published ones")
    set_aside.say(own.aside)


if __name__ == "__main__":
    errors.run(main)
