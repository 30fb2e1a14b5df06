import csv
import datetime

import pytest

from epochcost import ROOT
from epochcost.errors import InputError
from epochcost.money import prices


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("gce-k80,-0.5,USD,on_demand,2017-11-28,me", "line 2: price_per_hour: -0.5 is below 0"),
        ("gce-k80,cheap,USD,on_demand,2017-11-28,me", "price_per_hour: 'cheap' is not a number"),
        ("gce-k80,1_5,USD,on_demand,2017-11-28,me", "price_per_hour: '1_5' is not a number"),
        ("gce-k80,nan,USD,on_demand,2017-11-28,me", "price_per_hour: 'nan' is not a number"),
        ("gce-k80,0.5,USD,ondemand,2017-11-28,me", "price_kind: 'ondemand' is not allowed; did yo"),
        ("gce-k80,0.5,USD,on_demand,28.11.2017,me", "as_of: '28.11.2017' is not a date"),
        ("gce-k80,0.5,USD,on_demand,2117-11-28,me", "line 2, as_of: 2117-11-28 is in the future"),
        ("gce-k80,0.5,USX,on_demand,2017-11-28,me", "currency: no exchange rate for 'USX'; did yo"),
        ("gce-k80,0,USD,on_demand,2017-11-28,me", "price_per_hour: 0 and the kind 'free' go "),
        ("gce-k80,1,USD,free,2017-11-28,me", "price_per_hour: 0 and the kind 'free' go together"),
        ("local,0.5,USD,on_demand,2017-11-28,me", "line 2, hardware_id: local is whichever machin"),
        (",0.5,USD,on_demand,2017-11-28,me", "line 2: hardware_id: it is empty, and not text"),
        ("gce-k80,0.5,USD,on_demand,2017-11-28,", "line 2: source_id: it is empty, and not text"),
    ],
)
def test_a_bad_price_is_named_with_line_and_column(price_file, row, message):
    with pytest.raises(InputError) as raised:
        prices.load(price_file(row))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_day_that_has_begun_further_east_is_not_the_future(price_file):
    path, day = price_file("a,1,USD,on_demand,2026-07-02,me"), datetime.date(2026, 7, 1)
    assert len(prices.load(path, today=day)) == 1
    with pytest.raises(InputError, match="2026-07-02 is in the future"):
        prices.load(path, today=day - datetime.timedelta(days=1))


def test_a_short_row_is_named(price_file):
    with pytest.raises(InputError, match="line 2: not as many values as columns"):
        prices.load(price_file("gce-k80,0.5"))


def test_a_missing_column_is_named(tmp_path):
    (tmp_path / "p.csv").write_text("hardware_id,currency\na,USD\n")
    with pytest.raises(InputError, match="line 1: the column 'price_per_hour' is missing"):
        prices.load(tmp_path / "p.csv")


def test_a_column_that_is_there_twice_is_named(price_file):
    head = "hardware_id,price_per_hour,price_per_hour,currency,price_kind,as_of,source_id"
    with pytest.raises(InputError, match="line 1: the column 'price_per_hour' is there twice"):
        prices.load(price_file("a,1,2,USD,on_demand,2017-11-28,me", head=head))


def test_a_misspelt_column_is_named(price_file):
    head = "hardware_id,price_per_hour,curency,price_kind,as_of,source_id"
    with pytest.raises(InputError, match="unknown column 'curency'; did you mean 'currency'"):
        prices.load(price_file("a,1,USD,on_demand,2017-11-28,me", head=head))


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            "gce-k80,0.6,USD,on_demand,2017-11-28,you",
            r"line 3, hardware_id: the on_demand price of",
        ),
        ("gce-k80,0.6,USD,spot,2017-11-28,me", "line 3, price_per_hour: the spot price 0.6 is abo"),
    ],
)
def test_rows_that_contradict_each_other_are_named(price_file, second, message):
    with pytest.raises(InputError, match=message):
        prices.load(price_file("gce-k80,0.5,USD,on_demand,2017-11-28,me", second))


