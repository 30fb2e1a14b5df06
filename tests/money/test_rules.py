"""Billing rules have dates of their own: each price is billed by those of the book's time."""

import csv
import math
from datetime import date

import pandas as pd
import pytest

from epochcost import ROOT, schemas
from epochcost.errors import InputError
from epochcost.models import workloads
from epochcost.money import billing, billing_rules, estimates, market, options, prices
from epochcost.record.record import recipe_id
from epochcost.results import published, tables

HEAD = "hardware_id,price_per_hour,currency,price_kind,as_of,source_id"


@pytest.fixture(scope="module")
def choices(known):
    """Makes options.csv of the published runs, by the name of the price book."""
    about = workloads.read()
    runs = tables.runs_table(published.runs(ROOT / "data/published", {}))
    made = {}

    def make(book: str):
        if book not in made:
            made[book] = options.options_table(
                runs,
                tables.epochs_table([]),
                about.complete_samples(),
                about.recipes,
                market.Market(known, book, catalogue=schemas.read("hardware")),
            )
        return made[book]

    return make


@pytest.mark.parametrize(
    ("workload", "hardware", "variant", "kind", "usd"),
    [
        ("mnist_mlp", "gce-n1-highcpu-8", "compiled", "preemptible", 0.001556),
        ("mnist_mlp", "gce-n1-highcpu-64", "compiled", "preemptible", 0.01216),
        ("twitter_bilstm", "aws-p2.xlarge", "default", "on_demand", 3.258),
    ],
)
def test_what_the_rules_of_december_2017_charge(choices, workload, hardware, variant, kind, usd):
    """Their prices are of July 2017 and of 2016, when there were other rules."""
    found = choices("2017-12")
    found = found[
        found.workload.eq(workload) & found.hardware_id.eq(hardware)
        & found.variant.eq(variant) & found.price_kind.eq(kind)
    ]  # fmt: skip
    assert float(f"{found.billed_usd.item():.4g}") == usd
    assert found.billing_increment_s.item() == 1
    assert found.minimum_charge_s.item() == 60


# In force at the end of December 2017, as the posts say: seconds, and at least sixty of them.
OF_2017_12 = {"gcp": (1, 60), "aws": (1, 60)}


