"""Hosts that one machine id stands for: what tells them apart, and what cannot."""

import copy

import pytest
from observed import typed

from epochcost.measure import machine
from epochcost.record import hosts
from epochcost.record.types import Record

KERNEL = {"kernel": "6.8.0"}
VIRTUAL, BARE = {"hypervisor": True}, {"hypervisor": False}
NEITHER = {"product": None, "boot": None}
PRODUCT, BOOT = {"product": "aaaaaaaaaaaa"}, {"boot": "bbbbbbbbbbbb"}


@pytest.fixture
def of(record):
    """A record of a machine with such facts, in such an environment."""

    def make(*facts: dict, environment: str = "venv") -> Record:
        one = copy.deepcopy(record)
        for fact in (KERNEL, NEITHER, *facts):
            one["machine"] |= fact
        one["software"]["environment"] = environment
        return typed(one)

    return make


@pytest.mark.parametrize(
    ("facts", "environment", "host", "mixed"),
    [
        ((VIRTUAL, PRODUCT, BOOT), "venv", "kernel 6.8.0, host aaaaaa", False),
        ((VIRTUAL, BOOT), "venv", "kernel 6.8.0, host bbbbbb", False),
        ((VIRTUAL,), "venv", "kernel 6.8.0", True),
        # A machine of one's own stays the same one when it is started again.
        ((BARE, BOOT), "venv", "kernel 6.8.0", False),
        ((BARE, PRODUCT, BOOT), "venv", "kernel 6.8.0, host aaaaaa", False),
        # A container has the machine id of its image, and the boot of its host.
        ((BARE, BOOT), "docker", "kernel 6.8.0, host bbbbbb", False),
        ((BARE,), "apptainer", "kernel 6.8.0", True),
        # On Arm, and in the first records, it is not known whether a machine is virtual.
        (({"hypervisor": None}, BOOT), "venv", "kernel 6.8.0, host bbbbbb", False),
        (({"hypervisor": None},), "venv", "kernel 6.8.0", True),
        (({"hypervisor": None, "system": "Darwin arm64"},), "venv", "kernel 6.8.0", False),
    ],
)
def test_what_tells_hosts_of_one_id_apart(of, facts, environment, host, mixed):
    record = of(*facts, environment=environment)
    assert hosts.host_of(record.machine, environment) == host
    assert hosts.key_of(record) == f"{record.machine.id} {host}"
    assert hosts.may_be_several(record) is mixed


def test_another_kernel_is_another_host(of):
    assert hosts.key_of(of(BARE)) != hosts.key_of(of(BARE, {"kernel": "6.8.1"}))


def test_ids_of_product_and_boot_are_hashed(monkeypatch, tmp_path):
    uuid, boot = tmp_path / "product_uuid", tmp_path / "boot_id"
    uuid.write_text("4C4C4544-0042-3510-8053-B4C04F4E3732\n")
    boot.write_text("ff101e19-15d0-48d1-8f96-68cbbefa6020\n")
    monkeypatch.setattr(machine, "PRODUCT", uuid)
    monkeypatch.setattr(machine, "BOOT", boot)
    before = machine.facts()
    assert len(before.product) == len(before.boot) == 12
    assert before.product != before.boot
    assert not {"4C4C4544", "ff101e19"} & set(str(before).replace("-", " ").split())
    boot.write_text("00000000-15d0-48d1-8f96-68cbbefa6020\n")
    after = machine.facts()
    assert after.id == before.id, "the plan finds its records after a new start"
    assert after.boot != before.boot
    assert after.product == before.product


@pytest.mark.parametrize("text", ["00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF", ""])
def test_what_a_firmware_leaves_empty_is_no_product(monkeypatch, tmp_path, text):
    (tmp_path / "product_uuid").write_text(text)
    monkeypatch.setattr(machine, "PRODUCT", tmp_path / "product_uuid")
    assert machine.facts().product is None
    monkeypatch.setattr(machine, "PRODUCT", tmp_path / "none")
    assert machine.facts().product is None


@pytest.mark.parametrize(
    ("text", "virtual"),
    [
        ("flags\t\t: fpu hypervisor lm\n", True),
        ("flags\t\t: fpu lm\n", False),
        ("Features\t: fp asimd\n", None),
    ],
)
def test_a_processor_that_lists_no_flags_does_not_say_that_it_is_real(monkeypatch, text, virtual):
    monkeypatch.setattr(machine.Path, "read_text", lambda _: text)
    assert machine.hypervisor() is virtual
