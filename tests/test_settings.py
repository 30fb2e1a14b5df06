"""The settings that a command is given: one JSON value with the keys that it uses."""

import pytest

from epochcost import ROOT, errors, files, settings
from epochcost.errors import InputError
from epochcost.plan import wanted


def given(command: str, text: str = "{}") -> settings.Settings:
    """What a command reads from its command line."""
    parser = errors.Parser()
    settings.option(parser, command)
    return parser.parse_args(["--settings", text]).settings


def test_a_command_reads_what_it_is_given_and_holds_no_other_key(monkeypatch):
    part = wanted.read().part("costs", "advise")
    monkeypatch.setattr(files, "read_yaml", lambda path: pytest.fail(f"it reads {path}"))
    chosen = given("costs", part)
    assert chosen.spot.wait_s == 120
    with pytest.raises(AttributeError):
        chosen.budget  # noqa: B018


def test_by_hand_what_is_not_given_is_that_of_the_configuration():
    chosen = given("costs", '{"price": 0.1}')
    assert (chosen.price.per_hour_usd, chosen.price.kind) == (0.1, "on_demand")
    assert chosen.spot.wait_s == 120


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x=1", "--settings: x=1 is not a JSON object"),
        ('{"exchange_rat": 1}', "unknown key 'exchange_rat'; did you mean 'exchange_rates'"),
        ('{"exchange_rates": {"EUR": -5}}', "--settings: exchange_rates: EUR: .*, not -5"),
        ('{"exchange_rates": [1]}', "--settings: exchange_rates: .*, not \\[1\\]"),
    ],
)
def test_a_mistake_is_one_line(text, said):
    with pytest.raises(InputError, match=said):
        given("prices", text)


def test_a_key_that_the_shipped_configuration_lacks_writes_nothing(tmp_path):
    defaults = files.read_yaml(ROOT / "config/config.yaml")
    (tmp_path / "config/schemas").mkdir(parents=True)
    (tmp_path / "config/README.md").write_text("as it was")
    with pytest.raises(InputError, match="has no key seed; add it there first"):
        settings.write(tmp_path, {key: defaults[key] for key in defaults if key != "seed"})
    assert (tmp_path / "config/README.md").read_text() == "as it was"
    assert list((tmp_path / "config/schemas").iterdir()) == []
