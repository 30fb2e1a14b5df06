"""A training that Slurm suspends, as where others are more urgent, says how long and where."""

import time

import pytest

from epochcost import ROOT, files
from epochcost.record import record as records

pytestmark = pytest.mark.slow

SUSPENDED_S = 6


def test_a_suspended_job_says_so(slurm, pythons, little, tmp_path):
    command = f"{pythons['pytorch']} {ROOT}/scripts/train.py mnist_cnn pytorch --data {little}"
    said = slurm.run(
        "sbatch", "--parsable", "--partition=cpu16", "--exclusive", f"--chdir={tmp_path}",
        f"--output={tmp_path}/log", f"--wrap={command} --scale full --epochs 4",
    )  # fmt: skip
    job = said.split(";")[0].strip()

    def state() -> str:
        return slurm.jobs()[int(job)]["JobState"]

    def wait(reached) -> None:
        slurm.wait(reached, "a training", in_vain=lambda: state() in ("FAILED", "CANCELLED"))

    checkpoint = "results/checkpoints/*/*/*/*/state.json"
    wait(lambda: any(files.read_json(path)["file"] for path in tmp_path.glob(checkpoint)))
    slurm.run("scontrol", "suspend", job)
    time.sleep(SUSPENDED_S)
    slurm.run("scontrol", "resume", job)
    wait(lambda: state() == "COMPLETED")

    ((_, record),) = records.read_all(tmp_path / "results/runs")
    noise = record.noise
    assert SUSPENDED_S - 2 < noise.paused_s < SUSPENDED_S + 4
    # Slurm stops its processes one by one, so that the sampler may see the run stopped.
    assert {pause.cause for pause in noise.pauses} <= {"frozen", "stopped"}
    assert all(pause.during.startswith("epoch ") for pause in noise.pauses)
    assert any(flag.startswith("paused for ") for flag in noise.flags)
