"""The NVIDIA GPUs of this machine, through NVML: what they are, and what they do during a run."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean, median
from typing import Any

import pynvml

from epochcost.errors import InputError

# NVML numbers GPUs by their place on the bus; CUDA would start with the fastest.
os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
_MIB = 2**20
# Why a GPU's clock is held down; a GPU under full load reaches its power cap.
_REASONS = {
    "power cap": pynvml.nvmlClocksThrottleReasonSwPowerCap,
    "heat": pynvml.nvmlClocksThrottleReasonSwThermalSlowdown,
    "heat, in hardware": pynvml.nvmlClocksThrottleReasonHwThermalSlowdown,
    "power brake": pynvml.nvmlClocksThrottleReasonHwPowerBrakeSlowdown,
    "hardware": pynvml.nvmlClocksThrottleReasonHwSlowdown,
}
POWER_CAP = "power cap"
_NO_DRIVER = (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED)


def detect() -> tuple[list[dict[str, Any]], dict[str, str | None]]:
    """The GPUs that this process may use, and the versions of the driver and its CUDA."""
    with _nvml() as handles:
        if handles is None:
            return [], {"driver": None, "cuda_driver": None}
        cuda = _ask(pynvml.nvmlSystemGetCudaDriverVersion)
        gpus = [
            {
                "name": pynvml.nvmlDeviceGetName(handle),
                "uuid": pynvml.nvmlDeviceGetUUID(handle),
                "memory_gib": _memory_gib(handle),
                "virtual": _virtual(handle),
                "power_limit_w": _scaled(_ask(pynvml.nvmlDeviceGetEnforcedPowerLimit, handle)),
            }
            for handle in handles
        ]
        return gpus, {
            "driver": pynvml.nvmlSystemGetDriverVersion(),
            "cuda_driver": f"{cuda // 1000}.{cuda % 1000 // 10}" if cuda else None,
        }


def compute_capabilities() -> list[tuple[int, int]]:
    """The CUDA compute capability of each GPU."""
    with _nvml() as handles:
        return [pynvml.nvmlDeviceGetCudaComputeCapability(handle) for handle in handles or []]


def watch(count: int, run: int) -> "list[Watched]":
    """The first `count` GPUs that this process may use, to be sampled; none without a driver.

    Frameworks train on the first ones.

    Args:
        run: the process that trains.
    """
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return []
    return [Watched(handle, run) for handle in _visible()[:count]]


def _visible() -> list:
    """The GPUs that CUDA_VISIBLE_DEVICES lets frameworks see, by number or UUID.

    Raises:
        InputError: it names a part of a GPU (MIG), or a GPU that is divided into parts: frameworks
            would train on one of them, and NVML would describe the whole.
    """
    count = pynvml.nvmlDeviceGetCount()
    handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
    chosen = _named(handles, os.environ.get("CUDA_VISIBLE_DEVICES"))
    for handle in chosen:
        if (_ask(pynvml.nvmlDeviceGetMigMode, handle) or [0])[0]:
            name = pynvml.nvmlDeviceGetName(handle)
            raise InputError(
                f"{name} is divided into MIG instances, which cannot be measured yet; name other "
                "GPUs in CUDA_VISIBLE_DEVICES, or none (an empty text)"
            )
    return chosen


def _named(handles: list, named: str | None) -> list:
    """The GPUs that the text of CUDA_VISIBLE_DEVICES names; without one, all."""
    if named is None:
        return handles
    chosen = []
    for name in (part.strip() for part in named.split(",")):
        if name.startswith("MIG"):
            raise InputError(f"CUDA_VISIBLE_DEVICES: {name}: MIG instances cannot be measured yet")
        matching = [
            handle
            for index, handle in enumerate(handles)
            if name == str(index) or (name and pynvml.nvmlDeviceGetUUID(handle).startswith(name))
        ]
        if not matching:
            break  # as CUDA does, which ignores what comes after
        chosen += matching
    return chosen


class Watched:
    """One GPU during a run (a process); created while the run begins."""

    def __init__(self, handle: Any, run: int) -> None:
        self._handle = handle
        there = _ask(pynvml.nvmlDeviceGetComputeRunningProcesses, handle) or []
        # A framework may be on the GPU sooner than NVML has answered.
        self._before = [process for process in there if process.pid != run]
        self._energy = _ask(pynvml.nvmlDeviceGetTotalEnergyConsumption, handle)
        self._seen: dict[str, list[float]] = {
            name: [] for name in ("share", "memory", "power", "clock")
        }
        self._held_down: set[str] | None = None

    def sample(self) -> None:
        """Take one sample; what the GPU does not report is left out."""
        handle = self._handle
        if use := _ask(pynvml.nvmlDeviceGetUtilizationRates, handle):
            self._seen["share"].append(use.gpu / 100)
        if memory := _ask(pynvml.nvmlDeviceGetMemoryInfo, handle):
            self._seen["memory"].append(memory.used / _MIB)
        if power := _ask(pynvml.nvmlDeviceGetPowerUsage, handle):
            self._seen["power"].append(power / 1000)
        if clock := _ask(pynvml.nvmlDeviceGetClockInfo, handle, pynvml.NVML_CLOCK_SM):
            self._seen["clock"].append(clock)
        held = _ask(pynvml.nvmlDeviceGetCurrentClocksEventReasons, handle)
        if held is None:  # its name before driver 535
            held = _ask(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons, handle)
        if held is not None:
            self._held_down = self._held_down or set()
            self._held_down |= {name for name, bit in _REASONS.items() if held & bit}

    def summary(self, seconds: float) -> dict[str, Any]:
        """What was seen in that many seconds; null for what the GPU does not report."""
        seen = self._seen
        energy, method = self._used_energy(seconds)
        return {
            "uuid": pynvml.nvmlDeviceGetUUID(self._handle),
            "share": round(fmean(seen["share"]), 4) if seen["share"] else None,
            "peak_memory_mib": round(max(seen["memory"]), 1) if seen["memory"] else None,
            "power_w": round(fmean(seen["power"]), 1) if seen["power"] else None,
            "clock_mhz": {
                "low": min(seen["clock"]),
                "median": median(seen["clock"]),
                "high": max(seen["clock"]),
            }
            if seen["clock"]
            else None,
            "held_down_by": None if self._held_down is None else sorted(self._held_down),
            "processes_before": len(self._before),
            "energy_j": energy,
            "energy_method": method,
        }

    def _used_energy(self, seconds: float) -> tuple[float | None, str | None]:
        """Joules from the GPU's counter, or else from its sampled power."""
        after = _ask(pynvml.nvmlDeviceGetTotalEnergyConsumption, self._handle)
        if self._energy is not None and after is not None:
            return (after - self._energy) / 1000, "NVML counter"
        if self._seen["power"]:
            return fmean(self._seen["power"]) * seconds, "NVML power, polled"
        return None, None


