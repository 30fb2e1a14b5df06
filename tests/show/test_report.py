import re
from html import unescape
from urllib.parse import unquote
from xml.etree import ElementTree

import pandas as pd
import pytest
from observed import typed

from epochcost import ROOT
from epochcost.results import noise
from epochcost.show import answer, page, quality
from epochcost.show.wording import amounts, names, remarks

BASES = pd.read_csv(ROOT / "data/published/baselines.csv")


@pytest.fixture
def row() -> dict:
    """A row of relative.csv: a full run here, with a price."""
    return {
        "workload": "mnist_mlp", "framework": "pytorch", "framework_version": "torch 2",
        "variant": "default", "hardware_id": "local", "hardware_label": "AMD EPYC, 2 cores",
        "machine_id": "0123456789ab", "driver": "", "source_id": "own", "shipped": "", "runs": 1,
        "baseline": "woolf2017gpu",
        "time_s": 33.0, "time_low": float("nan"), "time_high": float("nan"),
        "time_confidence": float("nan"), "machines": 1, "host": "", "mixed_hosts": False,
        "time_relative": 0.511, "predicted": False, "data_source": "mirror",
        "data_complete": True, "synthetic": False, "quality_reached": True, "noisy_runs": 0,
        "paused_s": 0.0,
        "price_kind": "on_demand", "price_per_hour_usd": 0.1, "cost_usd": 0.00092,
        "epochs": 20, "baseline_epochs": 20, "batch_size": 128, "recipe_batch_size": 128,
        "recipe": "abc", "own_recipe": True, "settings": "", "vcpus": 2, "gpus_used": 0,
        "train_samples": 60_000, "data_id": "b47298d8", "complete_samples": 60_000, "weights": "",
        "billed_usd": 0.0012, "billed_relative": 0.11,
        "cost_relative": 0.103, "mixed_price_kinds": False, "metric_value": 0.983,
        "later_low": float("nan"), "later_high": float("nan"),
    }  # fmt: skip


HERE = "0123456789ab"


def answered(*rows: dict) -> list[str]:
    return answer.sentences(pd.DataFrame(rows), BASES, HERE)


def say(row: dict, **change) -> str:
    """The sentences on one row, as one text."""
    return " ".join(answered(row | change))


def test_a_single_full_run(row):
    assert answered(row) == [
        "This machine (AMD EPYC, 2 cores) trains mnist_mlp with PyTorch (33 s, a single run) "
        "for $0.000920 at $0.10 an hour.",
        "That is 0.51x the time of the K80 of 2017 and 0.10x its cost.",
    ]


def test_everything_that_a_reader_must_know_is_said(row):
    this_hour, later = {"time_low": 30, "time_high": 40}, {"later_low": 25, "later_high": 50}
    assert "(predicted 33 s, 25 s to 50 s in another hour)" in say(
        row, predicted=True, **this_hour, **later
    )
    assert "(33 s, a single run, 25 s to 50 s in another hour)" in say(row, **later)
    interval = this_hour | {"time_confidence": 0.75}
    said = say(row, runs=3, **interval, **later)
    assert "with PyTorch (33 s, median of 3 runs, 30 s to 40 s in these hours)" in said
    quick = interval | {"time_confidence": float("nan"), "predicted": True}
    assert "with PyTorch (predicted 33 s, median of 3 quick runs, 30 s to 40 s this hour)" in say(
        row, runs=3, **quick
    )
    assert "median of 9 runs on 3 machines" in say(row, runs=9, machines=3, **interval)
    assert "synthetic data" in say(row, synthetic=True)
    assert "subset of the data" in say(row, data_complete=False)
    part = {"train_samples": 800, "data_complete": False}
    assert "800 of 60,000 samples" in say(row, **part)
    edition = {"train_samples": 61_000, "data_complete": True}
    assert "61,000 (published: 60,000) samples" in say(row, **edition)
    assert "from random weights" in say(row, weights="random")
    assert "missed the quality target" in say(row, quality_reached=False)
    assert "disturbed" in say(row, noisy_runs=1)
    assert "2 epochs, not 20" in say(row, epochs=2)
    assert "different recipe" in say(row, own_recipe=False)
    assert "batch size 512, not 128" in say(row, batch_size=512)
    assert "its cost, a spot price against an on-demand one." in say(
        row, mixed_price_kinds=True, price_kind="spot"
    )


def test_an_unknown_cost_is_no_number(row):
    first, over, how = answered(row | {"cost_usd": float("nan")})
    assert first.endswith(" at an unknown cost.")
    assert over == "That is 0.51x the time of the K80 of 2017."
    assert how == "For the cost, set the price of this machine: --config price=0.10."


