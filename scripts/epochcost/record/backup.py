"""A second copy of each record, from which one that something else deleted comes back.

Records are in results/runs, which DVC and others may replace as a whole: `dvc pull --force` deletes
all records that its lock does not know. Their copies are in results/runs-kept, to which files are
only added. A record is deleted by whoever deletes both.
"""

import os
from pathlib import Path

from epochcost import files, lock
from epochcost.errors import InputError
from epochcost.record import place, record


def settle(root: Path) -> dict[Path, Path]:
    """Copy records that have no copy yet, and bring back those of which only the copy is left.

    Args:
        root: results/runs.

    Returns:
        Where records came back, and from which copy.
    """
    if not root.exists() and not place.copies(root).exists():
        return {}
    with alone(root):
        return _settle(root)


def alone(root: Path):
    """Keep other processes from bringing records to `root` from elsewhere meanwhile."""
    return lock.alone(root.with_name(f".{root.name}.lock"))


def gone(root: Path) -> list[Path]:
    """The copies that `settle` would bring records back from."""
    _, copies = _unmatched(root)
    return _missing(root, copies)


def _settle(root: Path) -> dict[Path, Path]:
    new, copies = _unmatched(root)
    for path in new:
        try:
            run = record.read(path).run
        except (InputError, OSError):  # no record, or one that is set aside
            continue
        place.copy(root, run, path)
    back = {}
    for path in _missing(root, copies):
        run = record.read(path).run
        back[place.put(root, run, path.read_bytes())] = path
    return back


def _missing(root: Path, copies: list[Path]) -> list[Path]:
    """Of these copies, those whose run is not among the records, whatever its file is called."""
    if not copies:
        return []
    there = {one.identity for _, one in record.read_all(root)}
    missing = []
    for path in copies:
        try:
            run = record.read(path).identity
        except (InputError, OSError):
            continue
        if run not in there:
            there.add(run)
            missing.append(path)
    return missing


def _unmatched(root: Path) -> tuple[list[Path], list[Path]]:
    """Records without a copy of their content, and copies without such a record."""
    kept = place.copies(root)
    records = {path.relative_to(root): path for path in record.find(root)}
    copies = {path.relative_to(kept): path for path in record.find(kept)}
    for name in records.keys() & copies.keys():
        if _same(records[name], copies[name]):
            del records[name], copies[name]
    # Where a number was taken, a copy has another one.
    contents = {path: _content(path) for path in (*records.values(), *copies.values())}
    ours = {contents[path] for path in records.values()}
    theirs = {contents[path] for path in copies.values()}
    return (
        [path for path in records.values() if contents[path] not in theirs],
        [path for path in copies.values() if contents[path] not in ours],
    )


def _same(path: Path, copy: Path) -> bool:
    """Whether two files have one content; those that were compared before have one date."""
    facts, others = path.stat(), copy.stat()
    if facts.st_size != others.st_size:
        return False
    if facts.st_mtime_ns == others.st_mtime_ns:
        return True
    if _content(path) != _content(copy):
        return False
    os.utime(copy, ns=(others.st_atime_ns, facts.st_mtime_ns))
    return True


def _content(path: Path) -> str:
    """A checksum of a file; of one that cannot be read, its name."""
    try:
        return files.sha256(path) if path.is_file() else str(path)
    except OSError:
        return str(path)
