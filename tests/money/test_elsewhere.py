"""Options on machines that nobody measured: estimated, in their own class, or refused."""

import re
from types import SimpleNamespace

import measured
import pandas as pd
import pytest

from epochcost import ROOT, estimate, schemas
from epochcost.errors import InputError
from epochcost.models import workloads
from epochcost.money import elsewhere, options, prices, wishes
from epochcost.money.market import Market
from epochcost.results import published, rows, tables
from epochcost.results.repeats import summaries
from epochcost.results.spreads import known as spreads_of
from epochcost.settings import Settings
from epochcost.show import advice, page
from epochcost.show.figures import frontier
from epochcost.show.wording import amounts

CATALOGUE = schemas.read("hardware")
BY_RATIOS = {"A100-80GB", "A100-40GB", "A100", "H100", "B200"}
BY_SHEET = {"T4", "L4", "A10G", "L40S"}


@pytest.fixture(scope="module")
def knowledge() -> estimate.Knowledge:
    return estimate.read()


@pytest.fixture(scope="module")
def shipped() -> pd.DataFrame:
    """runs.csv of a fresh clone."""
    labels = {name: one["label"] for name, one in CATALOGUE.items()}
    made = [rows.run_row(one, "") for one in measured.read()]
    return tables.runs_table([*published.runs(ROOT / "data/published", labels), *made])


@pytest.fixture(scope="module")
def make(shipped, knowledge):
    """Makes options.csv of some of the runs of a fresh clone, at the prices of the newest book."""
    offers = prices.load(ROOT / "data/published/prices.csv", ROOT / "config/prices.csv")
    about = workloads.read()

    def make(chosen=lambda runs: runs.index >= 0, local=None, machine="") -> pd.DataFrame:
        market = Market(offers, "2026-07", local=local, machine_id=machine, catalogue=CATALOGUE)
        return options.options_table(
            shipped[chosen(shipped)], tables.epochs_table([]), about.complete_samples(),
            about.recipes, market, knowledge=knowledge,
        )  # fmt: skip

    return make


@pytest.fixture(scope="module")
def fresh(make) -> pd.DataFrame:
    return make()


def test_from_an_h200_today_s_gpus_are_estimated_each_with_its_interval(fresh):
    found = fresh[fresh.evidence.eq("estimated") & fresh.workload.eq("cifar10_cnn")]
    found = found[found.framework.eq("pytorch") & found.variant.eq("default")]
    kinds = found.assign(kind=found.basis.str.split(",").str[0]).groupby("gpu").kind.first()
    assert set(kinds.index) >= {"H100", "B200", *BY_SHEET}
    assert set(kinds[kinds.index.isin(BY_SHEET)]) == {"data sheet"}
    assert "data sheet" not in set(kinds[kinds.index.isin(BY_RATIOS)])
    assert (found.elapsed_low < found.elapsed_s).all()
    assert (found.elapsed_s < found.elapsed_high).all()
    assert not set(found.gpu) & {"P100", "K80", "V100-16GB", "MI300X"}
    assert found.basis.str.contains("from H200-SXM").all()
    assert found.runs.eq(0).all() and found.metric_value.isna().all()


def test_an_estimate_is_no_surer_than_what_it_is_made_of(shipped, knowledge):
    own = shipped[shipped.workload.eq("imdb_fasttext") & shipped.framework.eq("keras-jax")]
    own = summaries(own[own.gpu.ne("") & ~own.synthetic.astype(bool)])
    spreads = spreads_of(shipped)
    (row,) = elsewhere.rows(own, ["aws-p5.4xlarge"], CATALOGUE, knowledge, spreads).itertuples()
    alone = estimate.time_on(elsewhere.measured(own), "H100", 1, "tf32", knowledge)
    assert row.time_s == pytest.approx(alone.seconds)
    assert row.time_high > alone.high and row.time_low < alone.low
    assert row.deviation > spreads["full"].later


def test_processors_alone_are_no_ground_for_an_estimate(make):
    found = make(lambda runs: runs.gpus_used.fillna(0).eq(0))
    assert found.evidence.ne("estimated").all()


def test_machine_types_with_several_gpus_are_not_estimated_from_one(fresh):
    estimated = fresh[fresh.evidence.eq("estimated")]
    assert {CATALOGUE[name]["gpu_count"] for name in estimated.hardware_id} == {1}