def test_spot_prices_are_held_against_on_demand_ones_in_one_currency(price_file):
    rows = ("a,1,USD,on_demand,2017-11-28,me", "a,0.9,EUR,spot,2017-11-28,me")
    assert [
        price.price_per_hour_usd for price in prices.load(price_file(*rows), rates={"EUR": 1.1})
    ] == [
        1,
        pytest.approx(0.99),
    ]
    with pytest.raises(InputError, match=r"the spot price 1\.08 is above"):
        prices.load(price_file(*rows), rates={"EUR": 1.2})


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("60,30,", "line 2, minimum_charge_s: 30 is below the increment 60"),
        (",,GPU 0.4 + machine 0.05", "line 2, parts: they add up to 0.45, not to 0.5"),
        (",,GPU 0.5 + machine", "parts: they add up to nan"),
    ],
)
def test_rules_and_parts_of_a_price_fit_together(price_file, cells, message):
    head = (
        "hardware_id,price_per_hour,currency,price_kind,as_of,source_id,"
        "billing_increment_s,minimum_charge_s,parts"
    )
    with pytest.raises(InputError, match=message):
        prices.load(price_file(f"a,0.5,USD,on_demand,2017-11-28,me,{cells}", head=head))


def test_an_hour_of_an_owned_machine():
    owned = prices.Owned(
        purchase_usd=2922, years=4, used_hours_per_day=10, watts=500, usd_per_kwh=0.3
    )
    assert owned.per_hour_usd() == pytest.approx(2922 / 14_610 + 0.15)


def test_each_price_that_is_shipped_has_a_known_source(known):
    with open(ROOT / "data/published/sources.csv", newline="") as file:
        sources = {row["source_id"] for row in csv.DictReader(file)}
    assert {price.source_id for price in known} <= sources


def test_a_book_of_a_day(known):
    def k80(book):
        return {
            price.price_kind
            for price in prices.in_book(known, book)
            if price.hardware_id == "gce-k80"
        }

    assert k80("2017-12-16") == {"on_demand"}
    assert k80("2017-12-17") == {"on_demand", "preemptible"}


def test_a_spot_price_is_held_against_the_on_demand_price_of_its_day(price_file):
    rows = ("a,1,USD,on_demand,2026-07-01,me", "a,2,USD,spot,2026-07-02,me")
    with pytest.raises(InputError, match="line 3, price_per_hour: the spot price 2 is above"):
        prices.load(price_file(*rows))
    cheaper = ("a,3,USD,on_demand,2020-07-01,me", "a,2,USD,spot,2021-07-02,me", rows[0])
    assert len(prices.load(price_file(*cheaper))) == 3


def test_a_month_is_billed_whole_if_nothing_else_is_said(price_file):
    (price,) = prices.load(price_file("a,0.22,USD,monthly,2026-07-01,me"))
    assert (price.increment_s, price.minimum_s) == (2_592_000, 2_592_000)


def test_a_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / "p.csv").write_bytes("hardware_id,price\nM\xfcnchen,1\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"p\.csv is not a CSV file in UTF-8"):
        prices.load(tmp_path / "p.csv")


@pytest.mark.parametrize(
    "book", ["2017-13", "last", "no-such-file.csv", "2017", "2017-02-31", "2099-01", "2099-01-01"]
)
def test_a_book_that_cannot_be_is_named(book):
    with pytest.raises(InputError, match=f"'{book}' is not a price book"):
        prices.check_book(book)


def test_an_empty_price_is_unknown(price_file):
    assert prices.load(price_file("gce-k80,,USD,on_demand,2017-11-28,me")) == []


def test_a_row_without_a_price_can_say_that_the_hardware_is_retired(price_file):
    head = "hardware_id,price_per_hour,currency,price_kind,as_of,source_id,retired"
    path = price_file(
        "gce-t4,0.54,USD,on_demand,2026-07-09,me,",
        "gce-t4,,USD,on_demand,2026-09-01,me,2026-09-01",
        head=head,
    )
    (price,) = prices.load(path)
    assert price.retired == datetime.date(2026, 9, 1)


def test_a_book_holds_the_newest_price_of_its_month(known):
    def k80(book):
        return {
            price.price_kind: price.price_per_hour_usd
            for price in prices.in_book(known, book)
            if price.hardware_id == "gce-k80"
        }

    assert k80("2017-06") == {}
    assert k80("2017-07") == {"on_demand": 0.745}
    assert k80("2017-11") == {"on_demand": 0.4975}
    assert k80("2017-12") == {"on_demand": 0.4975, "preemptible": 0.235}
    assert prices.name_of(known, "latest") == "2026-07"