@contextmanager
def _nvml() -> Iterator[list | None]:
    """The handles of the GPUs that this process may use; None where there is no driver.

    Raises:
        InputError: there is one, and it fails: the processor would be measured in its place.
    """
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        if error.value not in _NO_DRIVER and os.environ.get("CUDA_VISIBLE_DEVICES") != "":
            raise InputError(
                f"the NVIDIA driver fails ({error}); repair it, or set CUDA_VISIBLE_DEVICES to an "
                "empty text to measure the processor"
            ) from None
        yield None
        return
    try:
        yield _visible()
    finally:
        pynvml.nvmlShutdown()


def _ask(function, *arguments) -> Any:
    """What NVML answers; None where this GPU or driver has no answer."""
    try:
        return function(*arguments)
    except pynvml.NVMLError:
        return None


def _memory_gib(handle) -> float | None:
    """Its own memory; None where it shares that of the processor."""
    memory = _ask(pynvml.nvmlDeviceGetMemoryInfo, handle)
    return None if memory is None else round(memory.total / 2**30, 1)


def _virtual(handle) -> bool | None:
    """Whether a hypervisor shares it between machines (vGPU); one that is passed through is not."""
    mode = _ask(pynvml.nvmlDeviceGetVirtualizationMode, handle)
    return None if mode is None else mode == pynvml.NVML_GPU_VIRTUALIZATION_MODE_VGPU


def _scaled(milliwatts: int | None) -> float | None:
    return None if milliwatts is None else milliwatts / 1000