def test_what_was_measured_of_a_machine_type_is_not_estimated(shipped, make, fresh):
    """A T4 with a run of PyTorch: no estimate of that workload there, whatever the framework."""
    assert fresh.hardware_id.eq("gce-t4").any()
    one = shipped[shipped.workload.eq("mnist_cnn") & shipped.machine_id.eq("b98faf98fac2")]
    there = one.head(1).assign(
        hardware_id="gce-t4", hardware_label="T4", machine_id="", host="", time_s=50.0, gpu="T4"
    )
    both = pd.concat([shipped, there], ignore_index=True)
    found = options.options_table(
        both, tables.epochs_table([]), workloads.read().complete_samples(),
        workloads.read().recipes,
        Market(prices.load(ROOT / "config/prices.csv"), "2026-07", catalogue=CATALOGUE),
        knowledge=estimate.read(),
    )  # fmt: skip
    there = found[found.hardware_id.eq("gce-t4")]
    assert set(there[there.workload.eq("mnist_cnn")].evidence) == {"predicted"}
    assert set(there[there.workload.eq("cifar10_cnn")].evidence) == {"estimated"}


@pytest.mark.parametrize(
    ("peak_gib", "fits"), [(5.0, "yes"), (15.5, "probably not"), (30.0, None), (None, "not known")]
)
def test_what_does_not_fit_into_the_memory_is_no_option(shipped, knowledge, peak_gib, fits):
    own = shipped[shipped.workload.eq("cifar10_cnn") & shipped.framework.eq("pytorch")]
    own = summaries(own[own.gpu.ne("") & ~own.synthetic.astype(bool)])
    own = own.assign(gpu_memory_gib=peak_gib)
    found = elsewhere.rows(own, ["gce-t4"], CATALOGUE, knowledge, spreads_of(shipped))
    assert list(found.fits) == ([] if fits is None else [fits])


def test_frameworks_that_take_all_memory_say_nothing_of_it(fresh):
    estimated = fresh[fresh.evidence.eq("estimated")]
    assert set(estimated[estimated.framework.eq("keras-jax")].fits) == {"not known"}
    assert set(estimated[estimated.framework.eq("pytorch")].fits) == {"yes"}


def test_classes_are_compared_with_their_own_kind_alone(make):
    """However cheap estimates are, what was measured has its own frontier and chances."""
    local = prices.Price("local", 100.0, "on_demand", None, "config")
    found = make(local=local, machine="b98faf98fac2")
    for _, one in found[found.workload.eq("mnist_cnn")].groupby(found.evidence):
        chances = one.cheapest_probability.sum()
        assert chances == pytest.approx(0 if one.context.ne("").all() else 1)
        assert one.efficient.any() == one.context.eq("").any()


def test_an_estimate_never_outranks_a_measurement_in_the_advice(make, fresh):
    own = fresh[fresh.evidence.eq("estimated") & fresh.workload.eq("mnist_cnn")]
    dear = own.head(1).assign(
        evidence="measured", hardware_label="here", billed_usd=9.0, billed_low=8.0, runs=1,
        billed_high=10.0, source_id="own", basis="",
    )  # fmt: skip
    both = pd.concat([dear, own], ignore_index=True)
    text = advice.text("mnist_cnn", both)
    assert text.splitlines()[1].startswith("Cheapest tried: here with")
    assert "Probably cheaper, not tried: RTX 3090, Vast.ai with PyTorch, est" in text
    row = text.splitlines().index(next(line for line in text.splitlines() if "evidence" in line))
    assert "measured" in text.splitlines()[row + 1], "what was measured comes first"
    assert advice.recommended(both, None, None).iloc[0] == "cheapest and fastest"
    # Page and picture name it, too, and do not rank it either.
    tried, not_tried = page.choices_of(both)
    assert (tried["machine"], not_tried["machine"]) == ("here", "RTX 3090, Vast.ai")
    assert not_tried["basis"].startswith("probably cheaper, not tried; chained")
    title, *grey = (text.get_text() for text in frontier.draw(both, "mnist_cnn").texts)
    assert "tried" in title
    assert "Probably cheaper, not tried (diamond): RTX 3090" in " ".join(grey).replace("\n", " ")
    cheap = both.assign(billed_usd=both.billed_usd.where(both.evidence.ne("measured"), 1e-6))
    assert "Probably cheaper" not in advice.text("mnist_cnn", cheap)
    assert len(page.choices_of(cheap.head(1))) == 1
    slow = cheap.assign(elapsed_s=cheap.elapsed_s.where(cheap.evidence.ne("measured"), 1e5))
    assert "Probably faster, not tried: RTX 3090" in advice.text("mnist_cnn", slow)
    near = both.assign(billed_usd=both.billed_usd.where(both.evidence.ne("measured"), 0.002))
    near = near.assign(elapsed_s=near.elapsed_s.where(near.evidence.ne("measured"), 1.0))
    assert "Perhaps cheaper, not tried: RTX 3090" in advice.text("mnist_cnn", near)


