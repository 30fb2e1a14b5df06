"""Measure a bare host that is reached by ssh, and bring its records home.

In: the files of this folder that git tracks, as they are. Out: records in results/runs, as if they
had been copied and merged. The host needs Linux, Python 3.11 or newer with venv, make and tar, and
nothing is installed outside the folder `epochcost` of its user. If the connection breaks, the same
command resumes.
"""

import argparse
import shlex
import subprocess
import tempfile
import time
from collections.abc import Collection
from pathlib import Path

from epochcost import configuration, errors
from epochcost.errors import InputError, nearest
from epochcost.measure import revision
from epochcost.record import merge
from epochcost.show.wording import amounts

ROOT = Path(__file__).resolve().parents[1]
SSH_FAILED = 255


def main() -> int:
    parser = errors.Parser(
        description=__doc__.splitlines()[0],
        allow_abbrev=False,
        epilog="More words are for Snakemake on the host: "
        "remote.py me@host gce-t4 --config scale=full workloads=mnist_cnn",
    )
    parser.add_argument("host", help="as ssh knows it: a name of ~/.ssh/config, or user@address")
    parser.add_argument("hardware", help="what the host is: an id of config/hardware.yaml")
    parser.add_argument("--folder", default="epochcost", help="the folder on the host")
    parser.add_argument("--python", default="python3", help="the host's Python, 3.11 or newer")
    parser.add_argument("--mirror", type=Path, help="send this mirror of the data sets, too")
    parser.add_argument("--ssh", default="ssh", help="the ssh command with options of its own")
    parser.add_argument("--records", type=Path, default=Path("results/runs"))
    arguments, words = parser.parse_known_args()
    catalogue = configuration.load().catalogue
    if arguments.hardware not in catalogue:
        raise InputError(
            f"unknown hardware '{arguments.hardware}'; {nearest(arguments.hardware, catalogue)}"
        )
    if arguments.host.startswith("-"):  # which ssh would take for an option
        raise InputError(f"{arguments.host} is no name or address of a host")
    options = _snakemake_options(arguments.hardware, words)
    host = Host(arguments.ssh, arguments.host, arguments.folder)
    return measure(host, arguments, options, catalogue)


def measure(
    host: "Host", arguments: argparse.Namespace, options: list[str], catalogue: Collection[str]
) -> int:
    """Send the workflow, run it, bring home any records; returns 0 when all went well.

    Args:
        catalogue: the ids of hardware.
    """
    if host.is_busy():
        raise InputError(f"{arguments.host} is still at work; run the same again when it has ended")
    begin = time.monotonic()
    try:
        return _measure_there(host, arguments, options, catalogue)
    finally:
        used = amounts.seconds(time.monotonic() - begin)
        print(f"{arguments.host} was in use for {used}, and still runs: end it if it is rented.")


def _measure_there(
    host: "Host", arguments: argparse.Namespace, options: list[str], catalogue: Collection[str]
) -> int:
    """Send, run, fetch and merge; arguments and result are those of `measure`."""
    host.send(ROOT, _tracked(ROOT), host.folder)
    # Git's history, from which records say what measured them, stays here.
    environment = f"{revision.COMMIT}={shlex.quote(revision.to_send(ROOT))} "
    if arguments.mirror:
        host.send(arguments.mirror, ["."], f"{host.folder}/mirror")
        environment += "EPOCHCOST_MIRROR=mirror "
    setup = f"make setup PYTHON={shlex.quote(arguments.python)}"
    if (arguments.records / arguments.hardware).is_dir():
        # Those that are here count there, too; a host that is new knows none of them.
        host.send(arguments.records, [arguments.hardware], f"{host.folder}/incoming")
        setup += " && { .venv/bin/python scripts/merge.py incoming > /dev/null || true; }"
    ran = host.run(f"{setup} && {environment}.venv/bin/snakemake measure {shlex.join(options)}")
    with tempfile.TemporaryDirectory() as folder:
        host.fetch("results/runs", Path(folder))
        merged = merge.merge(Path(folder), arguments.records, catalogue)
    print(*merged.lines(), sep="\n")
    return ran or int(bool(merged.refused))


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


class Host:
    """A machine that is reached by ssh, and a folder on it."""

    def __init__(self, ssh: str, address: str, folder: str) -> None:
        # A connection that broke is noticed even while nothing is said.
        self._ssh = [*shlex.split(ssh), "-o", "ServerAliveInterval=30", address]
        self.folder = folder

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
            raise InputError(f"{self._ssh[-1]} did not take the files")

    def fetch(self, name: str, target: Path) -> None:
        """Copy what is below a folder of the host, if it exists, into `target`."""
        there = shlex.quote(f"{self.folder}/{name}")
        command = f"mkdir -p {there} && tar -C {there} -czf - ."
        packed = subprocess.Popen([*self._ssh, command], stdout=subprocess.PIPE)
        unpacked = subprocess.run(["tar", "-C", target, "-xzf", "-"], stdin=packed.stdout)
        packed.stdout.close()
        packed.wait()
        if self._checked(packed) or unpacked.returncode:
            raise InputError(f"{self._ssh[-1]} did not send its records")

    def _checked(self, done: subprocess.Popen | subprocess.CompletedProcess) -> int:
        if done.returncode == SSH_FAILED:
            raise InputError(f"{self._ssh[-1]} cannot be reached; {shlex.join(self._ssh)} says why")
        return done.returncode


def _tracked(root: Path) -> list[str]:
    """The files of the workflow."""
    try:
        listed = revision.ask_git(root, "ls-files", "-z")
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace")
        raise InputError(f"{root} is not a clone of the repository: {said}") from None
    names = [name for name in listed.stdout.decode().split("\0") if name]
    there = [name for name in names if (root / name).is_symlink() or (root / name).exists()]
    return there


if __name__ == "__main__":
    errors.run(main)
