"""Records that the analysis leaves out, each with the reason."""

import sys
from pathlib import Path

import pandas as pd

COLUMNS = ["path", "reason"]
# More lines than these on a screen hide the others.
_MOST_SAID = 10


def table(aside: dict[Path, str]) -> pd.DataFrame:
    """set_aside.csv: a row per file below results/runs that gives no row in other tables."""
    found = []
    for path in sorted(aside):
        reason = aside[path].removeprefix(str(path)).lstrip(": ")
        found.append([_printable(str(path)), _printable(reason)])
    return pd.DataFrame(found, columns=COLUMNS)


def say(aside: dict[Path, str]) -> None:
    """Name them on stderr, a line each."""
    for path in sorted(aside)[:_MOST_SAID]:
        print(f"epochcost: set aside: {_printable(aside[path])}", file=sys.stderr)
    if len(aside) > _MOST_SAID:
        print(f"epochcost: set aside: {len(aside) - _MOST_SAID} more", file=sys.stderr)


def _printable(text: str) -> str:
    """Text without what a name of a file may hold and a table or a screen may not."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)