def test_no_estimate_beyond_the_budget_is_named_beside_what_was_measured(fresh):
    own = fresh[fresh.evidence.eq("estimated") & fresh.workload.eq("mnist_cnn")]
    here = own.head(1).assign(evidence="measured", source_id="own", runs=1, basis="")
    here = here.assign(elapsed_s=1e5, elapsed_high=2e5, billed_usd=9.0, billed_high=10.0)
    both = pd.concat([here, own], ignore_index=True)
    assert "Probably cheaper, not tried" in advice.text("mnist_cnn", both)
    text = advice.text("mnist_cnn", both, None, 1e-5)
    assert "not tried" not in text and "Surer, for" not in text


def test_the_plan_and_the_options_say_one_time_of_a_machine(shipped, fresh, knowledge):
    """With its start, and to the same upper end."""
    option = fresh[fresh.hardware_id.eq("aws-g4dn.xlarge") & fresh.framework.eq("pytorch")]
    option = option[option.workload.eq("cifar10_cnn") & option.variant.eq("default")].iloc[0]
    runs = shipped[shipped.workload.eq("cifar10_cnn") & shipped.framework.eq("pytorch")]
    runs = runs[elsewhere.counts(runs) & runs.variant.eq("default")]
    found = elsewhere.on(runs, CATALOGUE["aws-g4dn.xlarge"], knowledge)
    assert found.seconds == pytest.approx(option.elapsed_s)
    assert found.high == pytest.approx(option.elapsed_high, rel=0.01), "spreads have four digits"


def test_the_advice_of_a_fresh_clone_is_ten_lines_of_a_hundred_columns(fresh):
    for workload, found in fresh.groupby("workload"):
        text = advice.text(workload, found.reset_index(drop=True), 3600.0, 1.0)
        lines = text.splitlines()
        assert len(lines) <= 10, text
        assert max(map(len, lines)) <= 100, text
    text = advice.text("cifar10_cnn", fresh[fresh.workload.eq("cifar10_cnn")], 3600.0, 1.0)
    assert "Cheapest within 60 min: RTX 3090, Vast.ai with Keras JAX, estimated " in text
    head, *others = (line for line in text.splitlines() if line.startswith("  "))
    assert head.split()[:2] == ["hardware,", "framework"]
    assert others[0].split()[0] == "vast-1x-rtx-3090-32-65536," and "2026-07" in others[0]
    assert len(others) >= 3 and any(line.split()[0].startswith("lambda") for line in others)
    assert "Basis: 1 run, chained, 7 networks, from H200-SXM" in text
    assert "; memory need unknown." in text, "JAX takes all of it at once"
    assert re.search(r"Surer, for about \$0\.00\d+:", text)
    there = "  python scripts/remote.py HOST vast-1x-rtx-3090-32-65536 \\\n    --config workloads="
    assert f"{there}cifar10_cnn frameworks=keras-jax\n" in text
    tuned = fresh[fresh.workload.eq("cifar10_cnn")].assign(variant="tuned")
    assert " variants=tuned\n" in advice.text("cifar10_cnn", tuned, 3600.0, 1.0)
    said = (ROOT / "README.md").read_text().partition("where nobody measured yet:")[2]
    shown = said.split("```")[1].removeprefix("text\n")
    # The last digit of a range may differ: the command reads a spread of four digits.
    plain, read = (re.sub(r"\d+-\d+ s", "", one) for one in (text, shown))
    assert all(line in plain for line in read.splitlines()), text
    hours = fresh[fresh.workload.eq("cifar10_cnn")].copy()
    for name in ("elapsed_s", "elapsed_low", "elapsed_high"):
        hours[name] *= 100
    text = advice.text("cifar10_cnn", hours)
    assert "ten minutes there, about $0.04:" in " ".join(text.split())


def asked(**some) -> Settings:
    empty = dict.fromkeys(("gpu", "provider", "region", "price_kind", "epochs", "steps"))
    return SimpleNamespace(**empty | {"exclude": [], "billing": {}} | some)


def test_wishes_are_met(fresh, knowledge):
    def left(**some) -> pd.DataFrame:
        return wishes.meeting(fresh, asked(**some), CATALOGUE, knowledge)

    assert set(left(gpu="l4").gpu) == {"L4"}
    assert {CATALOGUE[name]["provider"] for name in left(provider="aws").hardware_id} == {
        "Amazon EC2"
    }
    assert len(left(provider="aws")) == len(left(provider="amazon ec2"))
    assert set(left(price_kind="on_demand").price_kind) == {"on_demand"}
    assert set(left(region="us-east-1").price_region) == {"us-east-1"}
    assert "RTX3090" not in set(left(exclude=["vast", "RTX 3090"]).gpu)
    assert not left(exclude=["vast"]).hardware_id.str.startswith("vast").any()
    assert len(left()) == len(fresh)
    # Among the rest the frontier is another.
    few = left(provider="aws")
    few = few[few.workload.eq("cifar10_cnn") & few.evidence.eq("estimated")]
    assert few.efficient.sum() > 1
    assert fresh.loc[few.index].efficient.sum() == 0
    gcp = {CATALOGUE[name]["provider"] for name in left(provider="gcp").hardware_id}
    assert gcp == {"Google Compute Engine"}
    assert left(provider="hetzner").empty, "it is in the catalogue, and has no option"
    assert len(left(exclude=["hetzner"])) == len(fresh)


