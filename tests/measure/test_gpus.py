"""What NVML says of GPUs; a stand-in answers, as no machine of these tests has one."""

import os
from types import SimpleNamespace

import pynvml
import pytest

from epochcost.errors import InputError
from epochcost.measure import gpus

RUN = 5  # the process that trains


class Nvml:
    """Two GPUs, the second of an old kind that has neither energy counter nor event reasons."""

    def __init__(self, monkeypatch):
        self.energy, self.power, self.held = 5_000, 100_000, 0
        self.there = []
        self.mode = pynvml.NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH
        answers = {
            "nvmlInit": lambda: None,
            "nvmlShutdown": lambda: None,
            "nvmlDeviceGetCount": lambda: 2,
            "nvmlDeviceGetHandleByIndex": lambda index: index,
            "nvmlDeviceGetName": lambda handle: ["Tesla T4", "Tesla K80"][handle],
            "nvmlDeviceGetUUID": lambda handle: f"GPU-{handle}",
            "nvmlDeviceGetMemoryInfo": lambda _: SimpleNamespace(total=16 * 2**30, used=2**30),
            "nvmlDeviceGetEnforcedPowerLimit": lambda _: 70_000,
            "nvmlDeviceGetCudaComputeCapability": lambda handle: [(7, 5), (3, 7)][handle],
            "nvmlSystemGetDriverVersion": lambda: "580.1",
            "nvmlSystemGetCudaDriverVersion": lambda: 13_010,
            "nvmlDeviceGetComputeRunningProcesses": lambda _: self.there,
            "nvmlDeviceGetTotalEnergyConsumption": self.only_first(lambda: self.energy),
            "nvmlDeviceGetUtilizationRates": lambda _: SimpleNamespace(gpu=80),
            "nvmlDeviceGetPowerUsage": lambda _: self.power,
            "nvmlDeviceGetClockInfo": lambda *_: 1500,
            "nvmlDeviceGetCurrentClocksEventReasons": self.only_first(lambda: self.held),
            "nvmlDeviceGetCurrentClocksThrottleReasons": self.none,
            "nvmlDeviceGetVirtualizationMode": self.only_first(lambda: self.mode),
            "nvmlDeviceGetMigMode": self.only_first(lambda: [0, 0]),
        }
        for name, answer in answers.items():
            monkeypatch.setattr(pynvml, name, answer)

    def none(self, _):
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    def only_first(self, value):
        def answer(handle):
            if handle:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
            return value()

        return answer


@pytest.fixture
def nvml(monkeypatch):
    return Nvml(monkeypatch)


def test_gpus_are_described(nvml):
    found, drivers = gpus.detect()
    assert [gpu["name"] for gpu in found] == ["Tesla T4", "Tesla K80"]
    assert found[0]["power_limit_w"] == 70
    assert drivers == {"driver": "580.1", "cuda_driver": "13.1"}
    assert gpus.compute_capabilities() == [(7, 5), (3, 7)]


def test_a_shared_gpu_is_told_from_one_that_is_passed_through(nvml):
    assert [gpu["virtual"] for gpu in gpus.detect()[0]] == [False, None]
    nvml.mode = pynvml.NVML_GPU_VIRTUALIZATION_MODE_VGPU
    assert gpus.detect()[0][0]["virtual"] is True


def test_a_job_has_the_gpus_that_its_scheduler_gave_it(nvml, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert [gpu["name"] for gpu in gpus.detect()[0]] == ["Tesla K80"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert gpus.detect()[0] == []


def test_every_gpu_is_watched_and_its_energy_counted_or_polled(nvml):
    watched = gpus.watch(2, RUN)
    for power in (100_000, 200_000):
        nvml.power = power
        for gpu in watched:
            gpu.sample()
    nvml.energy = 65_000
    first, second = (gpu.summary(10.0) for gpu in watched)
    assert (first["energy_j"], first["energy_method"]) == (60.0, "NVML counter")
    assert (second["energy_j"], second["energy_method"]) == (1500.0, "NVML power, polled")
    assert first["share"] == 0.8
    assert first["peak_memory_mib"] == 1024
    assert first["clock_mhz"] == {"low": 1500, "median": 1500, "high": 1500}
    assert first["held_down_by"] == []
    assert first["processes_before"] == 0
    assert second["held_down_by"] is None, "not known is not the same as no"


def test_a_run_on_one_of_two_gpus_is_described_by_that_one(nvml):
    (gpu,) = gpus.watch(1, RUN)
    assert gpu.summary(1.0)["uuid"] == gpus.detect()[0][0]["uuid"]


def test_heat_and_strangers_are_seen(nvml):
    nvml.there = [SimpleNamespace(pid=pid) for pid in (RUN, 7)]
    nvml.held = pynvml.nvmlClocksEventReasonSwThermalSlowdown
    gpu, _ = gpus.watch(2, RUN)
    gpu.sample()
    summary = gpu.summary(1.0)
    assert summary["held_down_by"] == ["heat"]
    assert summary["processes_before"] == 1


def test_an_old_driver_tells_by_the_old_name(nvml, monkeypatch):
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCurrentClocksEventReasons", nvml.none)
    reason = pynvml.nvmlClocksThrottleReasonHwSlowdown
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCurrentClocksThrottleReasons", lambda _: reason)
    gpu, _ = gpus.watch(2, RUN)
    gpu.sample()
    assert gpu.summary(1.0)["held_down_by"] == ["hardware"]


@pytest.mark.parametrize(
    ("named", "uuids"),
    [
        ("1", ["GPU-1"]),
        ("GPU-1,0", ["GPU-1", "GPU-0"]),
        ("0,7,1", ["GPU-0"]),
        ("", []),
        ("-1", []),
    ],
)
def test_gpus_that_are_hidden_are_not_watched(nvml, monkeypatch, named, uuids):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
    assert [gpu.summary(1.0)["uuid"] for gpu in gpus.watch(2, RUN)] == uuids


def test_a_part_of_a_gpu_is_refused_and_no_processor_is_measured_instead(nvml, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-1")
    with pytest.raises(InputError, match="CUDA_VISIBLE_DEVICES: MIG-1: MIG instances"):
        gpus.detect()


def test_a_gpu_that_is_divided_is_refused_however_it_is_named(nvml, monkeypatch):
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMigMode", nvml.only_first(lambda: [1, 1]))
    for named in (None, "0", "GPU-0"):
        if named:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
        with pytest.raises(InputError, match="Tesla T4 is divided into MIG instances"):
            gpus.detect()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert [gpu["name"] for gpu in gpus.detect()[0]] == ["Tesla K80"]


def test_cuda_counts_as_nvml_does():
    assert os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"


def test_without_a_driver_there_is_nothing(monkeypatch):
    def fail():
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", fail)
    assert gpus.detect() == ([], {"driver": None, "cuda_driver": None})
    assert gpus.watch(2, RUN) == gpus.compute_capabilities() == []


def test_a_driver_that_fails_is_not_taken_for_none(monkeypatch):
    def fail():
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH)

    monkeypatch.setattr(pynvml, "nvmlInit", fail)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with pytest.raises(InputError, match=r"the NVIDIA driver fails .*; repair it, or set CUDA_V"):
        gpus.detect()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert gpus.detect()[0] == []


def test_a_gpu_may_have_no_memory_of_its_own(nvml, monkeypatch):
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMemoryInfo", nvml.none)
    assert [gpu["memory_gib"] for gpu in gpus.detect()[0]] == [None, None]
