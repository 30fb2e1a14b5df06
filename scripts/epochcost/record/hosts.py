"""Which host a record is from, where several have one machine id.

A machine's id stays the same over reboots and updates of its kernel, so that its records and its
price are found. Virtual machines of one image share that id, and so do containers of one image.
Nothing is pooled over hosts: what tells them apart is here.
"""

from epochcost.record.types import Machine, Record

# What trains in these has the machine id of an image, not of its host.
_CONTAINERS = ("docker", "apptainer")
_SHOWN = 6


def host_of(machine: Machine, environment: str | None) -> str:
    """What tells the hosts of one machine id apart, in words: `kernel 6.8.0-45, host 3fa29c`.

    The kernel counts everywhere, as a driver does: another one may be faster. The product's own id
    tells two hosts apart for good. Where it cannot be read, the boot does so for machines that may
    be made of one image: such a machine is another host after each start, as it may indeed be.
    Clones of a running machine (a snapshot) may share even that.

    Args:
        environment: what its software comes from (`types.Software`).
    """
    shared = _may_share_id(machine, environment)
    mark = machine.product or (machine.boot if shared else None)
    parts = {"kernel": machine.kernel, "host": mark and mark[:_SHOWN]}
    return ", ".join(f"{name} {value}" for name, value in parts.items() if value)


def key_of(record: Record) -> str:
    """The machine and which of its hosts: what runs must share to be compared."""
    return f"{record.machine.id} {host_of(record.machine, record.software.environment)}".strip()


def may_be_several(record: Record) -> bool:
    """Whether the same key may hide several hosts: nothing that was recorded would tell them."""
    machine = record.machine
    return _may_share_id(machine, record.software.environment) and not (
        machine.product or machine.boot
    )


def _may_share_id(machine: Machine, environment: str | None) -> bool:
    """Whether the machine id may be that of an image, which other machines are made of too."""
    # Only Linux says so; where the first versions did not ask, it is not known.
    is_virtual = machine.hypervisor is not False and machine.system.startswith("Linux")
    return is_virtual or environment in _CONTAINERS
