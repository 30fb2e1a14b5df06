"""Time and cost by machine: what is drawn, and that it can be read."""

import legible
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
from epochcost.show.figures import dots, selection, style
from epochcost.show.wording import amounts, names, remarks

HERE = "9552f777d6a3"
BASE = dots.Base("K80", "TensorFlow", "2017-11", 0.4975, 64.5, 0.00891)


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


def many(relative: pd.DataFrame, count: int) -> pd.DataFrame:
    """So many machines of the project with long names, from 0.01x to 100x, beside those of 2017."""
    shown = rows_of(relative)
    own = shown[shown.source_id.eq("own")].iloc[0]
    made = []
    for number in range(count):
        times = 10 ** (4 * number / max(count - 1, 1) - 2)
        changed = {
            "hardware_label": f"AMD EPYC 9654, family {number} model 17, 2 cores",
            "machine_id": HERE if number == count // 2 else f"m{number:08}",
            "framework": list(names.FRAMEWORKS)[number % 6],
            "predicted": bool(number % 2),
            "shipped": "" if number == count // 2 else "2026-11-26",
        }
        for quantity, one in (("time", BASE.time_s), ("cost", BASE.cost_usd)):
            absolute = "time_s" if quantity == "time" else "cost_usd"
            changed |= {absolute: times * one, f"{quantity}_relative": times}
            changed |= {f"{quantity}_low": 0.8 * times * one, f"{quantity}_high": 1.2 * times * one}
        made.append(own.to_dict() | changed)
    return pd.concat([pd.DataFrame(made), shown[shown.source_id.ne("own")]], ignore_index=True)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("count", [2, 10, 60, 500])
def test_everything_written_can_be_read(relative, count, narrow):
    figure = dots.draw(many(relative(), count), "catsdogs_resnet50", BASE, HERE, narrow)
    legible.check(figure, tallest=25 if narrow else 11)


