import pytest
from observed import typed

from epochcost.results import rows


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        ("Intel(R) Xeon(R) Processor", "Intel Xeon"),
        ("Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", "Intel Xeon Platinum 8481C"),
        ("AMD EPYC 7R13 Processor", "AMD EPYC 7R13"),
        ("Neoverse-V2", "Neoverse-V2"),
    ],
)
def test_a_processor_is_shown_without_marks_and_clock(record, model, shown):
    machine = record["machine"] | {"cpu_model": model, "cpu_kind": None, "usable_cores": 2}
    run = record["run"] | {"hardware": "local"}
    row = rows.run_row(typed(record | {"machine": machine, "run": run}), "this machine")
    assert row.hardware_label == f"{shown}, 2 cores"


@pytest.mark.parametrize(
    ("model", "shown"),
    [("AMD EPYC", "AMD EPYC, family 25 model 1"), ("AMD EPYC 7R13 Processor", "AMD EPYC 7R13")],
)
def test_the_kind_of_a_processor_is_shown_where_its_name_has_no_number(record, model, shown):
    kind = {"cpu_model": model, "cpu_kind": "family 25 model 1 stepping 1", "usable_cores": 2}
    machine, run = record["machine"] | kind, record["run"] | {"hardware": "local"}
    row = rows.run_row(typed(record | {"machine": machine, "run": run}), "this machine")
    assert row.hardware_label == f"{shown}, 2 cores"


def test_what_an_interruption_lost_is_no_part_of_a_start(record):
    parts = {"import": 40.0, "data": 20.0, "lost": 280.0}
    record["phases"] = dict.fromkeys(record["phases"]) | parts
    record["interruptions"] = 1
    row = rows.run_row(typed(record), "")
    assert (row.overhead_s, row.start_s) == (340, 60)


@pytest.mark.parametrize(("loop_s", "share"), [(0.1, 0.02), (0.4, 0.0)])
def test_the_framework_s_own_loop_is_no_input(record, loop_s, share):
    """Fetching 100 batches takes 0.3 s, a step 0.1 s."""
    record["run"] |= {"hardware": "local", "scale": "full"}
    record["settings"]["batch_size"] = 100
    record["steady_state"] = {"samples_per_second": 1000.0}
    record["input"] = {"steps": 100, "seconds": 0.3, "loop_s": loop_s}
    assert rows.run_row(typed(record), "").input_share == pytest.approx(share)


def test_variables_that_change_how_a_framework_computes_are_shown_as_settings(record):
    record["run"] |= {"hardware": "local"}
    assert rows.run_row(typed(record), "").settings == ""
    record["software"] |= {
        "settings": {"threads": 1},
        "variables": {"XLA_FLAGS": "--xla_a --xla_b", "NVIDIA_TF32_OVERRIDE": "1"},
    }
    settings = rows.run_row(typed(record), "").settings
    assert settings == "NVIDIA_TF32_OVERRIDE=1 XLA_FLAGS='--xla_a --xla_b' threads=1"


def test_samples_that_were_left_out_are_in_the_row(record):
    data = record["data"] | {"skipped": 3}
    assert rows.run_row(typed(record | {"data": data}), "this machine").skipped == 3