def recomputed() -> dict[tuple, tuple[float, float]]:
    """The bills of December 2017 from the published files alone, without the product.

    By source, hardware, rounded time and kind of price: USD an hour, and the bill.
    """
    newest: dict[tuple[str, str], tuple[str, float, str]] = {}
    for path in ("data/published/prices.csv", "config/prices.csv"):
        with open(ROOT / path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if "2015-12-31" <= row["as_of"] <= "2017-12-31":
                    key = row["hardware_id"], row["price_kind"]
                    price = row["as_of"], float(row["price_per_hour"]), row["provider"]
                    newest[key] = max(price, newest.get(key, ("", 0.0, "")))
    bills = {}
    with open(ROOT / "data/published/measurements.csv", newline="", encoding="utf-8") as file:
        for run in csv.DictReader(file):
            if run["row_kind"] != "total":
                continue
            seconds = float(run["time_s"])
            for (hardware, kind), (_, hourly, provider) in newest.items():
                if hardware == run["hardware_id"]:
                    increment, minimum = OF_2017_12[provider]
                    charged = max(minimum, math.ceil(seconds / increment) * increment)
                    key = run["source_id"], hardware, round(seconds, 4), kind
                    bills[key] = hourly, charged * hourly / 3600
    return bills


def test_each_bill_of_december_2017_is_that_of_an_independent_recomputation(choices):
    table, expected = choices("2017-12"), recomputed()
    assert len(table) > 100
    for row in table.itertuples():
        hourly, usd = expected[row.source_id, row.hardware_id, round(row.time_s, 4), row.price_kind]
        assert row.price_per_hour_usd == hourly
        assert row.billed_usd == pytest.approx(usd, rel=1e-9), row


def terms(known: list[prices.Price], book: str, hardware: str) -> set[tuple]:
    return {
        (price.increment_s, price.minimum_s)
        for price in prices.in_book(known, book)
        if price.hardware_id == hardware
    }


@pytest.mark.parametrize(
    ("book", "hardware", "expected"),
    [
        ("2017-07", "gce-k80", (60, 600)),
        ("2017-09-25", "gce-n1-highcpu-64", (60, 600)),
        ("2017-09-26", "gce-n1-highcpu-64", (1, 60)),
        ("2017-09", "gce-k80", (1, 60)),
        ("2017-10-01", "aws-c4.8xlarge", (3600, 3600)),
        ("2017-10-02", "aws-c4.8xlarge", (1, 60)),
        ("2018-10", "aws-sagemaker-ml.p2.xlarge", (None, None)),
        ("2018-10", "aws-p2.xlarge", (1, 60)),
        ("2018-02", "softlayer-2xm60", (3600, 3600)),
        ("2018-02", "hetzner-ex51-ssd-gpu", (billing.MONTH_S, billing.MONTH_S)),
        ("2018-02", "paperspace-p6000", (0.001, None)),
        ("2018-10", "paperspace-m4000", (None, None)),
        ("2026-07", "lambda-gpu-1x-gh200", (60, None)),
        ("2025-12", "digitalocean-g-16vcpu-64gb", (3600, 3600)),
        ("2026-07", "digitalocean-g-16vcpu-64gb", (1, 60)),
        ("2025-12", "digitalocean-gpu-h100x1-80gb", (3600, 3600)),
        ("2026-07", "digitalocean-gpu-h100x1-80gb", (1, 60)),
        ("latest", "vultr-vbm-112c-2048gb-8-h100-gpu", (3600, 3600)),
        ("2026-07", "crusoe-l40s-48gb", (None, None)),
        ("2026-08-17", "crusoe-l40s-48gb", (1, None)),
        ("2026-07", "vast-1x-h200-32-65536", (1, None)),
    ],
)
def test_a_price_is_billed_by_the_rule_of_the_books_day(known, book, hardware, expected):
    assert terms(known, book, hardware) == {expected}


def test_published_runs_are_billed_by_the_rules_of_their_month(make_tables):
    _, costs, _ = make_tables(kind="billed")
    of_k80 = costs[costs.hardware_id.eq("gce-k80") & costs.price_kind.eq("on_demand")]
    found = {
        (row.price_book, row.billing_increment_s, row.minimum_charge_s)
        for row in of_k80.itertuples()
    }
    assert found == {("2017-07", 60, 600), ("2017-11", 1, 60)}


def test_a_rate_file_states_its_own_rules_or_names_its_provider(price_file):
    path = price_file(
        "a,1,USD,on_demand,2026-07-01,us,gcp,,",
        "b,1,USD,on_demand,2026-07-01,us,gcp,300,600",
        "c,1,USD,on_demand,2026-07-01,us,gcp,,900",
        "d,1,USD,on_demand,2026-07-01,us,,,",
        "e,1,USD,on_demand,2026-07-01,us,gcp,0,0",
        head=f"{HEAD},provider,billing_increment_s,minimum_charge_s",
    )
    found = prices.of_file(path, {}, "abcde")
    assert [terms(found, str(path), name) for name in "abcde"] == [
        {(1, 60)}, {(300, 600)}, {(None, 900)}, {(None, None)}, {(0, 0)},
    ]  # fmt: skip
    assert billing.charged_seconds(12.5, billing.Terms(1.0, 0.0, 0.0)) == 12.5


def estimate(known, book: str, hardware: str, workload: str):
    """The row of one planned full run."""
    about = workloads.read()
    recipe = recipe_id(about.recipes[workload])
    plan = [(hardware, workload, "keras-tensorflow", "default", 1, recipe, "complete")]
    (row,) = estimates.estimate_table(
        pd.DataFrame(plan, columns=estimates.PLAN_COLUMNS),
        tables.runs_table(published.runs(ROOT / "data/published", {})),
        "full",
        market.Market(known, book, catalogue=schemas.read("hardware")),
        about.recipes,
        1,
    ).itertuples()
    return row


@pytest.mark.parametrize(
    ("book", "usd"),
    [
        ("2017-08", 600 * 0.745 / 3600),  # ten minutes at least
        ("2017-10", 65 * 0.745 / 3600),
        ("2017-12", 65 * 0.4975 / 3600),
    ],
)
def test_a_plan_is_billed_by_the_rules_of_the_books_time(known, book, usd):
    row = estimate(known, book, "gce-k80", "mnist_mlp")
    assert 64 < row.seconds < 65
    assert row.cost_usd == pytest.approx(usd)


def test_a_plan_knows_no_price_of_a_later_time(known):
    """Retired hardware is counted at its last price, but not before it had one."""
    hardware = "gce-k80-n1-standard-4"
    assert pd.isna(estimate(known, "2017-12", hardware, "twitter_bilstm").cost_usd)
    assert estimate(known, "latest", hardware, "twitter_bilstm").cost_usd == pytest.approx(
        2.38, 0.01
    )


def test_the_narrower_rule_goes_before_the_newer_one():
    def rule(instance, kind, day, increment):
        return billing_rules.Rule("p", instance, kind, date.fromisoformat(day), increment, None)

    found = [
        rule("", "", "2020-01-01", 1),
        rule("gpu-*", "", "2019-01-01", 2),
        rule("", "spot", "2018-01-01", 3),
    ]

    def increment(instance, kind, day):
        fitting = [rule for rule in found if rule.is_for("p", instance, kind)]
        chosen = billing_rules.in_force(fitting, date.fromisoformat(day))
        return chosen and chosen.increment_s

    assert increment("gpu-h100", "on_demand", "2021-01-01") == 2
    assert increment("cpu", "spot", "2021-01-01") == 3
    assert increment("cpu", "on_demand", "2021-01-01") == 1
    assert increment("cpu", "on_demand", "2019-12-31") is None
    assert not found[0].is_for("q", "cpu", "spot")


RULE_HEAD = "provider,instance,price_kind,since,billing_increment_s,minimum_charge_s,source"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["p,,,2020-13-01,1,60,me"], "line 2: since: '2020-13-01' is not a date"),
        (["p,,,2020-01-01,60,1,me"], "line 2, minimum_charge_s: 1 is below the increment 60"),
        (["p,,,2020-01-01,1e-9,,me"], "billing_increment_s: 1e-09 is less than a millisecond"),
        (["p,,spott,2020-01-01,1,,me"], "price_kind: 'spott' is not allowed; did you mean 'spot'"),
        ([",,,2020-01-01,1,,me"], "line 2: provider: it is empty, and not text"),
        (["p,,,2020-01-01,1,,me", "p,,,2020-01-01,2,,me"], "line 3, since: the rule of p of 2020"),
        (["p,,,2020-01-01,1,,"], "line 2: source: it is empty, and not text"),
    ],
)
def test_a_bad_rule_is_named_with_line_and_column(tmp_path, lines, message):
    (tmp_path / "billing.csv").write_text("\n".join([RULE_HEAD, *lines]))
    with pytest.raises(InputError) as raised:
        billing_rules.load(tmp_path / "billing.csv")
    assert message in str(raised.value)


