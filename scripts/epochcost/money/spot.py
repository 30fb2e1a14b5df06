"""What a training costs on interruptible machines: cheap hours, and work done twice.

Interruptions come at a constant rate while a machine is held (a Poisson process). A training saves
a checkpoint at the end of each epoch; after an interruption it waits for another machine (unpaid),
restarts (paid), and repeats what it had done since the checkpoint.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from epochcost.money import billing, prices
from epochcost.money.billing import HOUR_S, Rental
from epochcost.results.identity import GROUP
from epochcost.results.rows import OWN

TABLE_COLUMNS = [
    "workload",
    "framework",
    "framework_version",
    "variant",
    "hardware_id",
    "machine_id",
    "host",
    "driver",
    "settings",
    "vcpus",
    "gpus_used",
    "source_id",
    "price_book",
    "price_kind",
    "price_per_hour_usd",
    "on_demand_per_hour_usd",
    "time_s",
    "restart_s",
    "checkpoint_s",
    "interruptions_per_hour",
    "interruptions",
    "paid_s",
    "elapsed_s",
    "cost_usd",
    "on_demand_cost_usd",
    "cost_over_on_demand",
    "break_even_per_hour",
    "predicted",
    "synthetic",
    "train_samples",
    "data_id",
    "complete_samples",
    "data_complete",
    "weights",
    "batch_size",
    "recipe",
    "own_recipe",
    "quality_reached",
    "noisy_runs",
]


@dataclass(frozen=True)
class Job:
    """A training that can be interrupted, in seconds.

    work_s: all epochs.
    checkpoint_s: work between two checkpoints.
    restart_s: from each start until it trains: boot, environment, data, the process.
    """

    work_s: float
    checkpoint_s: float
    restart_s: float

    def stretches(self) -> list[float]:
        """Seconds of work between checkpoints; the last stretch may be shorter."""
        whole = int(self.work_s / self.checkpoint_s + 1e-9)
        rest = self.work_s - whole * self.checkpoint_s
        return [self.checkpoint_s] * whole + ([rest] if rest > 1e-6 * self.work_s else [])


def job_of(time_s: float, epochs: float, start_s: float, rental: Rental) -> Job:
    """A training with a checkpoint at the end of each epoch.

    Args:
        start_s: seconds of the process at each start, an overestimate: what ends a training is in
            it, and happens once; and so are all starts of a run that was interrupted.
    """
    return Job(time_s, time_s / epochs, (0.0 if pd.isna(start_s) else start_s) + rental.before_s)


def paid_seconds(job: Job, per_hour: float) -> float:
    """Expected seconds that are paid for until the training ends; inf if it never does.

    With the rate r, work c between checkpoints and a start R: a start takes (e^(rR) - 1) / r, and
    a stretch of work, including what is repeated, e^(rR) (e^(rc) - 1) / r (Daly 2006).
    """
    rate = per_hour / HOUR_S
    if rate == 0:
        return job.restart_s + job.work_s
    try:
        start = math.expm1(rate * job.restart_s) / rate
        work = sum(math.expm1(rate * stretch) for stretch in job.stretches())
        return start + math.exp(rate * job.restart_s) * work / rate
    except OverflowError:
        return math.inf


def break_even(job: Job, spot_usd: float, on_demand_usd: float) -> float:
    """Interruptions per hour at which the spot machine costs as much as the on-demand one.

    Below that rate it is cheaper; 0 if it never is, NaN if a price is unknown.
    """
    if math.isnan(on_demand_usd):
        return math.nan
    from scipy import optimize  # slow to import

    limit = (job.work_s + job.restart_s) * on_demand_usd / spot_usd
    if paid_seconds(job, 0) >= limit:
        return 0.0
    high = 1.0
    while paid_seconds(job, high) < limit:
        high *= 2
    return optimize.bisect(lambda rate: paid_seconds(job, rate) - limit, 0, high)


def spot_table(
    relative: pd.DataFrame, rates: Sequence[float], wait_s: float, rental: Rental
) -> pd.DataFrame:
    """spot.csv: own rows with the price of an interruptible machine, at several rates.

    Seconds are counted as they are, without the provider's increments. `elapsed_s` includes the
    waits for the next machine; the on-demand columns are empty where that price is unknown.
    """
    priced = relative[relative.source_id.eq(OWN) & relative.cost_kind.eq(billing.MARGINAL)]
    same = [*GROUP, "price_book"]
    on_demand = priced[priced.price_kind.eq(prices.ON_DEMAND)]
    on_demand = on_demand[[*same, "price_per_hour_usd"]].rename(
        columns={"price_per_hour_usd": "on_demand_per_hour_usd"}
    )
    offers = priced[priced.price_kind.isin(prices.INTERRUPTIBLE)].merge(
        on_demand.drop_duplicates(same), on=same, how="left"
    )
    found = [
        _row(offer, rate, wait_s, rental)
        for offer in offers.drop_duplicates([*same, "price_kind"]).to_dict("records")
        for rate in rates
    ]
    return pd.DataFrame(found, columns=TABLE_COLUMNS)


def _row(offer: dict, rate: float, wait_s: float, rental: Rental) -> dict:
    job = job_of(offer["time_s"], offer["epochs"], offer["start_s"], rental)
    paid = paid_seconds(job, rate)
    interruptions = paid * rate / HOUR_S
    spot_usd, full_usd = offer["price_per_hour_usd"], offer["on_demand_per_hour_usd"]
    full_cost = (job.work_s + job.restart_s) * full_usd / HOUR_S
    cost = paid * spot_usd / HOUR_S
    return offer | {
        "restart_s": job.restart_s,
        "checkpoint_s": job.checkpoint_s,
        "interruptions_per_hour": rate,
        "interruptions": interruptions,
        "paid_s": paid,
        "elapsed_s": paid + interruptions * wait_s,
        "cost_usd": cost,
        "on_demand_cost_usd": full_cost,
        "cost_over_on_demand": cost / full_cost,
        "break_even_per_hour": break_even(job, spot_usd, full_usd),
    }
