"""Samples that cannot be read: left out by rule, and counted by reason."""

from collections import Counter


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
