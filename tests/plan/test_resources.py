"""What schedulers are asked for: what the catalogue says, for every entry that they can have."""

import pytest

from epochcost import schemas
from epochcost.hardware import COMPUTE_ENGINE, EC2
from epochcost.plan.resources import (
    AWS_BATCH,
    GOOGLE_BATCH,
    KUBERNETES,
    SLURM,
    resources_of,
    why_not,
)

CATALOGUE = schemas.read("hardware")
OURS = {"label": "ours", "vcpus": 16}


def of(provider):
    """The ids of a provider's machines."""
    return [name for name, entry in CATALOGUE.items() if entry.get("provider") == provider]


@pytest.mark.parametrize(
    ("hardware", "scheduler", "asked"),
    [
        ("gce-n1-highcpu-64", GOOGLE_BATCH, {
            "googlebatch_machine_type": "n1-highcpu-64",
            "googlebatch_cpu_milli": 64000, "googlebatch_memory": 41288}),
        ("gce-t4", GOOGLE_BATCH, {
            "googlebatch_machine_type": "n1-standard-4", "nvidia_gpu": "nvidia-tesla-t4",
            "googlebatch_cpu_milli": 4000, "googlebatch_memory": 10752}),
        ("gce-a2-ultragpu-1g", GOOGLE_BATCH, {
            "googlebatch_machine_type": "a2-ultragpu-1g", "nvidia_gpu": "nvidia-a100-80gb",
            "googlebatch_cpu_milli": 12000, "googlebatch_memory": 121856}),
        ("gce-4xv100", KUBERNETES, {
            "machine_type": "n1-standard-8", "gpu": 4, "gpu_manufacturer": "nvidia", "scale": 0,
            "mem_mb": 21504}),
        ("aws-p5.48xlarge", KUBERNETES, {
            "machine_type": "p5.48xlarge", "gpu": 8, "gpu_manufacturer": "nvidia", "scale": 0,
            "mem_mb": 1468006}),
        ("aws-g4dn.xlarge", AWS_BATCH, {"mem_mb": 11264, "_gpus": 1}),
        ("aws-p5.4xlarge", AWS_BATCH, {"mem_mb": 122880, "_gpus": 1}),
        ("gce-k80", SLURM, {
            "slurm_partition": "k80", "gres": "gpu:k80:1", "mem_mb": 8000, "runtime": 240,
            "slurm_extra": "--exclusive"}),
        ("gce-t4", None, {}),
        ("gce-t4", "cluster-generic", {}),
    ],
)  # fmt: skip
def test_a_scheduler_is_asked_for_what_the_catalogue_says(hardware, scheduler, asked):
    assert resources_of(CATALOGUE[hardware], scheduler) == asked


@pytest.mark.parametrize(
    ("scheduler", "provider"), [(GOOGLE_BATCH, COMPUTE_ENGINE), (AWS_BATCH, EC2)]
)
def test_every_machine_of_a_provider_can_be_had_unless_the_executor_cannot_say_it(
    scheduler, provider
):
    for name in of(provider):
        entry = CATALOGUE[name]
        large = entry.get("gpu_count", 0) > 1 if scheduler == GOOGLE_BATCH else (
            entry["vcpus"] > 16 or entry["memory_gib"] < 3 * entry["vcpus"]
        )  # fmt: skip
        assert bool(why_not(entry, scheduler, {})) == large, name
        assert bool(resources_of(entry, scheduler)) != large, name
        assert why_not(entry, KUBERNETES, {}) is None
        assert resources_of(entry, KUBERNETES)["machine_type"] in entry["instance"]


def test_a_site_says_in_its_entry_what_slurm_is_asked_for():
    keys = {
        "partition": "gpu", "account": "lab", "qos": "long", "constraint": "a100", "mem_mb": 32000,
        "runtime": 60, "extra": "--exclusive --nodelist=node7",
    }  # fmt: skip
    asked = resources_of(OURS | {"gpu": "A100", "gpu_count": 2, "slurm": keys}, SLURM)
    assert asked == {
        "slurm_partition": "gpu", "slurm_account": "lab", "qos": "long", "constraint": "a100",
        "mem_mb": 32000, "runtime": 60, "slurm_extra": "--exclusive --nodelist=node7",
        "gres": "gpu:2",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "scheduler", "given", "why"),
    [
        (OURS, SLURM, {}, "no `slurm: {partition: ...}` in"),
        (OURS, SLURM, {"slurm_partition": "x"}, None),
        ({"label": "ours"}, SLURM, {"slurm_partition": "x"}, "no vcpus in config"),
        (OURS, GOOGLE_BATCH, {}, "it is no machine of Google Compute Engine"),
        (OURS | {"provider": EC2}, AWS_BATCH, {}, "no memory_gib in config"),
        (CATALOGUE["gce-4xv100"], GOOGLE_BATCH, {}, "for one GPU at most; measure it as a bare"),
        (CATALOGUE["aws-c8a.16xlarge"], AWS_BATCH, {}, "cannot ask AWS Batch for 64 vCPUs of a"),
        (OURS, KUBERNETES, {}, None),
    ],
)
def test_what_cannot_be_asked_for_has_a_reason(entry, scheduler, given, why):
    said = why_not(entry, scheduler, given)
    assert why in said if why else said is None
