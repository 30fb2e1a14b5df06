"""The machine at hand: what it is, and which one it is."""

import hashlib
import os
import platform
import re
from pathlib import Path
from typing import Any

import psutil

from epochcost.measure import cgroups, gpus
from epochcost.record.types import Gpu, Limits, Machine

PRODUCT = Path("/sys/class/dmi/id/product_uuid")
BOOT = Path("/proc/sys/kernel/random/boot_id")


def facts() -> Machine:
    """Facts about this machine, as a record holds them; without its cloud, which must be asked.

    `id` identifies the machine. It is made from the system's machine id (without one, from D-Bus's,
    the product's, the boot's or the host name), processor, memory and the GPUs that may be used,
    not from driver or kernel; with other GPUs it counts as another machine. So it does on another
    kind of processor: virtual machines of one image have one machine id wherever they run, and
    hosts of several generations give their processors one name, such as "AMD EPYC". The machine id
    itself is hashed, never stored.

    `product` and `boot` tell hosts of one id apart (`record.hosts`): the product's own id, which
    only root may read and not every system has, and that of the boot. Both are hashed.
    """
    found, drivers = gpus.detect()
    facts = {
        "cpu_model": _cpu_model(),
        "cpu_kind": kind_of_cpu(),
        "physical_cores": psutil.cpu_count(logical=False),
        "logical_cores": psutil.cpu_count() or 1,
        "usable_cores": usable_cores(),
        "core_numbers": _core_numbers(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "gpus": tuple(Gpu(**gpu) for gpu in found),
        **drivers,
        "system": f"{platform.system()} {platform.machine()}",
        "kernel": platform.release(),
        "product": _product(),
        "boot": _hashed(BOOT),
        "cache_kib": _caches(),
        "hypervisor": hypervisor(),
        "limits": Limits(cgroups.cpus(), cgroups.memory_gib()),
    }
    return Machine(id=_identity(facts), **facts, cloud=None)


def usable_cores() -> int:
    """Logical cores that this process may use, given its affinity and its container's quota."""
    allowed, share = allowed_cores(), cgroups.cpus()
    return allowed if share is None else max(1, min(allowed, int(share)))


def allowed_cores() -> int:
    """Logical cores that the threads of this process may run on, whatever its quota."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return psutil.cpu_count() or 1


def _core_numbers() -> str | None:
    """Which logical cores this process may run on: "0-3,8"."""
    try:
        said = Path("/proc/self/status").read_text()
    except OSError:
        return None
    found = re.search(r"^Cpus_allowed_list:\s*(\S+)", said, re.M)
    return found and found[1]


def has_bfloat16(device: str) -> bool:
    """Whether a device, `cpu` or `gpu`, supports bfloat16 arithmetic in hardware."""
    if device == "gpu":
        return all(capability >= (8, 0) for capability in gpus.compute_capabilities())
    try:
        return bool(
            re.search(r"\b(avx512_bf16|amx_bf16|bf16)\b", Path("/proc/cpuinfo").read_text())
        )
    except OSError:
        return False


def _identity(facts: dict[str, Any]) -> str:
    parts = [
        system_id(),
        facts["cpu_model"],
        str(facts["cpu_kind"]),
        str(facts["logical_cores"]),
        str(round(facts["memory_gib"])),
        *sorted(gpu.uuid for gpu in facts["gpus"]),
    ]
    return hashlib.sha256("\n".join(["epochcost", *parts]).encode()).hexdigest()[:12]


def system_id() -> str:
    # In a container, the last two are those of its host.
    for path in (
        "/etc/machine-id",
        "/var/lib/dbus/machine-id",
        PRODUCT,
        BOOT,
    ):
        if text := _read(Path(path)):
            return text
    return platform.node()


def _product() -> str | None:
    """The product's id, hashed; None where it cannot be read, or is a firmware's placeholder."""
    is_real = len(set((_read(PRODUCT) or "").replace("-", ""))) > 1
    return _hashed(PRODUCT) if is_real else None


def _hashed(path: Path) -> str | None:
    """What a file holds, as a hash that does not give it away; None without it."""
    text = _read(path)
    return text and hashlib.sha256(f"epochcost\n{path.name}\n{text}".encode()).hexdigest()[:12]


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip() or None
    except (OSError, ValueError):
        return None


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def kind_of_cpu() -> str | None:
    """What tells processors of one name apart: "family 25 model 1 stepping 1"."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return None
    # The first three on x86, the others on Arm.
    names = ("cpu family", "model", "stepping", "CPU implementer", "CPU part", "CPU variant")
    found = [(name, re.search(rf"^{name}\s*: (\S+)$", text, re.M)) for name in names]
    return " ".join(f"{name.split()[-1]} {value[1]}" for name, value in found if value) or None


def _caches() -> dict[str, int] | None:
    """Size of each kind of cache that the first core uses: {"L1 data": 32, "L2": 1024}."""
    sizes = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index[0-9]*")):
        try:
            level, kind, size = (
                (folder / name).read_text().strip() for name in ("level", "type", "size")
            )
        except OSError:
            continue
        name = f"L{level}" if kind == "Unified" else f"L{level} {kind.lower()}"
        sizes[name] = int(size.removesuffix("K"))
    return sizes or None


def hypervisor() -> bool | None:
    """Whether the processor says that it is virtual; None where, as on Arm, it says nothing."""
    flags = re.search(r"^flags\b.*", _read(Path("/proc/cpuinfo")) or "", re.M)
    return flags and bool(re.search(r"\bhypervisor\b", flags[0]))
