"""What a buyer looks at: the options, their bills in parts, what changed since 2017."""

import legible
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
from epochcost.show.figures import bills, frontier
from epochcost.show.figures import history as pictured
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
        tuple(point)
        for line in axes.lines
        if line.get_marker() == "o"
        for point in line.get_xydata()
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
    assert theirs.endswith("Nothing with a price was measured here.")


def test_spot_prices_are_rings_joined_with_those_on_demand(choices):
    figure, *_ = drawn(choices)
    rings = [
        point
        for line in figure.axes[0].lines
        if line.get_marker() == "o" and line.get_markerfacecolor() == frontier.style.PAPER
        for point in line.get_xydata()
    ]
    priced = choices[choices.billed_usd.gt(0)]
    assert len(rings) == priced.price_kind.isin(["spot", "preemptible"]).sum() > 0
    (pairs,) = [line for line in figure.axes[0].lines if line.get_color() == frontier.style.BAND]
    times = pairs.get_xdata()
    gaps = np.flatnonzero(np.isnan(times))
    joined = np.split(times, gaps + 1)[:-1]
    assert joined and all(len(set(one[:-1])) == 1 < len(one) - 1 for one in joined)


def test_what_is_context_is_on_no_frontier_and_is_never_the_cheapest(choices):
    own = choices.source_id.eq("own")
    assert own.any() and not own.all()
    # The own one would be neither the cheapest nor the fastest.
    part = choices.assign(context="").assign(billed_usd=choices.billed_usd.mask(own, 9.0))
    part = part.assign(context=part.context.mask(~own, "a time of 2017"))
    _, title, grey = drawn(part)
    assert title == "mnist_mlp: one option is known"
    assert f"Cheapest and fastest: {choices.hardware_label[own].iloc[0]} " in grey
    figure, title, _ = drawn(choices.assign(context="a time of 2017"))
    assert title == "mnist_mlp: no machine of today has a price"
    assert not [line for line in figure.axes[0].lines if line.get_drawstyle() == "steps-post"]
    (legend,) = figure.legends
    assert "context, no option" in [text.get_text() for text in legend.get_texts()]


def test_a_table_of_few_options_lists_no_context_beside_them(choices):
    own, old = choices.source_id.eq("own"), choices.hardware_id.eq("gce-p100")
    few = choices[own | old].assign(context="")
    few = few.assign(context=few.context.mask(old, "a time of 2017"))
    figure, *_ = drawn(few)
    said = [text.get_text() for text in figure.texts]
    assert f"{choices.hardware_label[own].iloc[0]} (this machine)" in said
    assert f"Not listed, as they are context and no options today: {old.sum()}." in said
    assert "a time of 2017" not in said
    figure, *_, grey = drawn(few[few.context.ne("")])
    assert [text.get_text() for text in figure.texts].count("a time of 2017") == old.sum()
    assert "What others published is context" in grey


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
    assert len(title) <= 60
    assert bool(figure.axes) == (count >= frontier.FEWEST)
    legible.check(figure, tallest=7)


def test_without_a_price_the_pictures_say_so(choices):
    none = choices.iloc[:0]
    assert drawn(none)[1] == "mnist_mlp: no option with a price is known"
    figure = bills.draw(none, RENTAL, "mnist_mlp")
    assert [text.get_text() for text in figure.texts] == [
        "mnist_mlp: no bill is known",
        "No machine of today has a price and a time here.",
    ]


def test_the_parts_of_a_bill_add_up_to_it_and_to_what_is_charged(choices):
    for row in choices[choices.billed_usd.gt(0)].itertuples():
        terms = billing.terms_of(row)
        parts = billing.bill_in_parts(row.time_s, row.overhead_s, terms, RENTAL)
        assert sum(usd for _, usd in parts.values()) == pytest.approx(row.billed_usd)
        used = row.time_s + row.overhead_s + RENTAL.seconds
        charged = billing.charged_seconds(used, terms)
        assert sum(seconds for seconds, _ in parts.values()) == pytest.approx(charged)
        assert tuple(parts) == billing.PARTS


def test_a_bar_is_a_bill_in_seconds_and_in_dollars(choices):
    figure = bills.draw(choices, RENTAL, "mnist_mlp")
    shown = bills.worth_it(choices, RENTAL)
    assert shown.share.lt(bills.PLAIN).all()
    seconds, dollars = (
        [bar.get_x() + bar.get_width() for bar in axes.patches][len(billing.PARTS) - 1 ::
                                                                 len(billing.PARTS)]
        for axes in figure.axes
    )  # fmt: skip
    assert dollars == pytest.approx(list(shown.billed_usd))
    assert min(seconds) > shown.time_s.min()
    least = f"{shown.share.min():.0%}"
    assert figure.texts[0].get_text() == f"mnist_mlp: as little as {least} of a bill is training"


def test_bills_that_are_training_alone_are_counted_and_not_drawn(choices):
    bare = choices.assign(overhead_s=0.0, billed_usd=choices.marginal_usd)
    bare = bare.assign(billing_increment_s=np.nan, minimum_charge_s=np.nan)
    figure = bills.draw(bare, billing.NOTHING, "mnist_mlp")
    assert not figure.axes
    assert figure.texts[0].get_text() == "mnist_mlp: the bills are for training"
    (only,) = bare[bare.billed_usd.gt(0)].head(1).itertuples()
    figure = bills.draw(bare[bare.index == only.Index].assign(efficient=True), billing.NOTHING, "w")
    said = figure.texts[1].get_text()
    assert said == "At least 100% of the bill of the only option is training."


