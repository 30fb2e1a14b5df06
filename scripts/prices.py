"""Get today's prices for the hardware of a price file, and add them as a new dated book.

In: the price file, SkyPilot's catalogue (network, or a folder). Out: the price file with new rows;
the old ones stay. Prints what changed, and what was not taken. A second call on the same day adds
what was missing in the first.
"""

import csv
from datetime import UTC, datetime
from pathlib import Path

from epochcost import errors, files, settings
from epochcost.money import catalogues, prices


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--prices", type=Path, default=Path("config/prices.csv"))
    parser.add_argument("--catalogue", default=catalogues.URL, help="an address or a folder")
    settings.option(parser, "prices")
    parser.add_argument("--dry-run", action="store_true", help="print the changes alone")
    arguments = parser.parse_args()
    rates = arguments.settings.exchange_rates
    prices.load(
        arguments.prices, rates=rates
    )  # existing mistakes are reported before anything is fetched
    with open(arguments.prices, newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        columns, rows = list(reader.fieldnames), list(reader)
    if missing := catalogues.NEEDED - set(columns):
        raise errors.InputError(
            f"{arguments.prices} has no column {', '.join(sorted(missing))}, without which no "
            "machine can be looked up or new price added"
        )
    providers = sorted({row["provider"] for row in rows})
    catalogue, missing = catalogues.read(arguments.catalogue.rstrip("/"), providers)
    today = datetime.now(UTC).date()
    found = catalogues.refresh(rows, catalogue, today, rates)
    _print(found, missing)
    if not arguments.dry_run and found.rows:
        with files.atomic(arguments.prices) as temporary:
            with open(temporary, "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, columns, lineterminator="\n")
                writer.writeheader()
                writer.writerows([*rows, *found.rows])
            prices.load(temporary, rates=rates)
        print(f"{len(found.rows)} prices of {today} are added to {arguments.prices}")


def _print(found: catalogues.Refreshed, missing: list[str]) -> None:
    changed = found.changes[found.changes.before.sub(found.changes.after).abs().gt(1e-6)]
    for row in changed.itertuples():
        print(
            f"{row.hardware_id}, {row.price_kind}: {row.before:g} -> {row.after:g} USD an hour "
            f"({row.after / row.before - 1:+.0%})"
        )
    print(f"{len(changed)} of {len(found.changes)} prices have changed")
    if found.there:
        print(f"{found.there} prices of today are there already")
    for notice in (*found.notices, *missing):
        print(notice)


if __name__ == "__main__":
    errors.run(main)
