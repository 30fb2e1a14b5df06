"""Two hosts of one machine id are two machines wherever numbers are put together."""

import copy
import statistics

import measured
import pandas as pd
import pytest
from observed import full_run, typed

from epochcost.models import workloads
from epochcost.money import history
from epochcost.plan import runs
from epochcost.record import hosts
from epochcost.record.types import document
from epochcost.results import noise, predictions, quality, repeats, rows, scaling, tables
from epochcost.show.wording import names, remarks

KERNELS = ("6.8.0-1", "6.8.0-2")


@pytest.fixture
def runs_on(record):
    """Full runs: {framework: seconds on the first host}, {framework: seconds on the second}."""

    def make(*by_host: dict[str, list[float]], hardware: str = "local", **machine) -> list[dict]:
        made = []
        for kernel, times in zip(KERNELS, by_host, strict=False):
            for framework, seconds in times.items():
                for time in seconds:
                    one = full_run(record, time, len(made) + 1)
                    one["run"] |= {"framework": framework, "hardware": hardware}
                    one["run"]["id"] = f"{hardware}/{len(made) + 1}"
                    one["machine"] |= {"kernel": kernel} | machine
                    made.append(one)
        return made

    return make


def table_of(made: list[dict]) -> pd.DataFrame:
    return tables.runs_table([rows.run_row(typed(one), "label") for one in made])


def test_the_ratio_of_two_frameworks_is_that_of_one_host():
    """Keras on PyTorch over PyTorch: 1.39 for both hosts of an id together, true on neither."""
    made = [
        document(one)
        for one in measured.read()
        if one.machine.id == "9552f777d6a3" and one.run.workload == "mnist_mlp"
    ]
    compared = repeats.comparisons_table(table_of(made))
    compared = compared[
        compared.framework.eq("keras-torch")
        & compared.over_framework.eq("pytorch")
        & compared.variant.eq("default")
        & compared.over_variant.eq("default")
        & ~compared.predicted.astype(bool)
    ]
    ratios = dict(zip(compared.machine.str[-4:], compared.ratio.round(2), strict=True))
    assert ratios == {"v669": 1.71, "v509": 1.28}
    assert compared.mixed_hosts.all(), "these records cannot tell more hosts apart"
    assert not compared.verdict.any()


def test_each_host_of_the_machine_at_hand_is_a_row_and_told_apart(runs_on):
    made = runs_on({"pytorch": [10, 12]}, {"pytorch": [20, 22]}, boot=None)
    found = repeats.summaries(table_of(made))
    assert list(found.time_s) == [11, 21]
    assert list(found.machines) == [1, 1]
    assert names.tell_apart(found) == [f"kernel {kernel}" for kernel in KERNELS]
    assert found.mixed_hosts.all()
    assert not repeats.summaries(table_of(runs_on({"pytorch": [10, 12]}))).mixed_hosts.any()
    assert not repeats.summaries(table_of(made[:1])).mixed_hosts.any(), "of one run"


def test_a_start_of_a_virtual_machine_is_another_host_and_a_laptops_is_not(runs_on):
    made = runs_on({"pytorch": [10, 20]})
    made[1]["machine"]["boot"] = "ffffffffffff"
    assert list(repeats.summaries(table_of(made)).time_s) == [10, 20]
    for one in made:
        one["machine"]["hypervisor"] = False
    assert list(repeats.summaries(table_of(made)).time_s) == [15]


def test_hosts_of_a_rented_type_are_one_row_that_says_how_many(runs_on):
    made = runs_on({"pytorch": [10, 10, 10]}, {"pytorch": [20]}, hardware="gce-t4")
    (row,) = repeats.summaries(table_of(made)).itertuples()
    assert (row.time_s, row.machines, row.machine) == (15, 2, "")
    assert remarks.of_machines(row) == ["median of 2 machines"]
    (row,) = repeats.repeats_table(table_of(made)).itertuples()
    assert row.machine_spread == 2
    (row,) = repeats.summaries(table_of(made[:3])).itertuples()
    assert (row.machines, row.machine) == (1, hosts.key_of(typed(made[0])))
    assert remarks.of_machines(row) == []


