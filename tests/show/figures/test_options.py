"""What a buyer looks at: the options, a bill in its parts, the history."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from observed import typed

from epochcost import ROOT
from epochcost.models import workloads
from epochcost.money import billing, history, options, prices
from epochcost.money.billing import Rental
from epochcost.money.market import Market
from epochcost.results import published, rows, tables
from epochcost.show.figures import frontier, waterfall
from epochcost.show.figures import history as history_figure
from epochcost.show.wording import amounts

PUBLISHED = ROOT / "data/published"
HERE = "9552f777d6a3"
RENTAL = Rental(boot_s=60, idle_s=30, disk_gib=10, disk_usd_per_gib_month=0.04)


@pytest.fixture
def market(record) -> Market:
    known = prices.load(PUBLISHED / "prices.csv", ROOT / "config/prices.csv")
    here = record["machine"]["id"]
    local = prices.Price("local", 2.0, "on_demand", None, "config")
    return Market(known, "2017-12", rental=RENTAL, local=local, machine_id=here)


@pytest.fixture
def runs(record) -> pd.DataFrame:
    return tables.runs_table([*published.runs(PUBLISHED, {}), rows.run_row(typed(record), "here")])


@pytest.fixture
def choices(runs, market) -> pd.DataFrame:
    """The options of mnist_mlp in December 2017, one of them measured here."""
    about = workloads.read()
    table = options.options_table(
        runs, tables.epochs_table([]), about.complete_samples(), about.recipes, market
    )
    return table[table.workload.eq("mnist_mlp")].reset_index(drop=True)


def drawn(options: pd.DataFrame, **asked) -> tuple:
    """The figure, its title and the line below it."""
    figure = frontier.draw(options, "mnist_mlp", HERE, **asked)
    count = len(frontier.style.Frame(122, "mnist_mlp", "").title_lines)
    title, *others = (text.get_text() for text in figure.texts)
    return figure, title, " ".join(others[count - 1 :])


def test_every_option_with_a_price_is_a_point_and_the_steps_pass_through_those_worth_it(choices):
    figure, title, grey = drawn(choices)
    (axes,) = figure.axes
    points = {
        (line.get_xdata()[0], line.get_ydata()[0])
        for line in axes.lines
        if line.get_marker() == "o"
    }
    priced = choices[choices.billed_usd.gt(0)]
    assert points == set(zip(priced.elapsed_s, priced.billed_usd, strict=True))
    (steps,) = [line for line in axes.lines if line.get_drawstyle() == "steps-post"]
    worth_it = priced[priced.efficient.astype(bool)]
    assert len(worth_it) >= 2
    assert set(zip(worth_it.elapsed_s, worth_it.billed_usd, strict=True)) <= set(
        zip(*steps.get_data(), strict=True)
    )
    assert title == f"mnist_mlp: of {len(priced)} options {len(worth_it)} are worth it"
    assert "None was measured here" not in grey
    assert grey.startswith("Cheapest: ")
    *_, theirs = drawn(choices.assign(source_id="woolf2017gpu"))
    assert theirs.endswith("None was measured here.")


def test_spot_prices_are_rings_joined_with_those_on_demand(choices):
    figure, *_ = drawn(choices)
    rings = [
        line
        for line in figure.axes[0].lines
        if line.get_marker() == "o" and line.get_markerfacecolor() == frontier.style.PAPER
    ]
    priced = choices[choices.billed_usd.gt(0)]
    assert len(rings) == priced.price_kind.isin(["spot", "preemptible"]).sum() > 0
    pairs = [line for line in figure.axes[0].lines if line.get_color() == frontier.style.BAND]
    assert pairs and all(len(set(line.get_xdata())) == 1 for line in pairs)


def test_what_is_context_is_on_no_frontier_and_is_never_the_cheapest(choices):
    own = choices.source_id.eq("own")
    assert own.any() and not own.all()
    # The own one would be neither the cheapest nor the fastest.
    part = choices.assign(context="").assign(billed_usd=choices.billed_usd.mask(own, 9.0))
    part = part.assign(context=part.context.mask(~own, "a time of 2017"))
    _, title, grey = drawn(part)
    assert f"of {own.sum()} option" in title
    assert f"Cheapest: {choices.hardware_label[own].iloc[0]} " in grey
    figure, title, _ = drawn(choices.assign(context="a time of 2017"))
    assert title == "mnist_mlp: no machine of today is known"
    assert not [line for line in figure.axes[0].lines if line.get_drawstyle() == "steps-post"]


def test_machines_at_one_price_an_hour_lie_on_a_line(choices):
    (axes,) = drawn(choices)[0].axes
    lines = [line for line in axes.lines if line.get_color() == frontier.style.GRID]
    hourly = [3600 * line.get_ydata() / line.get_xdata() for line in lines]
    assert np.ptp(hourly, axis=1) == pytest.approx(0)
    assert [one[0] for one in hourly] == pytest.approx([0.01, 0.1, 1, 10, 100])


def test_a_free_option_is_named_and_has_no_point(choices):
    free = choices.iloc[[0]].assign(
        hardware_label="a friend's", billed_usd=0.0, billed_low=np.nan, billed_high=np.nan
    )
    *_, grey = drawn(pd.concat([choices, free], ignore_index=True))
    assert grey.endswith("a friend's is free.")


def test_what_is_asked_for_is_a_line_where_it_is_near(choices):
    dashed = [
        sum(line.get_linestyle() == "--" for line in drawn(choices, **asked)[0].axes[0].lines)
        for asked in (
            {"deadline_s": 100.0, "budget_usd": 0.02},
            {"deadline_s": 1e7, "budget_usd": 1e4},
        )
    ]
    assert dashed == [2, 0]


@pytest.mark.parametrize("count", [2, 10, 60, 500])
def test_whatever_is_written_can_be_read(choices, count):
    first = choices[choices.billed_usd.gt(0)].iloc[0]
    rows = []
    for number in range(count):
        share = number / max(count - 1, 1)
        change = {"hardware_label": f"a machine with a long name {number}", "context": ""}
        change |= {"machine_id": f"{number}", "elapsed_s": 10 * 100**share}
        change |= {"billed_usd": 10 * 0.01**share * (1 + number % 3)}
        change |= {"elapsed_low": np.nan, "elapsed_high": np.nan}
        change |= {"billed_low": np.nan, "billed_high": np.nan}
        rows.append(first.to_dict() | change)
    figure, title, _ = drawn(pd.DataFrame(rows), deadline_s=50.0)
    figure.canvas.draw()
    texts = list(figure.texts)
    for axes in figure.axes:
        texts += [*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels()]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    assert all(text.get_fontsize() >= 8.2 for text in texts)
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
    for one, other in combinations(boxes, 2):
        assert not one.padded(-1).overlaps(other)
    assert len(title) <= 60
    assert bool(figure.axes) == (count >= frontier.FEWEST)


def test_without_a_price_the_pictures_say_so(choices):
    none = choices.iloc[:0]
    assert drawn(none)[1] == "mnist_mlp: no option with a price is known"
    figure = waterfall.draw(waterfall.shown_of(none), RENTAL, "mnist_mlp")
    assert [text.get_text() for text in figure.axes[0].texts] == ["no option with a price is known"]


def test_a_bill_is_that_of_the_cheapest_measured_here_and_the_sum_of_its_parts(choices):
    shown = waterfall.shown_of(choices)
    assert shown.hardware_id == "local"
    for _, option in choices.iterrows():
        terms = billing.terms_of(option)
        parts = billing.bill_in_parts(option.time_s, option.overhead_s, terms, RENTAL)
        assert sum(parts.values()) == pytest.approx(option.billed_usd)
        assert {"training", "boot", "idle", "disk"} <= set(parts)
    figure = waterfall.draw(shown, RENTAL, "mnist_mlp")
    *bars, whole = figure.axes[0].patches
    ends = [0.0, *(bar.get_x() + bar.get_width() for bar in bars)]
    assert [bar.get_x() for bar in bars] == pytest.approx(ends[:-1])
    assert ends[-1] == pytest.approx(whole.get_width())


@pytest.fixture
def drawn_history(choices, runs, market):
    past = history.history_table(runs, market)
    past = history.kinds_shown(past[past.workload.eq("mnist_mlp")])
    best = history.measured_here(choices, runs)
    base = runs[runs.run_id.eq("woolf2017gpu/k80/mnist_mlp_tensorflow")].squeeze()
    change = history.change(base, 0.4975, best, choices)
    figure = history_figure.draw(past, best, change, "mnist_mlp", "the K80 of 2017")
    return past, change, figure


def test_a_history_has_a_line_for_each_hardware_and_kind_of_price(drawn_history):
    past, _, figure = drawn_history
    lines = [line for line in figure.axes[0].lines if line.get_drawstyle() == "steps-post"]
    assert len(lines) == len(past.drop_duplicates(["hardware_id", "price_kind"]))
    assert sum(len(line.get_xdata()) for line in lines) == len(past)


def test_no_two_names_of_lines_stand_on_each_other(drawn_history):
    _, _, figure = drawn_history
    figure.savefig("/dev/null", format="png")
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) > 4
    for one, other in combinations(boxes, 2):
        assert not one.shrunk(1, 0.8).overlaps(other.shrunk(1, 0.8))


def test_the_factors_of_a_change_begin_where_the_one_before_ends(drawn_history):
    _, change, figure = drawn_history
    *factors, whole = figure.axes[1].patches
    edge = 1.0
    for bar in factors:
        assert bar.get_x() == pytest.approx(edge)
        edge += bar.get_width()
    assert edge == pytest.approx(change.whole) == pytest.approx(1 + whole.get_width())
    assert amounts.ratio(change.whole) in headline(figure)


def test_the_name_of_what_was_measured_here_is_where_there_is_room():
    assert history_figure.room_above(0.03, [0.027, 0.07, 0.01])
    assert not history_figure.room_above(0.03, [0.033, 0.01])
    assert not history_figure.room_above(0.03, [])


def test_the_title_of_a_history_is_short_and_the_line_below_says_what_it_rests_on(drawn_history):
    _, change, figure = drawn_history
    assert headline(figure) == f"mnist_mlp: {amounts.ratio(change.whole)} what the K80 of 2017 cost"
    assert len(headline(figure)) <= 60
    assert figure.axes[0].get_title("left").startswith("Now: ")


def headline(figure) -> str:
    return " ".join(figure.get_suptitle().split())
