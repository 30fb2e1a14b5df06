import pytest

from epochcost.costs import prices
from epochcost.errors import InputError


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("gce-k80,-0.5,on_demand,2017-11-28,me", "line 2, price_per_hour_usd: -0.5 cannot be"),
        ("gce-k80,cheap,on_demand,2017-11-28,me", "'cheap' is not a number"),
        ("gce-k80,nan,on_demand,2017-11-28,me", "nan cannot be a price"),
        ("gce-k80,0.5,ondemand,2017-11-28,me", "unknown kind 'ondemand'; did you mean 'on_demand'"),
        ("gce-k80,0.5,on_demand,28.11.2017,me", "'28.11.2017' is not a date"),
    ],
)
def test_a_bad_price_is_named_with_line_and_column(price_file, row, message):
    with pytest.raises(InputError) as raised:
        prices.load(price_file(row))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_short_row_is_named(price_file):
    with pytest.raises(InputError, match="line 2: not as many values as columns"):
        prices.load(price_file("gce-k80,0.5"))


def test_a_missing_column_is_named(tmp_path):
    (tmp_path / "p.csv").write_text("hardware_id,price\na,1\n")
    with pytest.raises(InputError, match="the column 'price_per_hour_usd' is missing"):
        prices.load(tmp_path / "p.csv")


def test_an_empty_price_is_unknown(price_file):
    assert prices.load(price_file("gce-k80,,on_demand,2017-11-28,me")) == []


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
