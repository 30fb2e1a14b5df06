"""Write the files for measuring at intervals, and what that costs a month.

In: config/hardware.yaml, the price book. Out: results/schedule/ with cronjob.yaml (Kubernetes),
start-up.sh and vm.sh (a Compute Engine machine that the scheduler starts and that stops itself),
bill.md.
"""

from pathlib import Path

from epochcost import errors, files, schemas, settings
from epochcost.money import market, schedules
from epochcost.money.prices import Price
from epochcost.show.schedule import bill, render, rerun_of


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    parser.add_argument("--output", type=Path, default=Path("results/schedule"))
    settings.option(parser, "schedule")
    arguments = parser.parse_args()
    chosen, catalogue = arguments.settings, schemas.read("hardware")
    rerun = rerun_of(chosen, catalogue)
    offer = _cheapest(market.of(chosen, "", catalogue, arguments.published), rerun.name)
    asked = chosen.schedule
    rates = schedules.Rates(asked.disk_usd_per_gib_month, asked.rule_usd_per_month, 0.0)
    written = render(rerun)
    written["bill.md"] = bill(rerun, offer, rates)
    for name, text in written.items():
        files.write_text(arguments.output / name, text)
    print(written["bill.md"])
    print(f"The files are in {arguments.output}.")


def _cheapest(book: market.Market, hardware: str) -> Price:
    """The lowest price of `hardware`: a scheduled run can wait for a preemptible machine."""
    offers = [price for price in book.available() if price.hardware_id == hardware]
    if not offers:
        raise errors.InputError(
            f"no price is known at which {hardware} can be had, so there is no bill; known: "
            + ", ".join(sorted({price.hardware_id for price in book.available()}))
        )
    return min(offers, key=lambda price: price.price_per_hour_usd)


if __name__ == "__main__":
    errors.run(main)
