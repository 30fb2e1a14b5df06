"""Text from records, prices and settings as Markdown: shown as it is, whatever is in it."""

import re
from collections.abc import Iterable

from epochcost.errors import printable

# What Markdown, or the HTML in it, takes for more than text.
_SIGNS = re.compile(r"[\\`*\[\]|]")
_LONGEST = 2_000


def text(value: object) -> str:
    """A value as a line of text that makes no markup."""
    line = printable(str(value), _LONGEST)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SIGNS.sub(r"\\\g<0>", line)


def row(cells: Iterable[object]) -> str:
    """A line of a table."""
    return "| " + " | ".join(text(cell) for cell in cells) + " |"
