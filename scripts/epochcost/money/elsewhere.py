"""Trainings on machine types where nobody measured them: rows beside those of `repeats.summaries`.

Pure functions over such rows.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from epochcost.estimate import Estimate, Knowledge, Measured, time_on
from epochcost.estimate.transfer import REACH
from epochcost.hardware import is_unsupported
from epochcost.results import repeats
from epochcost.results.rows import OWN
from epochcost.results.spreads import deviations
from epochcost.statistics import spread
from epochcost.statistics.spread import Spread

ESTIMATED, PUBLISHED, PREDICTED, MEASURED = "estimated", "published", "predicted", "measured"
# What a row has beside the columns of `repeats.summaries`.
ADDED = ["deviation", "evidence", "basis", "fits"]
# One training, whatever it ran on.
_TRAINING = ["workload", "framework", "variant", "settings", "recipe", "gpus_used"]
# Frameworks that take most of a GPU's memory when they start.
_TAKE_ALL = ("keras-jax", "keras-tensorflow")
# A peak that is so much of a memory fits; one so far above it may, as allocators keep what they
# once had.
_FITS, _MAY_FIT = 0.9, 1.1
FITS, UNSURE, TOO_SMALL, UNKNOWN = "yes", "probably not", "no", "not known"


def rows(
    summaries: pd.DataFrame,
    offered: Iterable[str],
    catalogue: Mapping[str, Mapping[str, Any]],
    known: Knowledge,
    spreads: Mapping[str, Spread],
) -> pd.DataFrame:
    """A row for each training and machine type that nothing was measured of, but can be estimated.

    The start is the median of those measured. `basis` says what an estimate rests on, and `fits`
    whether the training has room in the memory of the GPU; where it has none, there is no row.

    Args:
        summaries: what was measured here, of which runs on GPUs count.
        offered: the machine types that can be had, as `catalogue` names them.
        spreads: how well the times that were measured are known.
    """
    own = _on_gpus(summaries, spreads)
    # What others published long ago outranks no estimate.
    ours = summaries[summaries.source_id.eq(OWN)]
    measured = {tuple(key) for key in ours[["workload", "hardware_id"]].to_numpy()}
    gpus = {name: known.of_hardware(catalogue.get(name, {})) for name in sorted(set(offered))}
    can = {
        name: (catalogue[name], gpu)
        for name, gpu in gpus.items()
        if gpu and not is_unsupported(catalogue[name]["gpu"])
    }
    made = []
    for _, group in own.groupby(_TRAINING, dropna=False, sort=False):
        workload, count = group.workload.iloc[0], int(group.gpus_used.iloc[0])
        there = {
            name: (entry, gpu)
            for name, (entry, gpu) in can.items()
            if entry["gpu_count"] == count and (workload, name) not in measured
        }
        made += _rows(group, there, known)
    return pd.DataFrame(made, columns=[*summaries.columns, *ADDED])


def _on_gpus(summaries: pd.DataFrame, spreads: Mapping[str, Spread]) -> pd.DataFrame:
    """What was measured here on GPUs, and how well each time is known."""
    own = summaries[summaries.source_id.eq(OWN) & summaries.gpus_used.fillna(0).gt(0)]
    return own.assign(deviation=deviations(own, spreads, one_hour=False))


def _rows(
    group: pd.DataFrame, there: Mapping[str, tuple[Mapping[str, Any], str]], known: Knowledge
) -> Iterator[dict[str, Any]]:
    """The rows of a training; none where nothing supports an estimate, or it has no room.

    Args:
        there: by machine type, its entry and its GPU as `known` names it.
    """
    first, seen = dict(group.iloc[0]), measured(group)
    count, arithmetic = int(first["gpus_used"]), precision(first["settings"])
    common = first | {
        **dict.fromkeys(("machine", "machine_id", "host", "driver", "copy_of", "shipped"), ""),
        **{"source_id": ESTIMATED, "evidence": ESTIMATED, "predicted": False},
        **{"runs": 0, "machines": 0, "mixed_hosts": False, "noisy_runs": 0, "paused_s": 0.0},
        **{"time_confidence": None, "metric_value": None, "quality_reached": None},
        **{"gpu_busy": None, "gpu_memory_gib": None},
        "run_ids": " ".join(group.run_ids),
        "overhead_s": group.overhead_s.median(),
        "start_s": group.start_s.median(),
    }
    found = {
        gpu: time_on(seen, gpu, count, arithmetic, known)
        for gpu in sorted({gpu for _, gpu in there.values()})
    }
    timed = {gpu: _timed(one, group) for gpu, one in found.items() if isinstance(one, Estimate)}
    # Of a framework that takes all memory at its start, a peak says nothing.
    peak = math.nan if first["framework"] in _TAKE_ALL else group.gpu_memory_gib.max()
    for hardware, (entry, gpu) in there.items():
        fits = _room(peak, entry.get("gpu_memory_gib") or known.gpus[gpu].memory)
        if gpu in timed and fits != TOO_SMALL:
            yield common | _of_hardware(hardware, entry) | timed[gpu] | {"fits": fits}


def _of_hardware(hardware: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "hardware_id": hardware,
        "hardware_label": entry["label"],
        "vcpus": entry.get("vcpus"),
        "gpu": entry["gpu"],
    }


def _timed(found: Estimate, group: pd.DataFrame) -> dict[str, Any]:
    """The time of an estimate, which is no surer than what was measured is."""
    around = REACH * group.deviation.max()
    low, high = (
        found.seconds * math.exp(side * math.hypot(math.log(end / found.seconds), around))
        for side, end in ((-1, found.low), (1, found.high))
    )
    return {
        "time_s": found.seconds,
        "time_low": low,
        "time_high": high,
        "deviation": math.log(high / low) / 2 / REACH,
        "basis": basis(found),
    }


def on(runs: pd.DataFrame, entry: Mapping[str, Any], known: Knowledge) -> Estimate | None:
    """What a training takes on a machine type, with its start; None where nothing supports it.

    Args:
        runs: its rows of runs.csv, on any machine.
        entry: of the machine type in config/hardware.yaml.
    """
    seen = _on_gpus(repeats.summaries(runs), spread.shipped())
    gpu = known.of_hardware(entry)
    if seen.empty or gpu is None or is_unsupported(entry["gpu"]):
        return None
    first = seen.iloc[0]
    found = time_on(measured(seen), gpu, int(first.gpus_used), precision(first.settings), known)
    if not isinstance(found, Estimate):
        return None
    start_s, timed = seen.overhead_s.fillna(0.0).median(), _timed(found, seen)
    names = {"seconds": "time_s", "low": "time_low", "high": "time_high"}
    return replace(found, **{name: timed[column] + start_s for name, column in names.items()})


def counts(runs: pd.DataFrame) -> pd.Series:
    """Which runs say something of other machines: whole ones on real data, with a time."""
    whole = runs.status.eq("ok") & runs.time_s.notna() & ~runs.synthetic.astype(bool)
    return whole & runs.data_complete.astype(bool)


def measured(group: pd.DataFrame) -> list[Measured]:
    """What was measured of a training, for `estimate.time_on`."""
    columns = ["gpu", "gpus_used", "settings", "framework", "time_s", "gpu_busy"]
    return [
        Measured(
            row.gpu, int(row.gpus_used), precision(row.settings), row.framework, row.time_s,
            None if pd.isna(row.gpu_busy) else row.gpu_busy,
        )
        for row in group[columns].itertuples()
    ]  # fmt: skip


def precision(settings: Any) -> str:
    """The arithmetic of a training, as the reference speeds call it.

    By default convolutions and recurrent layers use TF32 in all frameworks, where a GPU has it. Of
    an own training nobody knows it; it is taken to be the same.
    """
    return "bf16" if "precision=bfloat16" in str(settings) else "tf32"


def basis(found: Estimate) -> str:
    """What an estimate rests on, in words."""
    networks = f", {found.networks} networks" if found.networks else ""
    waits = "; mostly waits for the host" if found.host_bound else ""
    return f"{found.kind}{networks}, from {found.through[0]}{waits}"


def _room(peak_gib: float, memory_gib: float | None) -> str:
    """Whether a training has room in the memory of a GPU."""
    if pd.isna(peak_gib) or not memory_gib:
        return UNKNOWN
    share = peak_gib / memory_gib
    return FITS if share <= _FITS else UNSURE if share <= _MAY_FIT else TOO_SMALL


def evidence(table: pd.DataFrame) -> list[str]:
    """How the time of each row is known, for rows that are not estimated."""
    return [
        PUBLISHED if row.source_id != OWN else PREDICTED if row.predicted else MEASURED
        for row in table.itertuples()
    ]
