"""Write the files for measuring at intervals, and what that costs a month.

In: config/hardware.yaml, the price book. Out: results/schedule/ with cronjob.yaml (Kubernetes),
start-up.sh and vm.sh (a Compute Engine machine that the scheduler starts and that stops itself),
bill.md.
"""

from pathlib import Path

from epochcost import configuration, durations, errors, files
from epochcost.money import billing, market, prices, schedules
from epochcost.show.schedule import Rerun, bill, render


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("hardware", help="id of config/hardware.yaml, with a price")
    parser.add_argument("--every", default="1d", help="1h, 4h, 1d, 7d, ... (1d)")
    parser.add_argument("--up", required=True, help="how long the machine is up, such as 10min")
    parser.add_argument("--repository", required=True, help="where the machine gets epochcost")
    parser.add_argument(
        "--records", required=True, help="where records are kept: a folder on a volume, or gs://..."
    )
    parser.add_argument("--image", required=True, help="container with git, make and Python")
    parser.add_argument("--arguments", nargs="*", default=[], help="such as workloads=mnist_mlp")
    parser.add_argument("--disk-gib", type=billing.amount, required=True)
    parser.add_argument("--disk-usd-per-gib-month", type=billing.amount, required=True)
    parser.add_argument("--rule-usd-per-month", type=billing.amount, required=True)
    parser.add_argument("--output", type=Path, default=Path("results/schedule"))
    market.add_options(parser)
    arguments = parser.parse_args()
    hardware = configuration.load().catalogue
    if arguments.hardware not in hardware:
        hint = errors.nearest(arguments.hardware, hardware)
        raise errors.InputError(f"unknown hardware '{arguments.hardware}'; {hint}")
    every_s, up_s = (durations.seconds_of(text) for text in (arguments.every, arguments.up))
    if not 0 < up_s <= every_s:
        raise errors.InputError(
            f"schedule: up: {arguments.up} is not between 0 and {arguments.every}, the time "
            "between two rounds"
        )
    rerun = Rerun(
        every_s,
        up_s,
        arguments.hardware,
        hardware[arguments.hardware],
        arguments.repository,
        arguments.records,
        arguments.image,
        arguments.arguments,
        arguments.disk_gib,
    )
    offer = _cheapest(market.of(arguments, "", hardware), arguments.hardware)
    rates = schedules.Rates(arguments.disk_usd_per_gib_month, arguments.rule_usd_per_month, 0.0)
    written = render(rerun)
    written["bill.md"] = bill(rerun, offer, rates)
    for name, text in written.items():
        files.write_text(arguments.output / name, text)
    print(written["bill.md"])
    print(f"The files are in {arguments.output}.")


def _cheapest(book: market.Market, hardware: str) -> prices.Price:
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
