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

    Those of early versions get names of their own (`record.migrate`).

    Args:
        root: results/runs.

    Returns:
        Where records came back, and from which copy.
    """
    if not root.exists() and not place.copies(root).exists():
        return {}
    with alone(root):
        for folder in (root, place.copies(root)):
            record.migrate(folder)
        return _settle(root)


def alone(root: Path):
    """Keep other processes from bringing records to `root` from elsewhere meanwhile."""
    return lock.alone(root.with_name(f".{root.name}.lock"))


def gone(root: Path) -> list[Path]:
    """The copies that `settle` would bring records back from."""
    _, left = _unmatched(root, notes=False)
    if not left:
        return []
    there = {one.identity for _, one in record.read_all(root)}
    missing = []
    for path in left:
        try:
            run = record.read(path).identity
        except (InputError, OSError):
            continue
        if run not in there:
            there.add(run)
            missing.append(path)
    return missing


def _settle(root: Path) -> dict[Path, Path]:
    new, _ = _unmatched(root)
    for path in new:
        try:
            place.copy(root, record.read(path), path)
        except (InputError, OSError):  # no record, or one that is set aside
            continue
    copies = gone(root)
    return {place.put(root, record.read(copy), copy.read_bytes()): copy for copy in copies}


def _unmatched(root: Path, notes: bool = True) -> tuple[list[Path], list[Path]]:
    """Records without a copy, and copies without a record of their content.

    Args:
        notes: whether to give what was compared one date, so that it need not be compared again.
    """
    kept = place.copies(root)
    records = {path.relative_to(root): path for path in record.find(root)}
    copies = {path.relative_to(kept): path for path in record.find(kept)}
    return (
        [path for name, path in records.items() if name not in copies],
        [copy for name, copy in copies.items() if not _same(records.get(name), copy, notes)],
    )


def _same(path: Path | None, copy: Path, notes: bool) -> bool:
    """Whether two files have one content; those that were compared before have one date."""
    if path is None:
        return False
    try:
        facts, others = path.stat(), copy.stat()
        if facts.st_size != others.st_size:
            return False
        if facts.st_mtime_ns == others.st_mtime_ns:
            return True
        if files.sha256(path) != files.sha256(copy):
            return False
        if notes:
            os.utime(copy, ns=(others.st_atime_ns, facts.st_mtime_ns))
    except OSError:
        return False
    return True