def contrast(colour: str) -> float:
    """With white paper, as WCAG has it."""

    def part(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4

    red, green, blue = (part(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def test_marks_have_contrast_and_differ_by_more_than_colour():
    marks = [style.mark(name) for name in names.FRAMEWORKS]
    assert all(contrast(mark.colour) >= 3 for mark in marks)
    assert contrast(style.FAINT) >= 4.5
    assert len({mark.shape for mark in marks}) == len({mark.colour for mark in marks}) == len(marks)


def test_the_fastest_the_machine_at_hand_and_the_k80_are_drawn_and_the_others_counted(relative):
    rows = many(relative(), 60)
    rows = rows.assign(here=tables.made_here(rows), line=dots.lines_of(rows, HERE))
    shown, left = dots.choose(rows)
    assert shown.time_s.is_monotonic_increasing
    assert shown.here.sum() == 1
    fixed = shown[shown.here | shown.time_relative.eq(1)].line.unique()
    assert shown[~shown.line.isin(fixed)].line.nunique() == dots.MOST
    assert left == rows.line.nunique() - shown.line.nunique()
    figure = dots.draw(rows, "mnist_mlp", BASE, HERE)
    assert any(f"{left} more machines" in text.get_text() for text in figure.texts)
    plt.close(figure)


def drawn(figure: plt.Figure, panel: int = 0) -> list[str]:
    return [text.get_text() for text in figure.axes[panel].texts]


def test_the_best_of_each_machine_is_labelled_with_its_value(relative):
    shown = rows_of(relative())
    figure = dots.draw(shown, "mnist_mlp", BASE, HERE)
    p100 = shown[shown.hardware_id.eq("gce-p100")].set_index("framework")
    assert p100.cost_usd["keras-cntk"] < p100.cost_usd["keras-tensorflow"]
    assert f"CNTK {amounts.dollars(p100.cost_usd['keras-cntk'])}" in drawn(figure, 1)
    assert f"CNTK {amounts.seconds(p100.time_s['keras-cntk'])}" in drawn(figure)
    plt.close(figure)


def test_what_is_predicted_is_hollow(relative):
    figure = dots.draw(rows_of(relative()), "mnist_mlp", BASE, HERE)
    hollow = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == style.PAPER]
    assert len(hollow) == 1
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["Keras TensorFlow", "Keras CNTK", "predicted"]
    plt.close(figure)


def test_generated_data_is_written_across_the_picture(relative):
    figure = dots.draw(rows_of(relative(source="synthetic")), "mnist_mlp", BASE, HERE)
    assert "SYNTHETIC DATA" in drawn(figure)
    assert "synthetic data" in figure.texts[1].get_text()
    plt.close(figure)


def test_a_free_machine_is_drawn(relative):
    figure = dots.draw(rows_of(relative(price=0.0)), "mnist_mlp", BASE, HERE)
    assert "free" in drawn(figure, 1)
    plt.close(figure)


def test_machines_without_a_price_are_named_below(relative):
    figure = dots.draw(rows_of(relative(price=None)), "mnist_mlp", BASE, HERE)
    assert any(text.get_text().startswith("No price known: ") for text in figure.texts)
    plt.close(figure)


def test_the_title_says_what_was_found(relative):
    shown = rows_of(relative())
    shown = shown.assign(here=tables.made_here(shown))
    said = dots.finding(shown, "mnist_mlp")
    assert said.startswith("mnist_mlp here: ")
    assert said.endswith(" cost")
    assert "predicted" in dots.qualification(shown, BASE)
    poor = shown.assign(quality_reached=shown.quality_reached.mask(shown.here, False))
    assert dots.finding(poor, "mnist_mlp") == "mnist_mlp: no run here reached the quality target"
    others = shown[~shown.here]
    assert dots.finding(others, "mnist_mlp") == "mnist_mlp: what others published"


def test_the_title_is_about_machines_that_can_be_had(relative):
    """Measured ones: what others published is a time of 2017, and the K80 cannot be rented."""
    shown = rows_of(relative()).assign(here=False)
    own = shown[shown.source_id.eq("own")].assign(hardware_label="this one")
    fast = own.assign(hardware_id="gce-k80", hardware_label="K80", time_s=1.0, cost_usd=1e-6)
    spot = own.assign(hardware_label="that one", time_s=9e9, cost_usd=1e-5)
    spot = spot.assign(price_kind="spot", mixed_price_kinds=True)
    others = shown[shown.source_id.ne("own")]
    rows = pd.concat([others, own, fast, spot], ignore_index=True)
    said = dots.finding(rows, "mnist_mlp", gone=["gce-k80"])
    assert said == "mnist_mlp: this one fastest, that one cheapest (spot)"


def test_a_single_full_run_looks_no_surer_than_repeats_have_shown(relative):
    shown = rows_of(relative())
    (one,) = shown[shown.source_id.eq("own")].to_dict("records")
    full = pd.DataFrame([one]).assign(predicted=False, time_low=float("nan"))
    figure = dots.draw(pd.concat([full, shown[1:]]), "mnist_mlp", BASE, HERE)
    ends = [list(line.get_xdata()) for line in figure.axes[0].lines]
    assert [one["later_low"], one["later_high"]] in ends
    cost = one["cost_usd"] * one["later_high"] / one["time_s"]
    assert any(cost == pytest.approx(line.get_xdata()[-1]) for line in figure.axes[1].lines)
    assert any(text.get_text().startswith("Thin lines: ") for text in figure.texts)
    plt.close(figure)


def test_of_two_machines_of_one_name_it_is_said_which_has_no_price(relative):
    shown = rows_of(relative())
    own = shown[shown.source_id.eq("own")]
    other = own.assign(machine_id="ba9876543210", cost_usd=float("nan"))
    figure = dots.draw(pd.concat([shown, other]), "mnist_mlp", BASE, HERE)
    (said,) = [text.get_text() for text in figure.texts if "No price" in text.get_text()]
    assert said.endswith("(machine ba987654).")
    plt.close(figure)


def test_no_word_of_a_name_stands_alone(relative):
    shown = rows_of(relative())
    shown["hardware_label"] = "AMD EPYC 9B45 (Turin), 2 of 192 cores"
    figure = dots.draw(shown, "mnist_mlp", BASE, HERE)
    for label in figure.axes[0].get_yticklabels():
        assert label.get_text().startswith("AMD EPYC 9B45 (Turin),\n2 of 192 cores\n")
    plt.close(figure)


@pytest.mark.parametrize("workload", ["mnist_mlp", "catsdogs_resnet50"])
@pytest.mark.parametrize("slow", [0.012, 123.4])
def test_titles_are_short(relative, workload, slow):
    shown = rows_of(relative())
    shown = shown.assign(
        here=tables.made_here(shown), time_relative=slow, cost_relative=slow, quality_reached=None
    )
    assert len(dots.finding(shown, workload)) <= 60
    assert len(dots.finding(shown[~shown.here], workload)) <= 60


def test_another_kind_of_price_is_said(relative):
    shown = rows_of(relative())
    own = shown.source_id.eq("own")
    spot = shown.assign(
        price_kind=shown.price_kind.mask(own, "spot"),
        mixed_price_kinds=shown.mixed_price_kinds.mask(own, True),
    )
    figure = dots.draw(spot, "mnist_mlp", BASE, HERE)
    assert any(said.endswith(", spot") for said in drawn(figure, 1))
    assert "spot price" in figure.texts[1].get_text()
    plt.close(figure)


def test_a_run_on_fewer_samples_is_not_drawn(relative):
    shown = rows_of(relative(train_samples=6_000, complete=False))
    assert shown[shown.source_id.eq("own")].time_relative.isna().all()
    assert "6,000 of 60,000 samples" in [
        note for row in shown.itertuples() for note in remarks.of_row(row)
    ]
    figure = dots.draw(shown, "mnist_mlp", BASE, HERE)
    assert not any("this machine" in tick.get_text() for tick in figure.axes[0].get_yticklabels())
    plt.close(figure)


def test_a_subset_does_not_take_the_place_of_the_whole(relative):
    table = relative()
    subset = table[table.source_id.eq("own")].assign(predicted=False, data_complete=False)
    shown = rows_of(pd.concat([table, subset]))
    assert sorted(shown[shown.source_id.eq("own")].data_complete) == [False, True]


def test_the_same_rows_give_the_same_bytes(relative, tmp_path):
    for name in ("1", "2"):
        figure = dots.draw(rows_of(relative()), "mnist_mlp", BASE, HERE)
        style.save(figure, tmp_path / name)
    for suffix in (".svg", ".png"):
        first, second = (tmp_path / f"{name}{suffix}" for name in ("1", "2"))
        assert first.read_bytes() == second.read_bytes()
    written = (tmp_path / "1.svg").read_text()
    assert "at $0.4975 an hour." in written, "text stays text, with all digits"


def test_hostile_names_are_text(relative, tmp_path):
    shown = rows_of(relative())
    own = shown.source_id.eq("own")
    name = "<script>alert(1)</script> $x$ &"
    shown = shown.assign(hardware_label=shown.hardware_label.mask(own, name))
    style.save(dots.draw(shown, "mnist_mlp", BASE, HERE), tmp_path / "hostile")
    written = (tmp_path / "hostile.svg").read_text()
    assert "<script" not in written
    assert "&lt;script" in written