@pytest.mark.parametrize("hardware", ["local", "gce-t4"])
def test_no_verdict_on_frameworks_of_two_hosts(runs_on, hardware):
    times = [float(number) for number in range(100, 106)]
    made = runs_on({"pytorch": times}, {"keras-torch": [2 * one for one in times]})
    for one in made:
        one["run"]["hardware"] = hardware
    assert repeats.comparisons_table(table_of(made)).empty
    for one in made:
        one["machine"]["kernel"] = KERNELS[0]
    (row,) = repeats.comparisons_table(table_of(made)).itertuples()
    assert row.verdict == "slower"


def test_a_prediction_is_held_against_full_runs_of_its_own_host(record, runs_on):
    (full,) = runs_on({record["run"]["framework"]: [40.0]})
    quick = copy.deepcopy(record)
    assert predictions.predictions_table(table_of([quick, full])).empty
    quick["machine"]["kernel"] = KERNELS[0]
    assert len(predictions.predictions_table(table_of([quick, full]))) == 1


def test_processors_are_compared_with_those_of_their_own_host(runs_on):
    made = runs_on({"pytorch": [10]}, {"pytorch": [10]})
    for one, can_do in zip(made, (240.0, 100.0), strict=True):
        one["yardstick"] = {"matmul_gflops": can_do, "copy_gib_s": 50.0}
        one["flop_per_sample"] = None

    def flags() -> list[str]:
        noted = noise.noise_table([noise.noise_row(typed(one)) for one in made])
        return list(noise.flag_slow_processors(table_of(made), noted)[0].noise)

    assert flags() == ["", ""]
    made[1]["machine"]["kernel"] = KERNELS[0]
    assert flags() == ["", noise.SLOWED]


def test_speed_up_and_quality_are_those_of_one_host(runs_on, baselines):
    made = runs_on({"pytorch": [100.0, 101.0]}, {"pytorch": [50.0]})
    for one, used in zip(made, (1, 1, 2), strict=True):
        one["software"] |= {"device": "gpu", "settings": {"devices": used}}
        one["machine"]["gpus"] = [{"name": "NVIDIA L4", "uuid": f"GPU-{n}"} for n in (1, 2)]
    assert scaling.scaling_table(table_of(made)).empty
    recipes = workloads.read().recipes
    for one in made:
        one["data"] |= {"source": "mirror", "complete": True}
        one["software"]["settings"] = {}
    found = quality.quality_table(table_of(made), tables.epochs_table([]), {}, recipes, baselines)
    assert sorted(found.time_s) == [50.0, 100.5]
    assert sorted(found.host) == [rows.run_row(typed(one), "").host for one in made[::2]]


def test_what_the_software_gained_is_of_one_machine():
    base = pd.Series({"time_s": 60.0, "source_id": "woolf2017gpu", "framework": "pytorch"})
    new = {"source_id": "own", "framework": "pytorch", "variant": "default", "time_s": 10.0}
    new |= {"predicted": False, "hardware_id": "gce-t4", "machine": "a", "machines": 1, "vcpus": 4}
    new |= {"data_id": "d", "train_samples": 60_000, "price_per_hour_usd": 0.5}
    old = new | {"framework": "keras2-tensorflow1", "time_s": 30.0}

    def software(old: dict, new: dict) -> float | None:
        options = pd.DataFrame([old, new])
        return history.change(base, 0.5, options.iloc[1], options).software

    assert software(old, new) == pytest.approx(1 / 3)
    assert software(old | {"machine": "b"}, new) is None
    several = {"machine": "", "machines": 2}
    assert software(old | several, new | several) is None


def test_runs_are_repeated_until_the_median_of_this_host_is_precise(runs_on):
    close, far = [100.0, 100.0, 100.0, 100.0, 100.1, 100.1], [10, 20, 30, 40, 50, 60]
    assert statistics.median(far) < 100
    made = runs_on({"pytorch": far}, {"pytorch": close})
    taken = frozenset(range(1, 13))
    series = runs.Series("local", "mnist_mlp", "pytorch", "default", tuple(map(typed, made)), taken)
    assert not series.narrow(6, 0.02, keep_disturbed=False)
    assert not series.narrow(11, 0.02, keep_disturbed=False), "five of the second host"
    assert series.narrow(12, 0.02, keep_disturbed=False)