@pytest.mark.parametrize("count", [2, 10, 60, 500])
def test_bills_can_be_read(choices, count):
    first = choices[choices.billed_usd.gt(0)].iloc[0].to_dict()
    rows = []
    for number in range(count):
        change = {"hardware_label": f"a machine with a very long name {number}", "efficient": True}
        change |= {"time_s": 1000.0 / (number + 1), "overhead_s": 300.0, "predicted": True}
        terms = billing.terms_of(pd.Series(first))
        bill = billing.bill_usd(change["time_s"] + 300.0, terms, RENTAL)
        rows.append(first | change | {"billed_usd": bill})
    figure = bills.draw(pd.DataFrame(rows), RENTAL, "catsdogs_resnet50")
    assert figure.axes
    legible.check(figure, tallest=7)


@pytest.fixture
def past(choices, runs) -> pd.DataFrame:
    """history.csv, of which mnist_mlp was measured here."""
    return history.history_table(runs, choices, pd.read_csv(PUBLISHED / "baselines.csv"))


def test_the_history_has_a_row_per_workload_whose_factors_multiply_to_the_whole(past):
    assert len(past) == past.workload.nunique() >= 7
    row = past.set_index("workload").loc["mnist_mlp"]
    assert (row.source_id, row.then_book) == ("own", "2017-11")
    assert row.then_usd == pytest.approx(64.5 * 0.4975 / 3600, rel=0.01)
    assert row.whole == pytest.approx(row.now_usd / row.then_usd)
    assert row.price * row.both == pytest.approx(row.whole)
    assert row.price == pytest.approx(2.0 / 0.4975)
    assert past.now_usd.isna().sum() == len(past) - 1, "of the others nothing has a price"


def test_what_can_be_interrupted_is_no_end_of_a_history(choices):
    priced = choices[choices.marginal_usd.gt(0)]
    assert history.cheapest(priced).source_id == "own"
    theirs = priced[priced.source_id.ne("own")]
    assert history.cheapest(theirs).price_kind == "on_demand"
    assert theirs.marginal_usd.idxmin() != history.cheapest(theirs).name
    assert history.cheapest(theirs[theirs.price_kind.ne("on_demand")]) is None


def test_the_same_software_on_another_machine_changed_nothing(choices, runs):
    base = runs[runs.run_id.eq("woolf2017gpu/k80/mnist_mlp_tensorflow")].squeeze()
    theirs = choices[choices.source_id.eq(base.source_id)]
    option = theirs[theirs.framework.eq("keras-tensorflow")].iloc[0]
    found = history.change(base, 0.4975, option, choices)
    assert (found.software, found.hardware) == (1.0, option.time_s / base.time_s)


def test_the_factors_of_a_history_begin_where_the_one_before_ends(past):
    figure = pictured.draw(past)
    row = past[past.now_usd.notna()].iloc[0]
    edge = 1.0
    for bar in figure.axes[1].patches:
        assert bar.get_x() == pytest.approx(edge)
        edge += bar.get_width()
    assert edge == pytest.approx(row.whole)
    said = amounts.ratio(row.whole)
    title = f"1 of {len(past)} trained here: {said} the cost of 2017"
    assert figure.texts[0].get_text() == title
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[:3] == ["hourly price", "hardware and software", "in all"]


def test_a_history_names_a_machine_and_its_framework_in_full(past):
    row = past[past.now_usd.notna()].iloc[[0]]
    long = row.assign(hardware_label="AMD EPYC, family 25 model 17, 2 cores", framework="pytorch")
    (_, now) = [text.get_text() for text in pictured.draw(long).axes[0].texts]
    assert " ".join(now.split()).endswith("AMD EPYC, family 25 model 17, 2 cores, PyTorch")


def test_a_history_of_published_times_says_that_they_are_old(past):
    row = past[past.now_usd.notna()].iloc[[0]].assign(source_id="woolf2017gpu")
    title = pictured.title(row)
    assert title.endswith("the cost of 2017: old times, today's prices") and len(title) <= 60
    assert pictured.title(past[past.now_usd.isna()]) == "What training cost in 2017"


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("count", [0, 1, 8, 20])
def test_a_history_can_be_read(past, count, narrow):
    one = past[past.now_usd.notna()].iloc[0].to_dict()
    rows = [
        one
        | {"workload": f"workload_{number:03}", "then_usd": 0.01 * 1.02**number}
        | {"now_usd": 0.001 * 1.5**number, "predicted": number % 2 == 0}
        | {"hardware": np.nan if number % 3 else 0.5, "hardware_label": "AMD EPYC, family 25"}
        for number in range(count)
    ]
    rows.append(past[past.now_usd.isna()].iloc[0].to_dict())
    legible.check(pictured.draw(pd.DataFrame(rows), narrow), tallest=35 if narrow else 16)


def test_places_of_names_are_apart_and_in_order():
    places = pictured.spread([0.5, 0.5, 0.51, 0.9, 0.0], 0.1)
    assert all(np.diff(sorted(places)) >= 0.1 - 1e-9)
    assert sorted(range(5), key=places.__getitem__) == [4, 0, 1, 2, 3]
    assert min(places) >= 0.05 and max(places) <= 0.95
    assert places[3] == pytest.approx(0.9)
