"""The records that ship with the project, for tests that need each as a file of its own."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from epochcost import ROOT
from epochcost.record import shipped
from epochcost.record.names import path_of
from epochcost.record.types import Record, encoded

MEASURED = ROOT / shipped.MEASURED
# The machine whose runs ran beside each other.
CROWDED = "994b11535c0b"


@cache
def read() -> list[Record]:
    """All of them, the oldest first."""
    aside: dict[Path, str] = {}
    found = [one for _, one in shipped.read_all(MEASURED, aside)]
    assert aside == {}
    return sorted(found, key=lambda one: one.run.started_at)


@cache
def folder() -> Path:
    """A folder like results/runs with all of them; to read only."""
    root = Path(tempfile.mkdtemp(prefix="measured-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    for one in read():
        path = path_of(one, root)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded(one))
    return root
