"""Files that appear or change while a command runs."""

import os
from pathlib import Path

_NOT = {".git", "__pycache__", ".snakemake", "node_modules"}
# A folder with more of them is not searched to its end.
_MOST_LOOKED_AT, _MOST_NAMED = 200_000, 200


def now(marker: Path) -> int:
    """The time that a file system gives to what changes now, in nanoseconds."""
    marker.touch()
    return marker.stat().st_ctime_ns


def since(folder: Path, then: int) -> tuple[str, ...]:
    """Files below a folder that appeared or changed after a time (`now`), relative to it."""
    found, looked_at = [], 0
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT]
        looked_at += len(names)
        for name in names:
            path = os.path.join(place, name)
            try:
                changed = os.lstat(path).st_ctime_ns > then
            except OSError:
                continue
            if changed:
                found.append(os.path.relpath(path, folder))
        if looked_at > _MOST_LOOKED_AT or len(found) >= _MOST_NAMED:
            break
    return tuple(sorted(found)[:_MOST_NAMED])
