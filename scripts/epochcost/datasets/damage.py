"""What cannot be read: samples are left out by rule and counted by reason, archives are refused."""

import gzip
import tarfile
import zipfile
import zlib
from collections import Counter

# What reading an archive raises that is not whole.
NOT_WHOLE = (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError)


def decoded(content: bytes, skipped: Counter, encoding: str = "utf-8") -> str | None:
    """The text of a sample, or None where it is damaged, which `skipped` then counts."""
    if b"\0" in content:
        skipped["NUL bytes"] += 1
        return None
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        skipped[f"not {encoding.upper()}"] += 1
        return None