def test_a_machine_elsewhere_cannot_be_priced_here(row):
    text = answered(row | {"cost_usd": float("nan"), "machine_id": "ba9876543210"})[0]
    assert text.endswith("at an unknown cost (set its price on that machine).")


def test_what_compares_with_no_published_run_has_a_time_and_a_cost(row):
    nothing = float("nan")
    assert say(row, workload="own", time_relative=nothing, cost_relative=nothing) == (
        "This machine (AMD EPYC, 2 cores) trains own with PyTorch (33 s, a single run) "
        "for $0.000920 at $0.10 an hour. No published run compares with it."
    )
    spot = {"price_kind": "spot", "time_relative": nothing, "cost_relative": nothing}
    for mixed in (False, True):
        said = say(row, mixed_price_kinds=mixed, **spot)
        assert "at $0.10 an hour (spot)" in said


def test_a_workload_has_the_best_here_the_k80_and_the_best_other_machine(row):
    slow, other = row | {"time_s": 50.0}, row | {"machine_id": "ba" * 6, "time_s": 20.0}
    slow |= {"framework": "keras-jax"}
    slower = other | {"time_s": 90.0, "machine_id": "cd" * 6}
    cnn = row | {"workload": "mnist_cnn", "time_s": 400.0}
    said = answered(slower, other, slow, row, cnn)
    assert said[3].startswith("This machine (AMD EPYC, 2 cores) trains mnist_cnn with PyTorch (")
    assert said[0].startswith(
        "This machine (AMD EPYC, 2 cores) trains mnist_mlp fastest so far with PyTorch (33 s, "
    )
    assert said[1] == "That is 0.51x the time of the K80 of 2017 and 0.10x its cost."
    assert said[2] == (
        "The fastest other machine, AMD EPYC, 2 cores (babababababa), takes 0.61x that time with "
        "PyTorch (20 s, a single run) for $0.000920 at $0.10 an hour."
    )
    assert said[5:] == ["2 other results are in the tables of the report."]


def test_however_many_results_there_are_a_workload_has_three_sentences(row):
    """One line more says how many are left out."""
    rows = [
        row | {"workload": workload, "framework": f"f{number % 9}", "time_s": 20.0 + number}
        | {"machine_id": HERE if number % 2 else f"{number:012d}", "variant": f"v{number}"}
        for workload in ("mnist_mlp", "mnist_cnn", "own")
        for number in range(80)
    ]  # fmt: skip
    said = answered(*rows)
    assert len(said) == 3 * 3 + 1
    assert said[-1] == f"{3 * (80 - 2)} other results are in the tables of the report."


def test_where_this_machine_was_not_measured_the_best_known_stands(row):
    others = [
        row | {"machine_id": name * 6, "time_s": time} for name, time in (("ba", 20.0), ("cd", 9))
    ]
    first, _, other = answered(*others)
    assert first.startswith(
        "mnist_mlp was not measured on this machine; the fastest so far is AMD EPYC, 2 cores "
        "(cdcdcdcdcdcd) with PyTorch (9 s"
    )
    assert "AMD EPYC, 2 cores (babababababa), takes 2.22x that time" in other


@pytest.mark.parametrize(
    "another",
    [
        {"train_samples": 800, "data_complete": False},
        {"synthetic": True},
        {"epochs": 2},
        {"weights": "random"},
        {"own_recipe": False},
    ],
)
def test_machines_are_compared_by_the_same_training_alone(row, another):
    said = answered(row, row | {"machine_id": "ba" * 6, "time_s": 1.0} | another)
    assert not [text for text in said if "other machine" in text]


@pytest.mark.parametrize("unfit", [{"quality_reached": False}, {"own_recipe": False}])
def test_what_learnt_too_little_or_something_else_does_not_come_first(row, unfit):
    quick = row | {"time_s": 20.0, "framework": "keras-jax"} | unfit
    assert "with PyTorch (33 s, " in answered(quick, row)[0]


