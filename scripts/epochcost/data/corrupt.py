"""What cannot be read: samples are left out by rule and counted by reason, archives are refused."""

import gzip
import tarfile
import zipfile
import zlib
from collections import Counter

# What reading an archive raises that is damaged, encrypted, or compressed as Python cannot read it.
NOT_WHOLE = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError),
    *(NotImplementedError, RuntimeError),
)


def decoded(content: bytes, skipped: Counter, encoding: str = "utf-8") -> str | None:
    """The text of a sample; None if it is damaged, which is then counted in `skipped`."""
    if b"\0" in content:
        skipped["NUL bytes"] += 1
        return None
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        skipped[f"not {encoding.upper()}"] += 1
        return None


def read_to_end(tar: tarfile.TarFile) -> None:
    """Raise one of `NOT_WHOLE` if what follows the members that were found is damaged.

    `tarfile` takes a damaged header for the end of the archive. Only the compressed stream has a
    checksum, at its own end.
    """
    while tar.fileobj.read(2**20):
        pass
