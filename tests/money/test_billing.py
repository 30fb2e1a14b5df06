"""What is charged, by hand and by its properties."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epochcost.money import billing
from epochcost.money.billing import Rental, Terms, bill_in_parts, bill_usd, charged_seconds

DAY = 24 * 3600.0
seconds = st.floats(0.001, 400 * DAY)
increments = st.one_of(st.just(math.nan), st.sampled_from([0.001, 1, 60, 3600, 30 * DAY]))
minimums = st.one_of(st.just(math.nan), st.floats(0, DAY))
prices = st.floats(0, 1000)
rentals = st.builds(Rental, *[st.floats(0, 10_000)] * 5, disk_usd_per_gib_month=st.floats(0, 1))


@pytest.mark.parametrize(
    ("used", "increment", "minimum", "charged"),
    [
        (64.5, 60, 600, 600),  # Compute Engine until September 2017
        (605, 60, 600, 660),
        (64.5, 1, 60, 65),  # and since
        (30, 1, 60, 60),
        (3600, 3600, 3600, 3600),  # whole hours on AWS until October 2017
        (3600.5, 3600, 3600, 7200),
        (12_345.678, math.nan, math.nan, 12_345.678),  # rules that are not known
        (2 * 3600, 30 * DAY, 30 * DAY, 30 * DAY),  # a server by the month
        (0, 60, 600, 0),
    ],
)
def test_what_is_charged(used, increment, minimum, charged):
    assert charged_seconds(used, Terms(1, increment, minimum)) == charged


def test_columns_are_charged_as_numbers_are():
    columns = charged_seconds(
        np.array([64.5, 30]), Terms(1, np.array([60, math.nan]), np.array([600, 60]))
    )
    assert list(columns) == [600, 60]


def test_a_bill_is_hours_disk_and_fees():
    rental = Rental(boot_s=60, environment_s=600, data_s=120, idle_s=20, disk_gib=100,
                    disk_usd_per_gib_month=0.073)  # fmt: skip
    # 2,000 s of process and 800 s around it; a cent an hour for the disk.
    assert bill_usd(2000, Terms(0.9, 1, 60, 0), rental) == pytest.approx(2800 * 0.91 / 3600)
    assert bill_usd(2000, Terms(0.9, 1, 60, 5), rental) == pytest.approx(5 + 2800 * 0.91 / 3600)
    assert bill_usd(31 * DAY, Terms(0.0, monthly_fee_usd=5), Rental()) == 10


@given(used=seconds, increment=increments, minimum=minimums, price=prices, rental=rentals)
def test_billed_is_never_below_marginal(used, increment, minimum, price, rental):
    rows = pd.DataFrame(
        {
            "cost_kind": list(billing.KINDS),
            "price_kind": "on_demand",
            "price_per_hour_usd": price,
            "billing_increment_s": increment,
            "minimum_charge_s": minimum,
            "monthly_fee_usd": 0.0,
            "overhead_s": 0.0,
        }
    )
    marginal, billed = billing.cost_usd(rows, pd.Series([used, used]), rental)
    assert billed >= marginal * (1 - 1e-12)


@given(
    used=seconds, longer=st.floats(1, 10), increment=increments, minimum=minimums, price=prices,
    dearer=st.floats(1, 10), rental=rentals,
)  # fmt: skip
def test_cost_grows_with_time_and_with_price(
    used, longer, increment, minimum, price, dearer, rental
):
    terms = Terms(price, increment, minimum, 5.0)
    cost = bill_usd(used, terms, rental)
    assert bill_usd(used * longer, terms, rental) >= cost
    assert bill_usd(used, replace(terms, price_per_hour_usd=price * dearer), rental) >= cost


@given(
    used=seconds, overhead=seconds, increment=increments, minimum=minimums, price=prices,
    fee=st.floats(0, 100), rental=rentals,
)  # fmt: skip
def test_the_parts_of_a_bill_make_the_bill(used, overhead, increment, minimum, price, fee, rental):
    terms = Terms(price, increment, minimum, fee)
    parts = bill_in_parts(used, overhead, terms, rental)
    whole = bill_usd(used + overhead, terms, rental)
    assert sum(usd for _, usd in parts.values()) == pytest.approx(whole)


@given(used=st.lists(seconds, min_size=2, max_size=2), price=prices, rate=st.floats(0.001, 1000))
def test_ratios_do_not_depend_on_the_currency(used, price, rate):
    price += 0.01
    costs, others = (
        [bill_usd(s, Terms(p, 60, 600), Rental()) for s in used] for p in (price, price * rate)
    )
    assert costs[0] / costs[1] == pytest.approx(others[0] / others[1])
