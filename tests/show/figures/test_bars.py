from itertools import pairwise

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from observed import typed

from epochcost import ROOT, schemas
from epochcost.models import workloads
from epochcost.money import prices
from epochcost.money import tables as cost_tables
from epochcost.money.market import Market
from epochcost.results import published, rows, tables
from epochcost.show.figures import bars, selection, style
from epochcost.show.wording import amounts, names, remarks

BASE = bars.Base("K80", "TensorFlow", "2017-11", 0.4975)


@pytest.fixture
def relative(record):
    """relative.csv of the published runs and one quick run here, as a figure script reads it."""

    def make(price: float | None = 0.1, **data) -> pd.DataFrame:
        record["data"] |= data
        known = workloads.read()
        labels = {key: entry["label"] for key, entry in schemas.read("hardware").items()}
        runs = tables.runs_table(
            [*published.runs(ROOT / "data/published", labels), rows.run_row(typed(record), "")]
        )
        local = None
        if price is not None:
            local = prices.Price("local", price, "on_demand" if price else "free", None, "config")
        book = prices.load(ROOT / "data/published/prices.csv")
        market = Market(book, local=local, machine_id=record["machine"]["id"])
        costs = cost_tables.costs_table(runs, market)
        bases = pd.read_csv(ROOT / "data/published/baselines.csv")
        table = cost_tables.relative_table(
            runs, costs, bases, known.complete_samples(), known.recipes, market
        )
        return selection.side_by_side(table)

    return make


def rows_of(relative: pd.DataFrame, workload: str = "mnist_mlp") -> pd.DataFrame:
    order = list(schemas.read("hardware"))
    return selection.rows_of(relative, workload, "woolf2017gpu", order)


def test_own_rows_come_first_then_hardware_in_the_order_of_the_catalogue(relative):
    shown = rows_of(relative())
    assert list(shown.hardware_id) == [
        "local", "gce-k80", "gce-k80", "gce-p100", "gce-p100",
        "gce-n1-highcpu-16", "gce-n1-highcpu-32",
    ]  # fmt: skip
    assert list(shown.framework[1:3]) == ["keras-tensorflow", "keras-cntk"]


def test_a_full_run_takes_the_place_of_its_prediction(relative):
    table = relative()
    own = table[table.source_id.eq("own")]
    full = own.assign(predicted=False)
    shown = rows_of(pd.concat([table, full]))
    assert list(shown[shown.source_id.eq("own")].predicted) == [False]


def long_names(relative: pd.DataFrame, slow: float) -> pd.DataFrame:
    """The own rows with a long name and several remarks, at `slow` times their value."""
    own = relative.source_id.eq("own")
    changed = relative.assign(
        hardware_label=relative.hardware_label.mask(own, "AMD EPYC, family 25 model 1, 2 cores"),
        noisy_runs=relative.noisy_runs.mask(own, 1),
        quality_reached=relative.quality_reached.mask(own, False),
    )
    for quantity in ("time", "cost"):
        for part in ("", "_low", "_high"):
            changed.loc[own, f"{quantity}_relative{part}"] *= slow
    return changed


@pytest.mark.parametrize("slow", [None, 1, 50])
@pytest.mark.parametrize("quantity", bars.QUANTITIES, ids=lambda q: q.name)
@pytest.mark.parametrize("workload", ["mnist_mlp", "mnist_cnn", "imdb_bilstm", "cifar10_cnn"])
def test_no_text_is_struck_through_and_none_overlap(relative, workload, quantity, slow):
    table = relative()
    shown = rows_of(table if slow is None else long_names(table, slow), workload)
    figure = bars.draw(shown, quantity, workload, BASE)
    figure.canvas.draw()
    axes = figure.axes[0]
    for axis in (axes.get_xticklabels(), axes.get_yticklabels()):
        boxes = [tick.get_window_extent() for tick in axis]
        assert not any(one.overlaps(other) for one, other in pairwise(boxes))
    line = axes.transData.transform((1, 0))[0]
    labels = [text for text in axes.texts if "x  " in text.get_text()]
    assert len(labels) == len(shown)
    for text in labels:
        box = text.get_window_extent()
        assert not box.x0 <= line <= box.x1, text.get_text()
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        for tick in axes.get_yticklabels():
            assert not box.overlaps(tick.get_window_extent()), text.get_text()
    plt.close(figure)


@pytest.mark.parametrize("price", [0.1, 0.0, None])
def test_the_legend_names_the_kinds_of_bars_that_there_are(relative, price):
    """A run here without a price, or for free, has no bar of its cost."""
    figure = bars.draw(rows_of(relative(price)), bars.QUANTITIES[1], "MNIST", BASE)
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    predicted = ["predicted from a quick run here, with its interval"] if price else []
    assert named == [*predicted, "published single runs, coloured by hardware"]


def test_the_legend_promises_no_interval_where_there_is_none(relative):
    shown = rows_of(relative())
    shown[["time_relative_low", "time_relative_high"]] = float("nan")
    figure = bars.draw(shown, bars.QUANTITIES[0], "MNIST", BASE)
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named[0] == "predicted from a quick run here"
    plt.close(figure)


