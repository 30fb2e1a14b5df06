"""What trains, and its memory: asked of frameworks that were imported and used, none is started."""

import sys


def synchronise() -> None:
    """Wait for the device, where that can be done from outside.

    Not while a CUDA graph is captured, which it would break. JAX has nothing to wait for without
    the script's own arrays.
    """
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is None:
        return
    if cuda.is_initialized() and not cuda.is_current_stream_capturing():
        cuda.synchronize()
    elif getattr(torch, "mps", None) and torch.mps.current_allocated_memory() > 0:
        torch.mps.synchronize()


def seen() -> dict:
    """Kind of the device, uuids of the GPUs used, peak of their memory in MiB; None: not known."""
    return _of_torch() or _of_jax() or {"device": "cpu", "uuids": [], "device_mib": None}


def _of_torch() -> dict | None:
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return None
    peaks = {number: cuda.max_memory_reserved(number) for number in range(cuda.device_count())}
    used = {number: peak for number, peak in peaks.items() if peak}
    if not used:
        return None
    found = (getattr(cuda.get_device_properties(n), "uuid", None) for n in used)
    uuids = [f"GPU-{uuid}" for uuid in found if uuid is not None]
    return {"device": "cuda", "uuids": uuids, "device_mib": sum(used.values()) / 2**20}


def _of_jax() -> dict | None:
    bridge = sys.modules.get("jax._src.xla_bridge")
    backends = getattr(bridge, "_backends", None) or {}
    for name, backend in backends.items():
        if name in ("cpu", "interpreter"):
            continue
        peaks = [(d.memory_stats() or {}).get("peak_bytes_in_use") for d in backend.local_devices()]
        known = [peak for peak in peaks if peak]
        kind = {"gpu": "cuda"}.get(name, name)
        return {"device": kind, "uuids": [], "device_mib": sum(known) / 2**20 if known else None}
    return None
