"""The results of a machine as a small table: for a terminal, or to paste."""

import textwrap

import pandas as pd

from epochcost import files, markdown
from epochcost.errors import printable
from epochcost.show.wording import amounts, names, remarks

FORMATS = ("text", "markdown", "latex", "csv")
# Columns, and whether their values are numbers.
COLUMNS = {
    "workload": False,
    "framework": False,
    "time": True,
    "interval": True,
    "vs K80": True,
    "cost": True,
    "cost vs K80": True,
    "remarks": False,
}
WIDTH = 100
_METRICS = ("time_s", "time_low", "time_high", "time_relative", "cost_usd", "cost_relative")
# How wide remarks are in a terminal, at least.
_LEAST_REMARKS = 12


def rows_of(own: pd.DataFrame, machine_id: str) -> pd.DataFrame:
    """The rows to show as text, with `COLUMNS`: the fastest of each workload first.

    Args:
        own: rows of relative.csv (`answer.own_rows`).
        machine_id: the machine whose results are shown.
    """
    here = own[own.machine_id.fillna("").eq(machine_id)]
    here = here.sort_values(["workload", "time_s"], kind="stable")
    said = [_cells(row) for row in here.assign(apart=names.tell_apart(here)).itertuples()]
    return pd.DataFrame(said, columns=list(COLUMNS))


def metrics(own: pd.DataFrame, machine_id: str) -> dict[str, dict[str, dict[str, float | None]]]:
    """What a machine took, as numbers by workload and framework, for `dvc metrics`.

    In seconds, dollars, and as multiples of the K80; None where something is not known.

    Args:
        own: rows of relative.csv, as of `rows_of`; of several alike, that of the newest run counts.
    """
    found: dict[str, dict[str, dict[str, float | None]]] = {}
    here = own[own.machine_id.fillna("").eq(machine_id)]
    for row in here.sort_values("last_start", ascending=False, kind="stable").itertuples():
        software = row.framework if row.variant == "default" else f"{row.framework}-{row.variant}"
        values = {key: getattr(row, key) for key in _METRICS}
        known = {key: None if pd.isna(value) else value for key, value in values.items()}
        found.setdefault(row.workload, {}).setdefault(software, known)
    return found


def _cells(row) -> list[str]:
    notes = [note for note in (row.apart, *remarks.of_row(row)) if note]
    low, high = remarks.interval_of(row)
    cells = [
        row.workload,
        names.framework(row.framework, row.variant),
        amounts.seconds(row.time_s),
        amounts.around(row.time_s, low, high),
        "" if pd.isna(row.time_relative) else amounts.ratio(row.time_relative),
        "" if pd.isna(row.cost_usd) else amounts.dollars(row.cost_usd),
        "" if pd.isna(row.cost_relative) else amounts.ratio(row.cost_relative),
        ", ".join(notes),
    ]
    return [printable(cell) for cell in cells]


def written(table: pd.DataFrame, form: str) -> str:
    """The table in one of `FORMATS`; columns without a value are left out of all but csv."""
    if form == "csv":
        return table.map(files.harmless).to_csv(index=False)
    table = table.loc[:, [name for name in table if table[name].ne("").any()]]
    if table.empty:
        return "Nothing was measured on this machine yet.\n"
    if form == "markdown":
        marks = ["---:" if COLUMNS[name] else "---" for name in table]
        lines = [markdown.row(table.columns), "|" + "|".join(marks) + "|"]
        return "\n".join([*lines, *(markdown.row(row) for row in table.to_numpy())]) + "\n"
    if form == "latex":
        align = "".join("r" if COLUMNS[name] else "l" for name in table)
        styled = table.style.hide(axis="index").format(escape="latex")
        return styled.to_latex(column_format=align, hrules=True)
    return _text(table)


def _text(table: pd.DataFrame) -> str:
    """The table in at most `WIDTH` columns."""
    widths = {name: max(len(name), int(table[name].str.len().max())) for name in table}
    if "remarks" in widths:
        others = sum(width + 2 for name, width in widths.items() if name != "remarks")
        widths["remarks"] = max(_LEAST_REMARKS, WIDTH - others)
    rows = [dict(zip(table.columns, table.columns, strict=True)), *table.to_dict("records")]
    return "\n".join(line for row in rows for line in _lines(row, widths)) + "\n"


def _lines(cells: dict[str, str], widths: dict[str, int]) -> list[str]:
    """A row as lines: remarks go on below, as none may be lost."""
    first, *more = textwrap.wrap(cells.get("remarks", ""), widths.get("remarks", 1)) or [""]
    said = [
        cell.rjust(widths[name]) if COLUMNS[name] else cell.ljust(widths[name])
        for name, cell in (cells | {"remarks": first}).items()
        if name in widths
    ]
    line = "  ".join(said)
    left = len(line) - widths.get("remarks", 0)
    return [line.rstrip(), *(" " * left + one for one in more)]
