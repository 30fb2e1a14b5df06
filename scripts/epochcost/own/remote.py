"""Measure an own training on a host that is reached by ssh, and bring its record home."""

import os
import shlex
import subprocess
import time
from collections.abc import Collection
from pathlib import Path

from epochcost.durations import worded
from epochcost.errors import InputError
from epochcost.measure import remote, revision
from epochcost.measure.remote import Host

# More than this is not sent: data are to be on the host, or fetched by the script.
_MOST_BYTES = 500 * 2**20


def measure(
    host: Host,
    words: list[str],
    folder: Path,
    name: str,
    python: str,
    there: bool,
    records: Path,
    catalogue: Collection[str],
) -> int:
    """Send the clone and the folder, measure there, merge the record; returns 0 if all went well.

    Args:
        words: of measure.py, with the command and without what is about the host.
        folder: where the command is run.
        name: what the training is called.
        python: the host's, for epochcost itself.
        there: whether the folder is on the host at the same path, and is not sent.
        records: results/runs.
        catalogue: the ids of hardware.
    """
    begin = time.monotonic()
    remote.send_workflow(host)
    place = f"results/own/{name}"
    if not there:
        host.send(folder, files_of(folder), f"{host.folder}/{place}")
    commit = f"{revision.COMMIT}={shlex.quote(revision.to_send(remote.ROOT))}"
    enter = f"cd {shlex.quote(str(folder) if there else place)}"
    run = f'"$clone"/.venv/bin/python "$clone"/scripts/measure.py {shlex.join(words)}'
    try:
        setup = f"make setup PYTHON={shlex.quote(python)} && clone=$PWD"
        ran = host.run(f"{setup} && {enter} && {commit} {run}")
        return remote.bring_home(host, records, catalogue) or ran
    finally:
        used = worded(time.monotonic() - begin)
        print(f"{host.address} was in use for {used}, and still runs: end it if it is rented.")


def files_of(folder: Path) -> list[str]:
    """The files below a folder that are sent: those that git does not ignore, or all but hidden.

    Raises:
        InputError: they are too many bytes to send.
    """
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    asked = subprocess.run(listed, cwd=folder, capture_output=True)
    if asked.returncode == 0:
        names = [os.fsdecode(name) for name in asked.stdout.split(b"\0") if name]
    else:
        paths = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
        below = (path.relative_to(folder) for path in paths)
        names = [str(path) for path in below if not any(p.startswith(".") for p in path.parts)]
    names = sorted({name for name in names if (folder / name).is_file()})
    size = sum((folder / name).stat().st_size for name in names)
    if size > _MOST_BYTES:
        raise InputError(
            f"{folder} has {size / 2**20:,.0f} MiB, and {_MOST_BYTES / 2**20:,.0f} are sent at "
            "most: leave data out (.gitignore), or copy it yourself and say --there"
        )
    if not names:
        raise InputError(f"{folder} has no files to send")
    return names
