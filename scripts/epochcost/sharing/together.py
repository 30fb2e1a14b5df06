"""Records of several clones together: git carries them, DVC what the analysis makes of them.

Nothing here trains, and nothing deletes. Records are in files of their own for each machine, so
that git merges those of all clones; dvc.lock is made anew after each merge. Data are pushed before
the commit that names them.
"""

import configparser
import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from epochcost.errors import InputError, one_line, printable, short
from epochcost.measure import machine
from epochcost.record import record, shipped
from epochcost.record.types import Record

_LOCK = "dvc.lock"
_ATTEMPTS = 5
_DVC = str(Path(sys.executable).with_name("dvc"))
# The packages of DVC that reach a store, by the scheme of its URL.
_PLUGINS = {"s3": "dvc_s3", "gs": "dvc_gs", "ssh": "dvc_ssh", "azure": "dvc_azure"}
# `[Errno 28] No space left on device: 'from' -> 'to'`
_OF_THE_SYSTEM = re.compile(r"\[Errno \d+\] ([^:\[]+)")


def check_store(root: Path) -> str:
    """The name of DVC's default remote, '' without one; refuses one that cannot be used.

    It asks no server: that a package or a folder is missing should be known before a training. So
    should be that a training would leave its record in an experiment alone.

    Raises:
        InputError: there is none of that name, its package is not installed, or its folder is gone.
    """
    if ".dvc/tmp/exps" in root.as_posix():
        raise InputError(
            "an experiment of --temp or --queue keeps its records nowhere else; run it without"
        )
    read = configparser.ConfigParser(interpolation=None)
    try:
        read.read([root / ".dvc/config", root / ".dvc/config.local"], encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        raise InputError(f".dvc/config cannot be read: {one_line(error)}") from None
    name = read.get("core", "remote", fallback="").strip()
    if not name:
        return ""
    url = read.get(f"'remote \"{name}\"'", "url", fallback="")
    if not url:
        raise InputError(f"the store '{short(name)}' of .dvc/config has no url")
    scheme, apart, _ = url.partition("://")
    if plugin := _PLUGINS.get(scheme) if apart else None:
        if importlib.util.find_spec(plugin) is None:
            version = importlib.metadata.version("dvc")
            raise InputError(
                f"the store {url} needs a package more: "
                f".venv/bin/uv pip install --python .venv/bin/python 'dvc[{scheme}]=={version}'"
            )
    elif not apart:
        folder = (root / ".dvc" / Path(url).expanduser()).resolve()
        if not folder.is_dir():
            raise InputError(f"the store {folder} is not there; mount it, or make that folder")
        if not os.access(folder, os.W_OK):
            raise InputError(f"the store {folder} cannot be written")
    return name


def share(root: Path, rented: str = "") -> None:
    """Put this clone's records beside those of all others, analyse, and send both.

    Args:
        rented: how this machine was rented, in words.

    Raises:
        InputError: the clone follows no other one, has no store, or something fails; what was
            done so far stays, and the same call goes on from there.
    """
    store = check_store(root)
    if not store:
        raise InputError("no store is named yet: dvc remote add -d store URL")
    _refuse_work_in_progress(root)
    follows = _git(root, "rev-parse", "--abbrev-ref", "@{upstream}", why="no branch is followed")
    _dvc(root, "remote", "modify", store, "verify", "true")  # what changed there is refused
    for _ in range(_ATTEMPTS):
        before = _git(root, "rev-parse", "HEAD")
        _bundle(root, rented, before)
        # Where `dvc repro` has changed the lock, git would not merge over it.
        _commit(root, "Records of this machine", str(shipped.MEASURED), ".dvc/config", _LOCK)
        _git(root, "fetch", "--quiet")
        _merge(root, follows)
        _bundle(root, "", before, follows)  # what git merged by lines, in order
        _dvc(root, "repro", "--single-item", "data")  # where a checkout took them away
        _dvc(root, "commit", "--force", "measure")
        # What others made of the same records is taken; only of others is it made here.
        _run(root, _DVC, "pull", "--force", "--quiet", "analyse")
        _dvc(root, "repro", "--single-item", "analyse")
        _dvc(root, "push")
        _commit(root, "All records, analysed", str(shipped.MEASURED), _LOCK)
        pushed = _run(root, "git", "push", "--quiet")
        if pushed.returncode == 0:
            print(f"shared: {_git(root, 'rev-parse', '--short', 'HEAD')} is on {follows}")
            return
        _git(root, "fetch", "--quiet")
        if _git(root, "rev-list", "--count", f"HEAD..{follows}") == "0":
            _said(pushed, "")  # it was not for others that git refused
        print("somebody else was faster; once more", file=sys.stderr)
    raise InputError(f"others were faster {_ATTEMPTS} times; share again")


def _refuse_work_in_progress(root: Path) -> None:
    """Raise an InputError where git is in the middle of something: it would be lost."""
    for name in ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"):
        if _run(root, "git", "rev-parse", "--quiet", "--verify", name).returncode == 0:
            raise InputError(f"git is in the middle of something ({name}); end it, then share")
    if unmerged := _git(root, "diff", "--name-only", "--diff-filter=U"):
        raise InputError(f"git has unmerged files ({unmerged.splitlines()[0]}); end that first")


def _bundle(root: Path, rented: str, *commits: str) -> None:
    """Write all records that are here to the files that git tracks; none becomes fewer.

    Args:
        commits: whose records are kept, too: a checkout, an experiment or a hand may have taken
            some of them from the files.

    Raises:
        InputError: a file here, or a line of one, cannot be read.
    """
    folder, here = root / shipped.MEASURED, machine.facts().id
    aside: dict[Path, str] = {}
    found = [one for _, one in record.read_all(root / "results/runs")]
    if folder.is_dir():
        found += [one for _, one in shipped.read_all(folder, aside)]
    if aside:
        reason = next(iter(aside.values())).removeprefix(f"{root}/")
        raise InputError(f"{reason}; mend it, or `git checkout` that file, then share")
    for commit in commits:
        found += _records_at(root, commit)
    shipped.write([one for one in found if one.machine.id != here], folder)
    shipped.write([one for one in found if one.machine.id == here], folder, rented)


def _records_at(root: Path, commit: str) -> list[Record]:
    """The records that a commit has in data/measured."""
    names = _git(root, "ls-tree", "--name-only", commit, f"{shipped.MEASURED}/").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            text = _run(root, "git", "show", f"{commit}:{name}").stdout
            (Path(folder) / Path(name).name).write_text(text, encoding="utf-8")
        return [one for _, one in shipped.read_all(Path(folder), {})]


def _commit(root: Path, message: str, *paths: str) -> None:
    """Commit these paths alone, if they changed."""
    there = [path for path in paths if (root / path).exists()]
    _git(root, "add", "--", *there)
    if _run(root, "git", "diff", "--cached", "--quiet", "--", *there).returncode:
        _git(root, "commit", "--quiet", "-m", message, "--", *there)


def _merge(root: Path, other: str) -> None:
    """Merge what others pushed; of two locks theirs is kept, and made anew afterwards.

    Raises:
        InputError: git cannot; its merge is taken back, as there was none before.
    """
    merged = _run(root, "git", "merge", "--quiet", "--no-edit", other)
    if merged.returncode == 0:
        return
    conflicts = _git(root, "diff", "--name-only", "--diff-filter=U").splitlines()
    if conflicts == [_LOCK]:
        _git(root, "checkout", "--quiet", "--theirs", _LOCK)
        _git(root, "add", _LOCK)
        _git(root, "commit", "--quiet", "--no-edit")
        return
    if _run(root, "git", "rev-parse", "--quiet", "--verify", "MERGE_HEAD").returncode == 0:
        _git(root, "merge", "--abort")
    if not conflicts:
        _said(merged, "")
    raise InputError(
        f"git cannot merge {other}: {', '.join(conflicts)}; merge by hand, then share again"
    )


def _git(root: Path, *words: str, why: str = "") -> str:
    return _said(_run(root, "git", *words), why)


def _dvc(root: Path, *words: str) -> str:
    return _said(_run(root, _DVC, *words), "")


def _run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)


def _said(done: subprocess.CompletedProcess[str], why: str) -> str:
    """What a command printed.

    Raises:
        InputError: it failed; its last line says why.
    """
    if done.returncode == 0:
        return done.stdout.strip()
    lines = (done.stderr.strip() or done.stdout.strip() or "no reason").splitlines()
    errors = [line for line in lines if line.startswith(("ERROR", "fatal", "error"))]
    # DVC says of each file what the system said, and last only how many files there are.
    reason = why or next((said[1] for line in errors if (said := _OF_THE_SYSTEM.search(line))), "")
    command = " ".join([Path(done.args[0]).name, *done.args[1:3]])
    said = f"{reason}: " if reason else ""
    last = (errors or lines)[-1].removeprefix("ERROR: ")
    raise InputError(printable(f"{command} failed: {said}{last}"))
