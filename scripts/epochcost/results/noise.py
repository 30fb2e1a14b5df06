"""What else went on during each own run, and which runs were made while a machine was slower."""

from dataclasses import dataclass, fields

import pandas as pd

from epochcost.frameworks.variants import BFLOAT16
from epochcost.record import hosts, outliers
from epochcost.record.types import Record
from epochcost.results.rows import gflops, gflops_share, run_id

# Repeated yardsticks on an idle machine differ by a tenth or so.
_SLOWED_SHARE = 0.75
SLOWED = "processors slower than they can be"
FLAGS = {
    SLOWED: f"the yardstick was below {_SLOWED_SHARE:.0%} of the machine's best, and the training "
    "itself was no faster; in tables alone, and never on a GPU"
}


@dataclass(frozen=True)
class NoiseRow:
    """One own run; the columns of noise.csv. `results.columns` says what each holds."""

    run_id: str
    machine: str
    started_at: str
    wall_s: float | None
    other_s: float | None
    interruptions: int
    lost_s: float | None
    slowest_epoch: float | None
    matmul_gflops: float | None
    gflops: float | None
    gflops_share: float | None
    cpu_share: float | None
    others_cpu_share: float | None
    disturbed_share: float | None
    steal_share: float | None
    cpu_mhz_low: float | None
    cpu_mhz_high: float | None
    throttled: int | None
    swapped_mib: float | None
    memory_stalled_share: float | None
    quota_waited_share: float | None
    gpu_share: float | None
    gpu_mhz_low: float | None
    gpu_mhz_high: float | None
    energy_j: float | None
    energy_method: str | None
    paused_s: float | None
    flags: str


def noise_row(record: Record) -> NoiseRow:
    """The row of a record."""
    run, noise, used = record.run, record.noise, record.utilisation
    clocks = [gpu.clock_mhz for gpu in used.gpus if gpu.clock_mhz]
    return NoiseRow(
        run_id=run_id(record),
        machine=hosts.key_of(record),
        started_at=run.started_at,
        wall_s=record.wall_s,
        other_s=record.phases.other,
        interruptions=record.interruptions,
        lost_s=record.phases.lost,
        slowest_epoch=outliers.slowest_epoch(record),
        matmul_gflops=record.yardstick and record.yardstick.matmul_gflops,
        gflops=gflops(record),
        gflops_share=gflops_share(record),
        cpu_share=used.cpu_share,
        others_cpu_share=noise.others_cpu_share,
        disturbed_share=noise.disturbed_share,
        steal_share=noise.steal_share,
        cpu_mhz_low=noise.cpu_mhz and noise.cpu_mhz.low,
        cpu_mhz_high=noise.cpu_mhz and noise.cpu_mhz.high,
        throttled=noise.throttled,
        swapped_mib=noise.swapped_mib,
        memory_stalled_share=noise.memory_stalled_share,
        quota_waited_share=noise.quota_waited_share,
        gpu_share=used.gpu_share,
        gpu_mhz_low=min((clock.low for clock in clocks), default=None),
        gpu_mhz_high=max((clock.high for clock in clocks), default=None),
        energy_j=record.energy_j,
        energy_method=record.energy_method,
        paused_s=noise.paused_s,
        flags="; ".join(outliers.flags_of(record)),
    )


def noise_table(rows: list[NoiseRow]) -> pd.DataFrame:
    """noise.csv: one row per own run."""
    return pd.DataFrame(rows, columns=[field.name for field in fields(NoiseRow)])


def flag_slow_processors(
    runs: pd.DataFrame, noted: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """runs.csv and noise.csv with one more flag, which no record alone can give.

    It marks runs just before which the processors reached less than three quarters of their best
    on the same machine (`rows.RunRow.machine`) with as many cores. Another guest on the host may be
    the cause, or heat. Where the training itself was faster than that, they were not slow but busy
    for a moment. (In bfloat16 that says nothing, as the yardstick is in float32.) Trainings on a
    GPU mostly keep one core busy, about which the speed of all together says little.
    """
    known = noted.merge(runs[["run_id", "vcpus", "variant", "gpus_used"]], on="run_id")
    known["can_do"] = pd.to_numeric(known.matmul_gflops)
    known["gflops_share"] = pd.to_numeric(known.gflops_share)
    fastest = known.groupby(["machine", "vcpus"]).can_do.transform("max")
    was_fast = known.gflops_share.gt(1) & known.variant.ne(BFLOAT16)
    is_slow = known.can_do.lt(_SLOWED_SHARE * fastest) & ~was_fast & known.gpus_used.eq(0)
    slow = set(known.run_id[is_slow])

    def flagged(ids: pd.Series, flags: pd.Series) -> list[str]:
        return [
            "; ".join(filter(None, [old, SLOWED])) if name in slow else old
            for name, old in zip(ids, flags, strict=True)
        ]

    return (
        runs.assign(noise=flagged(runs.run_id, runs.noise)),
        noted.assign(flags=flagged(noted.run_id, noted["flags"])),
    )
