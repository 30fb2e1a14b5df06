"""Times, money and ratios as they are said."""

import pytest

from epochcost.show.wording import amounts


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.593, "2.59x"), (0.0431, "0.043x"), (12.34, "12.3x"), (1, "1.00x"), (0.104, "0.10x")],
)
def test_ratios(value, text):
    assert amounts.ratio(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "$0"), (0.000923, "$0.000923"), (0.0231, "$0.0231"), (3.256, "$3.26"), (0.5, "$0.500")],
)
def test_dollars(value, text):
    assert amounts.dollars(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.4975, "$0.4975"), (0.1, "$0.10"), (113.9328, "$113.9328"), (3, "$3.00")]
)
def test_prices_are_not_rounded(value, text):
    assert amounts.price(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(42, "42 s"), (600, "10 min"), (9000, "2.5 h"), (4.5e6, "1,250 h")]
)
def test_durations(value, text):
    assert amounts.seconds(value) == text
