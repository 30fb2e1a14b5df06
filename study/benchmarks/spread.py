"""How far repeats of one training lie apart: config/spread.csv, from the records in data/measured.

Where there are too few repeats of one's own, single runs and predictions get this spread.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost import files
from epochcost.record import shipped
from epochcost.results import (
    noise,
    rows,
    spreads,
    tables,
)
from epochcost.statistics import spread


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=Path, default=ROOT / shipped.MEASURED)
    parser.add_argument("--output", type=Path, default=spread.SHIPPED)
    arguments = parser.parse_args()
    files.write_csv(arguments.output, table(arguments.records))


def table(folder: Path) -> pd.DataFrame:
    """`spreads.spread_table` of the records in a folder."""
    contents = [content for _, content in shipped.read_all(folder, {})]
    runs = tables.runs_table(rows.run_row(content, "") for content in contents)
    noted = noise.noise_table([noise.noise_row(content) for content in contents])
    runs, _ = noise.flag_slow_processors(runs, noted)
    found = spreads.spread_table(runs)
    return found.assign(deviation=found.deviation.round(4))


if __name__ == "__main__":
    main()
