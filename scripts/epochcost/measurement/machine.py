"""The machine at hand: what it is, and which one it is."""

import hashlib
import os
import platform
import re
from pathlib import Path
from typing import Any

import psutil


def describe() -> dict[str, Any]:
    """Facts about this machine, as a record holds them.

    `id` is the same as long as it is the same machine: it is made from the system's machine id,
    processor, memory and GPUs, not from driver, kernel or name. The machine id itself is hashed,
    never stored.
    """
    gpus, driver = _gpus()
    facts = {
        "cpu_model": _cpu_model(),
        "physical_cores": psutil.cpu_count(logical=False),
        "logical_cores": psutil.cpu_count() or 1,
        "usable_cores": usable_cores(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "gpus": gpus,
        "driver": driver,
        "system": f"{platform.system()} {platform.machine()}",
        "kernel": platform.release(),
    }
    return {"id": _identity(facts), **facts}


def usable_cores() -> int:
    """Logical cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return psutil.cpu_count() or 1


def has_nvidia_gpu() -> bool:
    """Whether an NVIDIA GPU with a working driver is present."""
    return bool(_gpus()[0])


def has_bfloat16(device: str) -> bool:
    """Whether a device, `cpu` or `gpu`, has arithmetic of its own for bfloat16."""
    if device == "gpu":
        return all(capability >= (8, 0) for capability in _compute_capabilities())
    try:
        return bool(
            re.search(r"\b(avx512_bf16|amx_bf16|bf16)\b", Path("/proc/cpuinfo").read_text())
        )
    except OSError:
        return False


def _identity(facts: dict[str, Any]) -> str:
    parts = [
        _system_id(),
        facts["cpu_model"],
        str(facts["logical_cores"]),
        str(round(facts["memory_gib"])),
        *sorted(gpu["uuid"] for gpu in facts["gpus"]),
    ]
    return hashlib.sha256("\n".join(["epochcost", *parts]).encode()).hexdigest()[:12]


def _system_id() -> str:
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            if text := Path(path).read_text().strip():
                return text
        except OSError:
            continue
    return platform.node()


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _compute_capabilities() -> list[tuple[int, int]]:
    import pynvml

    pynvml.nvmlInit()
    try:
        return [
            pynvml.nvmlDeviceGetCudaComputeCapability(pynvml.nvmlDeviceGetHandleByIndex(index))
            for index in range(pynvml.nvmlDeviceGetCount())
        ]
    finally:
        pynvml.nvmlShutdown()


def _gpus() -> tuple[list[dict[str, Any]], str | None]:
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return [], None
    try:
        handles = [
            pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())
        ]
        gpus = [
            {
                "name": pynvml.nvmlDeviceGetName(handle),
                "uuid": pynvml.nvmlDeviceGetUUID(handle),
                "memory_gib": round(pynvml.nvmlDeviceGetMemoryInfo(handle).total / 2**30, 1),
            }
            for handle in handles
        ]
        return gpus, pynvml.nvmlSystemGetDriverVersion()
    finally:
        pynvml.nvmlShutdown()