def test_rows_of_one_name_are_told_apart(row):
    newer = row | {"framework_version": "torch 3", "machine_id": "ba" * 6}
    first, _, other = answered(row, newer)
    assert "with PyTorch (torch 2, 33 s, a single run)" in first
    assert "with PyTorch (torch 3, 33 s, a single run)" in other
    third = row | {"framework_version": "torch 3"}
    more = {"time_relative_low": None, "time_relative_high": None, "price_date": "", "metric": ""}
    (cells, _) = page.section("w", "W", pd.DataFrame([row | more, third | more]), {}).rows
    assert cells["remarks"] == "torch 2"
    tuned = [row | {"variant": "tuned", "settings": text} for text in ("", "a=1", "a=2")]
    assert names.tell_apart(pd.DataFrame(tuned)) == ["", "a=1", "a=2"]
    others = [row, row | {"variant": "tuned"}, row | {"workload": "mnist_cnn"}]
    assert names.tell_apart(pd.DataFrame(others)) == ["", "", ""]
    two = [row | {"driver": "570.1"}, row | {"driver": "580.2", "machine_id": "ba"}]
    assert names.tell_apart(pd.DataFrame(two)) == [
        "driver 570.1, machine 0123456789ab", "driver 580.2, machine ba",
    ]  # fmt: skip
    some = [row | {"vcpus": 8}, row | {"vcpus": 16}]
    assert names.tell_apart(pd.DataFrame(some)) == ["8 cores", "16 cores"]
    newer = row | {"data_id": "0a1b2c3d"}
    assert names.tell_apart(pd.DataFrame([row, newer])) == ["data b47298d8", "data 0a1b2c3d"]
    part = newer | {"data_complete": False, "train_samples": 800}
    assert names.tell_apart(pd.DataFrame([row, part])) == ["", ""], "their samples are said"


def test_a_failed_run_is_a_sentence():
    runs = pd.DataFrame(
        [
            {
                "source_id": "own",
                "shipped": "",
                "status": "failed",
                "workload": "mnist_mlp",
                "trial": 1,
                "variant": "tuned",
            }
            | {"framework": "pytorch", "hardware_label": "A", "reason": "train: out of memory"}
        ]
    )
    assert answer.failures(runs) == [
        "mnist_mlp with PyTorch (tuned) failed on A (trial 1, train: out of memory)."
    ]


def test_many_failed_runs_are_counted():
    run = {"source_id": "own", "status": "failed", "workload": "w", "trial": 1, "variant": "tuned"}
    run |= {"framework": "pytorch", "hardware_label": "A", "reason": "train: out of memory"}
    run |= {"shipped": ""}
    said = answer.failures(pd.DataFrame([run | {"trial": trial} for trial in range(4)]))
    assert said == ["4 runs failed; the report names each, with the reason."]
    html = render(runs=[run | {"run_id": f"local/w-{number}", "noise": ""} for number in range(4)])
    assert html.count("out of memory") == 4
    assert '<summary><span class="mark">4 run(s) failed' in html


@pytest.mark.parametrize(
    ("wall_s", "changes", "said"),
    [
        (20.0, [], True),
        (19.0, [], False),
        (20.0, [{"predicted": False}], False),
        (20.0, [{"machine_id": "ba" * 6}], False),
    ],
)
def test_where_a_quick_run_is_hardly_shorter_a_full_one_is_recommended(row, wall_s, changes, said):
    """A full run would take 33 s, and 7 s to start."""
    run = row | {"status": "ok", "predicted": True, "wall_s": wall_s, "overhead_s": 7.0}
    if changes and "predicted" in changes[0]:
        runs = [run, run | changes[0]]
    else:
        runs = [run | change for change in changes or [{}]]
    found = answer.worth_a_full_run(pd.DataFrame(runs), HERE, "price=0.1")
    assert bool(found) == said
    if said:
        command = "snakemake --config scale=full workloads=mnist_mlp frameworks=pytorch price=0.1"
        assert f"for mnist_mlp: {command}." in found[0]


def test_real_data_stand_for_generated_ones_and_full_runs_for_predictions(row):
    table = pd.DataFrame(
        [row, row | {"predicted": True, "time_s": 40.0}, row | {"synthetic": True, "time_s": 50.0}]
    )
    assert list(answer.own_rows(table, BASES).time_s) == [33.0]


NO_RUNS = pd.DataFrame(columns=["run_id", "source_id", "status", "reason", "noise", "shipped"])


def render(
    shown: list[dict] = (), runs: list[dict] = (), noted: list = (), machines=(), **more
) -> str:
    marks = ["synthetic", "predicted", "data_complete"]
    return page.render(
        ["x & y"] if shown else [],
        pd.DataFrame(shown, columns=marks).astype(bool),
        [],
        pd.DataFrame(runs, columns=["run_id", "source_id", "status", "reason", "noise", "shipped"]),
        list(machines),
        noise.noise_table(noted),
        [],
        **more,
    )


