"""Records of early versions of epochcost, as if a later one had written them."""

from datetime import datetime
from typing import Any

from epochcost.record.types import TRAIN

# What the first records did not sample.
_SAMPLED = (
    "disturbed_share",
    "cpu_mhz",
    "throttled",
    "swapped_mib",
    "memory_stalled_share",
    "quota_waited_share",
    "paused_s",
    "pauses",
)
# What the first records do not say of a machine.
_OF_MACHINE = (
    "cloud", "hypervisor", "cache_kib", "cpu_kind", "cuda_driver", "limits", "product", "boot",
)  # fmt: skip

# Before this, Keras on TensorFlow trained every epoch in the same order of samples.
_ORDERS_DIFFER = "2026-11-23T03:45"
# Before this, the loop of Keras on JAX and PyTorch began by ordering a million batches.
_LOOP_ALONE = "2026-11-22T18:30"


def completed(record: dict[str, Any]) -> dict[str, Any]:
    """A record with the fields that its epochcost did not have yet: what it did not do or measure.

    A quality that came of a fault counts as not measured. The file is left unchanged.
    """
    record.setdefault("weights", None)
    record.setdefault("input", None)
    if record["input"] and _loop_ordered_batches(record["run"]):
        record["input"].pop("loop_s", None)
    record.setdefault("sample", None)
    record["data"].setdefault("skipped", 0)
    for name in _OF_MACHINE:
        record["machine"].setdefault(name, None)
    record["software"].setdefault("settings", {})
    record["software"].setdefault("variables", {})
    record["software"].setdefault("environment", None)
    for name in ("energy_method", "yardstick", "flop_per_sample"):
        record.setdefault(name, None)
    if record.get("wall_s") is None:
        record["wall_s"] = _seconds_between(record["run"])
    record["blocks"] = _blocks(record)
    record["utilisation"].setdefault("gpus", [])
    record["utilisation"].setdefault("samples", None)
    for name in _SAMPLED:
        record["noise"].setdefault(name, None)
    for phase in ("finish", "predict", "sample", "lost", "measuring", "other"):
        record.get("phases", {}).setdefault(phase, None)
    if _kept_one_order(record):
        record["quality"] |= {"value": None, "reached": None}
    return record


def _seconds_between(run: dict[str, Any]) -> float:
    begin, end = (datetime.fromisoformat(run[key]) for key in ("started_at", "finished_at"))
    return max(0.0, (end - begin).total_seconds())


def _loop_ordered_batches(run: dict[str, Any]) -> bool:
    """Whether what counts as the framework's own loop took longer than any epoch's does."""
    return run["framework"] in ("keras-jax", "keras-torch") and run["started_at"] < _LOOP_ALONE


def _kept_one_order(record: dict[str, Any]) -> bool:
    """Whether all epochs of a full run had the same order of samples; its times are sound."""
    run = record["run"]
    return (
        (run["framework"], run["scale"]) == ("keras-tensorflow", "full")
        and run["started_at"] < _ORDERS_DIFFER
        and record["software"]["settings"].get("input_autotuning", True)
    )


def _blocks(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The timed stretches; the first records had only those of the first epoch's training."""
    blocks = record.get("blocks", [])
    if not blocks or "part" in blocks[0]:
        return blocks
    return [{"epoch": 1, "part": TRAIN} | block for block in blocks]