def test_each_rule_that_is_shipped_is_for_a_price_and_has_a_source(known):
    with open(ROOT / "data/published/sources.csv", newline="") as file:
        sources = {row["source_id"] for row in csv.DictReader(file)}
    with open(ROOT / "config/billing.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["source"] in sources or "://" in row["source"] for row in rows)
    used = {rule for price in known for rule in price.rules}
    assert used == set(billing_rules.load())


# An example of each provider of current prices, and its increment and minimum; None is not known.
EXAMPLES = {
    "aws": ("aws-p5.48xlarge", 1, 60),
    "crusoe": ("crusoe-l40s-48gb", 1, None),
    "digitalocean": ("digitalocean-gpu-h100x8-640gb", 1, 60),
    "gcp": ("gcp-tpu-v6e-8", 1, 60),
    "hyperbolic": ("hyperbolic-1x-h100-75-722", None, None),
    "jarvislabs": ("jarvislabs-h100", 60, None),
    "lambda": ("lambda-gpu-1x-gh200", 60, None),
    "nebius": ("nebius-gpu-h200-sxm-1gpu-16vcpu-200gb", 1, None),
    "paperspace": ("paperspace-v100", None, None),
    "runpod": ("runpod-1x-a100-80gb-secure", 1, None),
    "vastai": ("vast-1x-h200-32-65536", 1, None),
    "vultr": ("vultr-vbm-112c-2048gb-8-h100-gpu", 3600, 3600),
}


@pytest.mark.parametrize("provider", EXAMPLES)
def test_an_example_of_each_provider_is_billed_by_its_rule_of_today(known, provider):
    hardware, increment, minimum = EXAMPLES[provider]
    assert terms(known, "latest", hardware) == {(increment, minimum)}


def test_of_current_providers_only_two_bill_by_unknown_rules(known):
    """What would change this: a rule with its source, in config/billing.csv."""
    with open(ROOT / "config/prices.csv", newline="", encoding="utf-8") as file:
        provider_of = {row["hardware_id"]: row["provider"] for row in csv.DictReader(file)}
    assert set(provider_of.values()) == set(EXAMPLES)
    unknown = {
        provider_of[price.hardware_id]
        for price in prices.in_book(known, "latest")
        if price.hardware_id in provider_of and price.increment_s is None
    }
    assert unknown == {"hyperbolic", "paperspace"}


def test_what_nobody_sells_is_no_option(known):
    """It is in the price file, and in no book."""
    offers = market.Market(known, catalogue=schemas.read("hardware"))
    for prices_of in (offers.current(), offers.available()):
        kinds = {
            name: {price.price_kind for price in prices_of if price.hardware_id == name}
            for name in ("gce-a3-highgpu-1g", "crusoe-h100-sxm-80gb", "crusoe-l40s-48gb")
        }
        assert kinds == {
            "gce-a3-highgpu-1g": {"spot"},
            "crusoe-h100-sxm-80gb": set(),
            "crusoe-l40s-48gb": {"on_demand", "spot"},
        }
    assert "gce-a3-highgpu-1g" in {price.hardware_id for price in known}