def test_what_came_to_nothing_is_never_folded():
    nothing = pd.DataFrame(columns=["run_id", "source_id", "status", "reason", "noise", "shipped"])
    shown = pd.DataFrame(columns=["synthetic", "data_complete"]).astype(bool)
    noted = noise.noise_table([])
    html = page.render(["a"] * 9, shown, [], nothing, [], noted, [], bad=["its time says nothing"])
    assert html.index("its time says nothing") < html.index("more to know")
    assert "No run counts yet" in page.render([], shown, [], nothing, [], noted, [], bad=["x"])


def test_the_best_rows_have_an_interval_and_say_which_machine_this_is(row):
    rows = [row | {"later_low": 25.0, "later_high": 50.0}, row | {"machine_id": "ba" * 6}]
    extra = {"time_relative_low": None, "time_relative_high": None, "price_date": "2026-01-01"}
    extra |= {"price_book": "configured", "metric": "val_acc", "copy_of": "", "billed_usd": 1.0}
    ours, other = page._all_cells(pd.DataFrame([one | extra for one in rows]), {}, HERE)
    assert (ours["interval"], other["interval"]) == ("25 s to 50 s", "")
    assert ours["hardware"] == "AMD EPYC, 2 cores (this machine)"
    assert other["hardware"] == "AMD EPYC, 2 cores"


def test_few_full_runs_look_no_surer_than_repeats_have_shown(row):
    """Two full runs, whose range holds their median in half of all cases."""
    ranges = {"time_low": 32.9, "time_high": 33.1, "later_low": 25.0, "later_high": 50.0}
    cases = [({"time_confidence": 0.5}, 25.0), ({"time_confidence": 0.97}, 32.9)]
    cases += [({"predicted": True}, 32.9), ({"time_low": float("nan")}, 25.0)]
    for changes, low in cases:
        (one,) = pd.DataFrame([row | ranges | changes]).itertuples()
        assert remarks.interval_of(one)[0] == low


def test_a_page_without_records_says_so():
    html = render()
    assert "Nothing was measured yet" in html
    assert "Synthetic data." not in html


def test_the_page_shows_what_else_went_on(record):
    record["noise"] |= {"others_cpu_share": 0.031, "flags": ["load from others"]}
    record["phases"] |= {"lost": 12.0}
    noted = noise.noise_row(typed(record))
    run = {"run_id": noted.run_id, "source_id": "own", "status": "ok", "shipped": ""}
    html = render(runs=[run], noted=[noted])
    row = html[html.index('id="machines"') :]
    assert "3.1%" in row
    assert "load from others" in row
    html = render(runs=[run], noted=[noted] * 50)
    assert "30 more are in <code>tables/noise.csv</code>" in html


def test_the_page_warns_of_what_it_shows():
    real = {"synthetic": False, "predicted": False, "data_complete": True}
    words = {
        "Synthetic data.": {"synthetic": True, "data_complete": False},
        "Subset.": {"data_complete": False},
    }
    for word in words:
        assert word not in render([real])
    for word, change in words.items():
        html = render([real | change])
        assert [w for w in words if w in html] == [word]


def test_failed_and_disturbed_runs_are_on_the_page_and_text_is_escaped():
    run = {"run_id": "local/a<b", "source_id": "own", "status": "failed", "shipped": ""}
    run |= {"reason": "train: out of memory", "noise": "load from others"}
    html = render([{"synthetic": False, "predicted": False, "data_complete": True}], [run])
    assert "local/a&lt;b (train: out of memory)" in html
    assert "load from others" in html
    assert "x &amp; y" in html


def test_the_page_needs_no_network():
    html = render()
    assert not re.search(r'(?:src|href)="(?!data:|#)', html)
    assert "@import" not in html


def test_a_picture_is_in_the_page_what_it_is_as_a_file(row, tmp_path):
    text = '5 % of "x", #1, <b> & it\'s'
    drawn = ElementTree.Element("svg", {"style": "font-family: 'A', b", "note": 'say "x"'})
    drawn.text = text
    path = tmp_path / "w-machines.svg"
    path.write_text(ElementTree.tostring(drawn, encoding="unicode"))
    rows = pd.DataFrame([row | {"time_relative_low": None, "time_relative_high": None}])
    rows = rows.assign(price_date="", metric="")
    section = page.section("w", "W", rows, {"machines": path})
    html = page.render(["x"], rows, [section], NO_RUNS, [], noise.noise_table([]), [])
    (source,) = re.findall(r'src="(data:image/svg[^"]*)"', html)
    content = unquote(unescape(source)).removeprefix("data:image/svg+xml,")
    read = ElementTree.fromstring(content)
    assert (read.text, read.attrib) == (text, drawn.attrib)


