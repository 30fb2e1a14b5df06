"""Records of early versions of epochcost, as if a later one had written them."""

from typing import Any

# What the first records did not sample.
_SAMPLED = (
    "disturbed_share",
    "cpu_mhz",
    "throttled",
    "swapped_mib",
    "memory_stalled_share",
    "quota_waited_share",
)

# Before this, Keras on TensorFlow trained every epoch in the same order of samples.
_ORDERS_DIFFER = "2026-11-23T03:45"


def completed(record: dict[str, Any]) -> dict[str, Any]:
    """A record with the fields that its epochcost did not have yet: what it did not do or measure.

    A quality that came of a fault counts as not measured. The file is left unchanged.
    """
    if not isinstance(record, dict):
        raise TypeError("it holds no object")
    record.setdefault("weights", None)
    record.setdefault("input", None)
    record.setdefault("sample", None)
    record["data"].setdefault("skipped", 0)
    for name in ("cloud", "hypervisor", "cache_kib", "cpu_kind", "cuda_driver", "limits"):
        record["machine"].setdefault(name, None)
    record["software"].setdefault("settings", {})
    record["software"].setdefault("environment", None)
    for name in ("wall_s", "energy_method", "yardstick", "flop_per_sample"):
        record.setdefault(name, None)
    record.setdefault("blocks", [])
    record["utilisation"].setdefault("gpus", [])
    record["utilisation"].setdefault("samples", None)
    for name in _SAMPLED:
        record["noise"].setdefault(name, None)
    for phase in ("finish", "predict", "sample", "lost", "measuring", "other"):
        record.get("phases", {}).setdefault(phase, None)
    if _kept_one_order(record):
        record["quality"] |= {"value": None, "reached": None}
    return record


def _kept_one_order(record: dict[str, Any]) -> bool:
    """Whether all epochs of a full run had the same order of samples; its times are sound."""
    run = record["run"]
    return (
        (run["framework"], run["scale"]) == ("keras-tensorflow", "full")
        and run["started_at"] < _ORDERS_DIFFER
        and record["software"]["settings"].get("input_autotuning", True)
    )
