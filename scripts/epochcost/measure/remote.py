"""Measure a bare host that is reached by ssh, and bring its records home."""

import shlex
import subprocess
import tempfile
import time
from collections.abc import Collection
from pathlib import Path

from epochcost.durations import worded
from epochcost.errors import InputError
from epochcost.measure import revision
from epochcost.record import merge

ROOT = Path(__file__).resolve().parents[3]
SSH_FAILED = 255


class Host:
    """A machine that is reached by ssh, and a folder on it."""

    def __init__(self, ssh: str, address: str, folder: str) -> None:
        # A connection that broke is noticed even while nothing is said.
        self._ssh = [*shlex.split(ssh), "-o", "ServerAliveInterval=30", address]
        self.address, self.folder = address, folder

    def is_busy(self) -> bool:
        """Whether an earlier run is still going in the folder; a killed one's lock is removed."""
        return self.run(".venv/bin/python scripts/unlock.py --busy", quiet=True) == 0

    def run(self, command: str, quiet: bool = False) -> int:
        """Run a shell command in the folder, its output on this screen; returns its status."""
        # With these set, bash reads ~/.bashrc in the jobs, too, and finds another python there.
        command = f"unset SSH_CLIENT SSH2_CLIENT; cd {shlex.quote(self.folder)} && {command}"
        stderr = subprocess.DEVNULL if quiet else None
        return self._checked(subprocess.run([*self._ssh, command], stderr=stderr))

    def send(self, source: Path, names: list[str], target: str) -> None:
        """Copy files or folders below `source` to the same names below `target`."""
        packed = subprocess.Popen(
            ["tar", "-C", source, "-czf", "-", "--null", "--files-from=-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        where = shlex.quote(target)
        # Otherwise root would give the files to the sender's user ID.
        unpacked = subprocess.Popen(
            [*self._ssh, f"mkdir -p {where} && tar -C {where} -xz --no-same-owner -f -"],
            stdin=packed.stdout,
        )
        packed.stdin.write("\0".join(names).encode())
        packed.stdin.close()
        packed.stdout.close()
        unpacked.wait()
        if self._checked(unpacked) or packed.wait():
            raise InputError(f"{self.address} did not take the files")

    def fetch(self, name: str, target: Path) -> None:
        """Copy what is below a folder of the host, if it exists, into `target`."""
        there = shlex.quote(f"{self.folder}/{name}")
        command = f"mkdir -p {there} && tar -C {there} -czf - ."
        packed = subprocess.Popen([*self._ssh, command], stdout=subprocess.PIPE)
        unpacked = subprocess.run(["tar", "-C", target, "-xzf", "-"], stdin=packed.stdout)
        packed.stdout.close()
        packed.wait()
        if self._checked(packed) or unpacked.returncode:
            raise InputError(f"{self.address} did not send its records")

    def _checked(self, done: subprocess.Popen | subprocess.CompletedProcess) -> int:
        if done.returncode == SSH_FAILED:
            raise InputError(f"{self.address} cannot be reached; {shlex.join(self._ssh)} says why")
        return done.returncode


def measure(
    host: Host,
    words: list[str],
    catalogue: Collection[str],
    hardware: str,
    python: str,
    mirror: Path | None,
    records: Path,
) -> int:
    """Send the workflow, run it, bring home any records; returns 0 when all went well.

    Args:
        words: for Snakemake on the host.
        catalogue: the ids of hardware.
        hardware: what the host is.
        python: the host's.
        mirror: of the data sets, to send; None for none.
        records: the folder of records here (results/runs).
    """
    options = _snakemake_options(hardware, words)
    if host.is_busy():
        raise InputError(f"{host.address} is still at work; run the same again when it has ended")
    begin = time.monotonic()
    try:
        _send(host, hardware, mirror, records)
        ran = host.run(_command(hardware, python, mirror, records, options))
        return ran or bring_home(host, records, catalogue)
    finally:
        used = worded(time.monotonic() - begin)
        print(f"{host.address} was in use for {used}, and still runs: end it if it is rented.")


def bring_home(host: Host, records: Path, catalogue: Collection[str]) -> int:
    """Merge the host's records into those here; returns 0 if none was refused.

    Args:
        records: results/runs.
        catalogue: the ids of hardware.
    """
    with tempfile.TemporaryDirectory() as folder:
        host.fetch("results/runs", Path(folder))
        merged = merge.merge(Path(folder), records, catalogue)
    print(*merged.lines(), sep="\n")
    return int(bool(merged.refused))


def send_workflow(host: Host) -> None:
    """Send the files of this clone that git tracks."""
    host.send(ROOT, _tracked(ROOT), host.folder)


def _send(host: Host, hardware: str, mirror: Path | None, records: Path) -> None:
    """Send the files of the workflow, a mirror, and the records of the hardware."""
    send_workflow(host)
    if mirror:
        host.send(mirror, ["."], f"{host.folder}/mirror")
    if (records / hardware).is_dir():
        host.send(records, [hardware], f"{host.folder}/incoming")


def _command(
    hardware: str, python: str, mirror: Path | None, records: Path, options: list[str]
) -> str:
    """What is run on the host: set up, measure."""
    setup = f"make setup PYTHON={shlex.quote(python)}"
    if (records / hardware).is_dir():
        # Those that are here count there, too; a host that is new knows none of them.
        setup += " && { .venv/bin/python scripts/merge.py incoming > /dev/null || true; }"
    # Git's history, from which records say what measured them, stays here.
    environment = f"{revision.COMMIT}={shlex.quote(revision.to_send(ROOT))} "
    if mirror:
        environment += "EPOCHCOST_MIRROR=mirror "
    return f"{setup} && {environment}.venv/bin/snakemake measure {shlex.join(options)}"


def _snakemake_options(hardware: str, words: list[str]) -> list[str]:
    """The caller's words, with the hardware among the configuration's keys."""
    for word in words:
        if word.startswith(("-C", "--config=", "hardware=")):
            raise InputError(f"{word}: write settings after --config, and the hardware before them")
    if words.count("--config") > 1:  # Snakemake uses only the last, without the hardware
        raise InputError("--config is given twice; write all settings after one")
    named = f"hardware={hardware}"
    if "--config" not in words:
        return [*words, "--config", named]
    place = words.index("--config") + 1
    return [*words[:place], named, *words[place:]]


def _tracked(root: Path) -> list[str]:
    """The files of the workflow."""
    try:
        listed = revision.ask_git(root, "ls-files", "-z")
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace")
        raise InputError(f"{root} is not a clone of the repository: {said}") from None
    names = [name for name in listed.stdout.decode().split("\0") if name]
    return [name for name in names if (root / name).is_symlink() or (root / name).exists()]
