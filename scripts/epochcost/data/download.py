"""Fetching the files of an archive; each is verified before it gets its final name."""

import http.client
import shutil
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pooch
import requests
from tqdm import tqdm

from epochcost import files
from epochcost.data.registry import Archive, File, archive_in_mirror, archives
from epochcost.errors import InputError

RETRIES = 3
TIMEOUT_SECONDS = 60
# Less than this in the time above is no progress.
_LEAST_BYTES = 64 * 1024
_PIECE = 256 * 1024


def fetch(
    name: str, kind: str, source: str, registry: dict[str, Any], raw: Path, mirror: Path | None
) -> dict[str, Any]:
    """Fetch the files of data set `name` into `raw/name` and describe them.

    A file that is already there with the right checksum is kept; if all are, no source is needed.
    One with a wrong checksum is set aside under another name and fetched again.

    Returns:
        The description that `raw/name/kind.json` holds: data set, kind, source, and the name,
        sha256 and size of each file.

    Raises:
        InputError: a file is not available, is not what it must be, or would be outside of the
            folder.
    """
    folder = files.below(raw, name)
    archive = _archive_there(name, kind, registry, folder)
    if archive is None:
        archive = _archive(name, kind, source, registry, mirror)
        for file in archive.files:
            _fetch_file(file, folder, source, mirror / name if mirror else None)
    description = {
        "dataset": name,
        "kind": kind,
        "source": source,
        "files": [_description(file, folder) for file in archive.files],
    }
    files.write_json(folder / f"{kind}.json", description)
    return description


def _description(file: File, folder: Path) -> dict[str, Any]:
    whole = file.sha256 if len(file.sha256) == 64 else files.sha256(folder / file.name)
    return {"name": file.name, "sha256": whole, "bytes": file.bytes}


def verified(path: Path, sha256: str) -> Path:
    """`path`, if it has the checksum; otherwise it is set aside and an InputError names it."""
    actual = files.sha256(path)
    if actual != sha256:
        aside = set_aside(path)
        raise InputError(
            f"{path} is damaged (sha256 {actual[:12]}..., expected {sha256[:12]}...); "
            f"kept as {aside.name}, not used; run again to fetch it anew"
        )
    return path


def set_aside(path: Path) -> Path:
    """Rename a file that must not be used; nothing is deleted or overwritten."""
    return path.rename(_free_name(path))


def _free_name(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return aside


def _archive_there(name: str, kind: str, registry: dict[str, Any], folder: Path) -> Archive | None:
    """The archive whose files are all in the folder, undamaged."""
    for archive in archives(name, registry):
        paths = [(files.below(folder, file.name), file.sha256) for file in archive.files]
        there = archive.kind == kind and all(path.is_file() for path, _ in paths)
        if there and all(files.has_sha256(*one) for one in paths):
            return archive
    return None


def _archive(
    name: str, kind: str, source: str, registry: dict[str, Any], mirror: Path | None
) -> Archive:
    choices = [a for a in archives(name, registry) if a.kind == kind]
    if source == "mirror":
        if mirror is None:
            raise InputError("no mirror folder is set (data.mirror, or EPOCHCOST_MIRROR)")
        archive = archive_in_mirror(choices, mirror)
        if archive is None:
            raise InputError(f"the mirror {mirror} does not hold {name} ({kind})")
        return archive
    archive = next((a for a in choices if a.downloadable), None)
    if archive is None:
        raise InputError(f"{name} ({kind}) is on no canonical server; a mirror may hold it")
    return archive


def _fetch_file(file: File, folder: Path, source: str, mirror: Path | None) -> None:
    target = files.below(folder, file.name)
    if target.is_file() and not files.has_sha256(target, file.sha256):
        aside = set_aside(target)
        print(f"{target} is damaged; kept as {aside.name}, fetching it anew")
    if source == "mirror":
        _copy(mirror / file.name, target, file)
    else:
        _download(file, target)


def _copy(original: Path, target: Path, file: File) -> None:
    if target.is_file():
        return
    with files.atomic(target) as temporary:
        shutil.copyfile(original, temporary)
        if not files.has_sha256(temporary, file.sha256):
            size = temporary.stat().st_size
            raise InputError(
                f"{original} is damaged, or another edition ({size} bytes, {file.bytes} expected, "
                "another sha256); left where it is, not used"
            )


def _download(file: File, target: Path) -> None:
    """Download with pooch: retries, checksum, atomic rename."""
    pooch.get_logger().setLevel("ERROR")
    fetcher = pooch.create(
        path=target.parent,
        base_url="",
        # The downloader checks; for some files only the start of the checksum is published.
        registry={target.name: f"sha256:{file.sha256}" if len(file.sha256) == 64 else None},
        urls={target.name: file.url},
        retry_if_failed=RETRIES,
    )
    aside = _free_name(target)
    try:
        fetcher.fetch(target.name, downloader=_Bounded(file, aside))
    except ValueError:
        raise InputError(f"{file.url} gave a damaged file; kept as {aside}, not used") from None
    except OSError as error:
        if error.errno:
            raise
        raise InputError(f"cannot download {file.url}: {error}") from None


class _Bounded:
    """A downloader for pooch that ends at the known size, and where a server all but stops.

    It keeps a copy of a file with a wrong checksum (pooch deletes it).
    """

    def __init__(self, file: File, aside: Path) -> None:
        self._file = file
        self._aside = aside

    def __call__(self, url: str, output_file: str, fetcher: pooch.Pooch) -> None:
        """Download `url` to the path `output_file`.

        Raises:
            InputError: there is more than the file may have.
            RequestException: the server cannot be reached, or makes no progress.
            ValueError: the checksum is wrong.
        """
        with open(output_file, "wb") as written, _bar(self._file.bytes) as bar:
            for piece in _pieces(url):
                if written.tell() + len(piece) > self._file.bytes:
                    raise InputError(
                        f"{url} gave more than the {self._file.bytes} bytes of "
                        f"{self._file.name}; nothing of it was kept"
                    )
                written.write(piece)
                bar.update(len(piece))
        if not files.has_sha256(Path(output_file), self._file.sha256):
            shutil.copyfile(output_file, self._aside)
            raise ValueError("wrong checksum")


def _bar(size: int) -> tqdm:
    return tqdm(total=size, unit="B", unit_scale=True, ncols=79, ascii=True)


def _pieces(url: str) -> Iterator[bytes]:
    """What a server sends, piece by piece as it comes."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            since, received = time.monotonic(), 0
            while piece := answer.read1(_PIECE):
                yield piece
                received += len(piece)
                if received >= _LEAST_BYTES:
                    since, received = time.monotonic(), 0
                elif time.monotonic() - since > TIMEOUT_SECONDS:
                    raise TimeoutError(f"it sent {received} bytes in {TIMEOUT_SECONDS} s")
    except (OSError, http.client.HTTPException) as error:
        raise requests.exceptions.ConnectionError(str(error)) from None