def test_values_are_the_ratios_of_the_table(relative):
    shown = rows_of(relative())
    figure = bars.draw(shown, bars.QUANTITIES[1], "MNIST", BASE)
    texts = [text.get_text() for text in figure.axes[0].texts]
    p100 = shown[shown.hardware_id.eq("gce-p100")].index[0]
    assert texts[p100] == "2.59x  $0.0231"
    plt.close(figure)


def test_generated_data_is_written_across_the_picture(relative):
    shown = rows_of(relative(source="synthetic"))
    figure = bars.draw(shown, bars.QUANTITIES[0], "MNIST", BASE)
    assert "SYNTHETIC DATA" in [text.get_text() for text in figure.axes[0].texts]
    assert "synthetic data" in figure.axes[0].get_yticklabels()[0].get_text()
    plt.close(figure)


def test_a_free_machine_is_drawn(relative):
    figure = bars.draw(rows_of(relative(price=0.0)), bars.QUANTITIES[1], "MNIST", BASE)
    assert "free" in [text.get_text() for text in figure.axes[0].texts]
    plt.close(figure)


def test_the_headline_says_what_it_rests_on(relative):
    shown = rows_of(relative())
    assert (
        bars.headline(shown, bars.QUANTITIES[0], "MNIST", BASE)
        .split("(")[1]
        .startswith("predicted")
    )
    poor = shown[shown.source_id.eq("own")].assign(
        predicted=False, quality_reached=False, time_relative=0.01
    )
    text = bars.headline(pd.concat([poor, shown]), bars.QUANTITIES[0], "MNIST", BASE)
    assert "0.01" not in text
    text = bars.headline(poor, bars.QUANTITIES[0], "MNIST", BASE)
    assert text == "MNIST: no run here reached the quality target"


def test_a_tuned_run_is_told_from_a_default_one(relative):
    table = relative()
    own = table[table.source_id.eq("own")]
    shown = rows_of(pd.concat([table, own.assign(variant="tuned")]))
    shown = shown.assign(apart=names.tell_apart(shown))
    said = [bars.row_name(row, bars.QUANTITIES[0]) for row in shown.itertuples()]
    said = [" ".join(name.split()) for name in said]  # on one line
    assert sum("(tuned)" in name for name in said) == 1
    assert sum("nothing beat the defaults" in name for name in said) == 1
    assert len(set(said)) == len(said)


def test_a_run_on_fewer_samples_is_not_drawn(relative):
    table = relative(train_samples=6_000, complete=False)
    shown = rows_of(table)
    assert shown[shown.source_id.eq("own")].time_relative.isna().all()
    names = [note for row in shown.itertuples() for note in remarks.of_row(row)]
    assert "6,000 of 60,000 samples" in names


def test_a_subset_does_not_take_the_place_of_the_whole(relative):
    table = relative()
    subset = table[table.source_id.eq("own")].assign(predicted=False, data_complete=False)
    shown = rows_of(pd.concat([table, subset]))
    assert sorted(shown[shown.source_id.eq("own")].data_complete) == [False, True]


def test_an_unknown_price_is_said(relative):
    figure = bars.draw(rows_of(relative(price=None)), bars.QUANTITIES[1], "MNIST", BASE)
    assert "no price known" in [text.get_text() for text in figure.axes[0].texts]
    plt.close(figure)


def test_the_same_rows_give_the_same_bytes(relative, tmp_path):
    for name in ("1", "2"):
        figure = bars.draw(rows_of(relative()), bars.QUANTITIES[0], "MNIST", BASE)
        style.save(figure, tmp_path / name)
    for suffix in (".svg", ".png"):
        first, second = (tmp_path / f"{name}{suffix}" for name in ("1", "2"))
        assert first.read_bytes() == second.read_bytes()


def test_hardware_colours_can_be_told_apart_in_greyscale():
    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    shown = ["local", "gce-k80", "gce-p100", "gce-n1-highcpu-16", "gce-n1-highcpu-32"]
    values = sorted(lightness(style.colour(hardware)) for hardware in shown)
    assert all(b - a > 10 for a, b in pairwise(values))


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


def test_the_headline_says_the_kind_of_a_price_that_differs(relative):
    shown = rows_of(relative())
    own = shown.source_id.eq("own")
    spot = shown.assign(
        price_kind=shown.price_kind.mask(own, "spot"),
        mixed_price_kinds=shown.mixed_price_kinds.mask(own, True),
    )
    text = bars.headline(spot, bars.QUANTITIES[1], "MNIST", BASE)
    assert text.endswith("(predicted, spot price)")


def test_two_versions_of_one_framework_have_two_names(relative):
    table = relative()
    own = table[table.source_id.eq("own")]
    shown = rows_of(pd.concat([table, own.assign(framework_version="keras 9")]))
    figure = bars.draw(shown, bars.QUANTITIES[0], "MNIST", BASE)
    said = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert sum("keras 9" in name for name in said) == 1
    assert len(set(said)) == len(said)
    plt.close(figure)