def as_long(options, **length):
    """The options for so many epochs or steps."""
    return wishes.as_long(options, options.head(0), asked(**length))[0]


def test_more_epochs_take_as_much_longer_and_start_once(fresh):
    before = fresh[fresh.workload.eq("cifar10_cnn")].rename_axis("row").reset_index()
    same, longer = (as_long(before, epochs=epochs).sort_values("row") for epochs in (20, 2000))
    for column in ("time_s", "elapsed_high", "billed_usd", "billed_low", "cheapest_probability"):
        assert same[column].to_numpy() == pytest.approx(before[column].to_numpy(), nan_ok=True)
    assert longer.time_s.to_numpy() == pytest.approx(100 * before.time_s.to_numpy())
    around = (before.elapsed_s - before.time_s).to_numpy()
    assert (longer.elapsed_s - longer.time_s).to_numpy() == pytest.approx(around, abs=1e-6)
    assert (longer.billed_usd.to_numpy() > before.billed_usd.to_numpy()).all()
    text = advice.text("cifar10_cnn", longer.reset_index(drop=True), length="2000 epochs")
    assert "cifar10_cnn: one training of 2000 epochs" in text
    with pytest.raises(InputError, match="cifar10_cnn is counted in epochs; say epochs=N"):
        as_long(before, steps=2)


def test_an_own_training_is_as_long_as_its_steps(fresh):
    own = fresh[fresh.workload.eq("cifar10_cnn")].assign(framework="own", epochs=1.0, steps=500.0)
    longer = as_long(own, steps=5_000).sort_values("time_s")
    assert longer.time_s.to_numpy() == pytest.approx(10 * own.time_s.sort_values().to_numpy())
    assert longer.steps.eq(5_000).all() and longer.epochs.eq(1).all()
    assert list(longer.per_epoch_usd) == pytest.approx(list(longer.marginal_usd))
    unknown = own.assign(steps=float("nan"))
    assert "of 1,000 steps (for the whole say steps=N)" in advice.text("cifar10_cnn", unknown)
    doubled = as_long(unknown, steps=2_000).sort_values("time_s")
    assert list(doubled.time_s) == pytest.approx(list(2 * own.time_s.sort_values()))
    # What was measured of another length is predicted, and says nothing of quality.
    done = own.assign(evidence="measured", metric_value=0.75, predicted=False)
    for steps, evidence in ((500, "measured"), (5_000, "predicted")):
        found = as_long(done, steps=steps)
        assert set(found.evidence) == {evidence}
        assert found.metric_value.isna().all() == (steps != 500)
    assert as_long(own.assign(time_s=0.0), steps=5_000).empty, "a first step alone"
    with pytest.raises(InputError, match="cifar10_cnn is counted in steps; say steps=N"):
        as_long(own, epochs=50)


@pytest.mark.parametrize(
    ("steps", "length", "said"),
    [(None, "", "1,000 steps"), (2_000, "2000 steps", "2000 steps")],
)
def test_what_has_no_price_is_as_long_as_is_asked_for(fresh, steps, length, said):
    own = fresh[fresh.workload.eq("cifar10_cnn")].head(1)
    own = own.assign(framework="own", steps=float("nan"), hardware_label="here", predicted=True)
    none, unpriced = wishes.as_long(own.head(0), own, asked(steps=steps))
    text = advice.text("cifar10_cnn", none, unpriced=unpriced, length=length)
    time = amounts.seconds(own.time_s.iloc[0] * (2 if steps else 1))
    assert f"here; predicted {time} for {said} without its start" in " ".join(text.split())


@pytest.mark.parametrize(
    ("some", "said"),
    [
        ({"gpu": "L5"}, "config: gpu: unknown 'L5'; "),
        ({"provider": "azure"}, "no machine type is of 'azure'; known: Amazon"),
        ({"provider": "nebios"}, "no machine type is of 'nebios'; did you mean 'Nebius'?"),
        ({"price_kind": "spott"}, "no option has 'spott'; did you mean 'spot'?"),
        ({"exclude": ["gce-t5"]}, "no machine type is of 'gce-t5'; did you mean 'gce-t4'?"),
    ],
)
def test_a_wish_that_nothing_meets_names_the_nearest(fresh, knowledge, some, said):
    with pytest.raises(InputError) as error:
        wishes.meeting(fresh, asked(**some), CATALOGUE, knowledge)
    assert said in str(error.value)