def test_predictions_stand_beside_what_was_measured():
    row = {
        "workload": "mnist_mlp", "framework": "pytorch", "variant": "default",
        "hardware_label": "AMD EPYC, 2 cores", "predicted_s": 42.0, "predicted_low": 41.4,
        "predicted_high": 43.7, "quick_runs": 1, "measured_s": 39.7, "full_runs": 2,
        "predicted_over_measured": 42 / 39.7, "lowest": 1.05, "highest": 1.08, "within": 1,
        "with_interval": 1, "hours_apart": 0.2, "wall_share": 0.123, "disturbed": False,
        "synthetic": False, "settings": None, "data_complete": True, "train_samples": 60_000,
        "weights": "", "framework_version": "torch 2", "driver": None, "machine_id": "ab",
        "host": "", "mixed_hosts": False,
        "vcpus": 2, "gpus_used": 0, "data_id": "b4",
    }  # fmt: skip
    text = quality.predictions_markdown(pd.DataFrame([row]))
    assert text.splitlines()[2] == (
        "| mnist_mlp | PyTorch | AMD EPYC, 2 cores | 42 s | 41.4 s to 43.7 s | 1 | 39.7 s | 2 | "
        "1.06 (1.05 to 1.08) | 1 of 1 | 0.2 | 12.3% |  |"
    )
    assert quality.predictions_markdown(pd.DataFrame()) == ""


def test_a_pause_is_said(row):
    text = say(row, noisy_runs=1, paused_s=27.0)
    assert "disturbed, paused for 27 s" in text
    assert "pause" not in say(row, noisy_runs=1)


def test_rows_that_may_mix_hosts_and_hosts_of_one_id_are_told(row):
    assert "hosts may be mixed" in say(row, mixed_hosts=True, runs=2, time_confidence=0.5)
    two = [row | {"host": f"kernel 6.8.0-{number}"} for number in (1, 2)]
    # The quicker one, but of the machine as it is now.
    two[0]["time_s"] = two[1]["time_s"] / 2
    for host, named in (
        ("kernel 6.8.0-1", ""),
        ("kernel 6.8.0-2", ""),
        ("kernel 6.9.0", "maybe on another host"),
    ):
        said = answer.sentences(pd.DataFrame(two), BASES, "0123456789ab", host)
        assert said[0].startswith("This machine") and named in said[0]
        is_quicker = amounts.seconds(two[0]["time_s"]) in said[0]
        assert is_quicker == (host != "kernel 6.8.0-2")
        assert ("another host" in said[0]) == bool(named)
        assert not any("other machine" in one for one in said[1:])


def test_the_page_says_where_to_train_even_where_nothing_was_measured():
    """Of each workload the cheapest that can be had, with how that is known."""
    row = {
        "workload": "mnist_cnn", "hardware_label": "T4 <b>", "framework": "pytorch",
        "variant": "default", "evidence": "estimated", "basis": "data sheet, from H200",
        "elapsed_s": 90.0, "elapsed_low": 60.0, "elapsed_high": 180.0, "billed_usd": 0.01,
        "price_kind": "spot", "price_per_hour_usd": 0.2, "price_date": "2026-07-09",
        "context": "", "hardware_id": "t4", "noisy_runs": 0, "paused_s": 0.0,
    }  # fmt: skip
    old = row | {"context": "a time of 2017", "billed_usd": 0.001, "hardware_label": "P100"}
    options = pd.DataFrame([row, old, row | {"billed_usd": 0.02, "elapsed_s": 80.0}])
    (choice,) = page.choices_of(options)
    assert (choice["machine"], choice["bill"], choice["price"]) == (
        "T4 <b>",
        "$0.0100",
        "$0.20 spot",
    )
    assert choice["interval"] == "60 s to 3 min"
    html = render(choices=[choice])
    assert '<h2 id="where">' in html and "T4 &lt;b&gt;" in html
    assert "data sheet, from H200" in html


def test_the_page_counts_hits_and_misses_of_estimates():
    keys = ("own", "kind", "gpu", "estimates", "inside", "miss")
    rows = [(False, "data sheet", "K80", 7, 3, 1.659), (True, "ratios", "T4", 2, 2, 1.1)]
    judged = [dict(zip(keys, row, strict=True)) for row in rows]
    html = render(judged=judged)
    assert "Of 9 trainings on GPUs, 5 lie within their estimate's interval" in html
    assert "1.66x" in html
