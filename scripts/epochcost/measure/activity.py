"""What the processor did during a run: for it, for others, or idle; what disturbed the run."""

import os
import sys
from collections.abc import Callable
from typing import Any

import psutil

from epochcost.measure.gpus import POWER_CAP
from epochcost.measure.sampler import OF_NO_PROCESS, OTHERS_LIMIT_CORES
from epochcost.record.types import Noise, Pause, Spread

# Flags for what passes by itself, and others.
OTHERS, OTHERS_ON_GPU, GPU_SLOWED, PAUSED = (
    "load from others", "another process on the GPU", "GPU slowed down", "paused",
)  # fmt: skip
STOLEN, HOT, WAITING, SWAPPED, QUOTA, UNSEEN, INTERRUPTED = (
    "processor time stolen by the host", "processor slowed down for its heat",
    "waiting for memory", "memory on disk", "share of the container used up", "not sampled",
    "interrupted, and watched since its last start alone",
)  # fmt: skip
_DISTURBED_LIMIT = 0.05
_STEAL_LIMIT = 0.02
_WAITING_LIMIT = 0.01
_SWAP_LIMIT_MIB = 10
# When a record has a flag: docs/reference/flags.md is made of it.
FLAGS = {
    PAUSED: "it was stopped, frozen or suspended; the flag says for how long and in which epoch",
    OTHERS: f"other processes used more than {OTHERS_LIMIT_CORES} of a core on average, or during "
    f"more than {_DISTURBED_LIMIT:.0%} of the run",
    STOLEN: f"more than {_STEAL_LIMIT:.0%} of it",
    HOT: "at all",
    WAITING: f"some process waited more than {_WAITING_LIMIT:.0%} of the time",
    SWAPPED: f"more than {_SWAP_LIMIT_MIB} MiB were swapped",
    QUOTA: f"its limit held processes for more than {_WAITING_LIMIT:.0%} of the time",
    OTHERS_ON_GPU: "it was there before the run",
    GPU_SLOWED: "by heat or the power brake; a power cap is normal and no flag",
    UNSEEN: "the sampler failed",
    INTERRUPTED: "energy is unknown then",
}
_MOST_NAMED = 3


class Activity:
    """Processor time from creation to `summary`, split into this process and others."""

    def __init__(self) -> None:
        self._system = psutil.cpu_times()
        self._own = _own_seconds()

    def summary(self) -> dict[str, Any]:
        """Shares of the machine's processor time, 0 to 1: `cpu` (this run), `others`, `steal`."""
        now = psutil.cpu_times()
        spent = {name: getattr(now, name) - getattr(self._system, name) for name in now._fields}
        # Linux already counts guest time as user time.
        total = sum(value for name, value in spent.items() if not name.startswith("guest"))
        if total <= 0:
            return {"cpu": None, "others": None, "steal": None}
        own = _own_seconds() - self._own
        of_processes = sum(spent[name] for name in spent if name not in OF_NO_PROCESS)
        return {
            "cpu": own / total,
            "others": max(0.0, of_processes - own) / total,
            "steal": spent.get("steal", 0.0) / total,
        }


def noise(
    summary: dict[str, Any],
    seen: dict[str, Any],
    interruptions: int = 0,
    during: Callable[[float, float], str | None] = lambda begin, end: None,
) -> Noise:
    """The `noise` part of a record: what was seen, and a flag for each possible disturbance.

    A pause stays in the time of its epoch, as its length is known to half a second only, and what
    follows it may be slower for a while. It is said, and the run counts as disturbed.

    Args:
        summary: from `Activity.summary`.
        seen: from the sampler (`sampler.Observed.summary`); {} if it failed.
        interruptions: how often the run was interrupted.
        during: what was timed from one moment to another (`clock.Clock.during`).
    """
    gpus = seen.get("gpus", [])
    held_down = {reason for gpu in gpus for reason in gpu["held_down_by"] or []} - {POWER_CAP}
    paused = seen.get("pauses", [])
    pauses = tuple(
        Pause(round(one["seconds"], 1), during(one["begin"], one["end"]), one["cause"])
        for one in paused
    )
    disturbed = {
        f"{PAUSED} for {_worded(pauses)}": bool(pauses),
        OTHERS: (summary["others"] or 0) * (psutil.cpu_count() or 1) > OTHERS_LIMIT_CORES
        or (seen.get("disturbed_share") or 0) > _DISTURBED_LIMIT,
        STOLEN: (summary["steal"] or 0) > _STEAL_LIMIT,
        HOT: bool(seen.get("throttled")),
        WAITING: (seen.get("memory_stalled_share") or 0) > _WAITING_LIMIT,
        SWAPPED: (seen.get("swapped_mib") or 0) > _SWAP_LIMIT_MIB,
        QUOTA: (seen.get("quota_waited_share") or 0) > _WAITING_LIMIT,
        OTHERS_ON_GPU: any(gpu["processes_before"] for gpu in gpus),
        f"{GPU_SLOWED}: {', '.join(sorted(held_down))}": bool(held_down),
        UNSEEN: not seen,
        INTERRUPTED: interruptions > 0,
    }
    return Noise(
        others_cpu_share=_rounded(summary["others"]),
        steal_share=_rounded(summary["steal"]),
        disturbed_share=seen.get("disturbed_share"),
        cpu_mhz=Spread(**seen["cpu_mhz"]) if seen.get("cpu_mhz") else None,
        throttled=seen.get("throttled"),
        swapped_mib=seen.get("swapped_mib"),
        memory_stalled_share=seen.get("memory_stalled_share"),
        quota_waited_share=seen.get("quota_waited_share"),
        paused_s=round(sum(one["seconds"] for one in paused), 1) if seen else None,
        pauses=pauses if seen else None,
        flags=tuple(name for name, is_so in disturbed.items() if is_so),
    )


def _worded(pauses: tuple[Pause, ...]) -> str:
    """Pauses in words: `27 s in epoch 4`; of many, how many there were."""
    if len(pauses) > _MOST_NAMED:
        return f"{sum(pause.seconds for pause in pauses):.1f} s, {len(pauses)} times"
    places = [f" in {pause.during}" if pause.during else "" for pause in pauses]
    return " and ".join(
        f"{pause.seconds:.1f} s{place}" for pause, place in zip(pauses, places, strict=True)
    )


def peak_rss_mib() -> float | None:
    """Peak memory of any one process of the run; None where the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    processes = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = max(resource.getrusage(which).ru_maxrss for which in processes)
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
