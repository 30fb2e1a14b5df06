"""CSV files that a person edits, read by the schema of their rows."""

import csv
import math
from pathlib import Path
from typing import Any

from epochcost import files, schemas
from epochcost.errors import InputError, nearest

Row = dict[str, Any]


def read(path: Path, schema_path: Path) -> list[tuple[str, Row]]:
    """The rows with their places; numbers as numbers, empty cells as None.

    Raises:
        InputError: names the file, the line and the column of what the schema does not allow.
    """
    try:
        rows = _read(path, files.read_json(schema_path))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} is not a CSV file in UTF-8: {error}") from None
    if rows:
        schemas.check(rows[0][1], schema_path, rows[0][0])
    # No schema of rows says how columns go together, and all rows have the same: what is left are
    # their values, of which most are there many times.
    seen = set(rows[0][1].items()) if rows else set()
    for where, row in rows:
        if new := dict(row.items() - seen):
            schemas.check(new, schema_path, where, whole=False)
            seen |= new.items()
    return rows


def typed(row: dict[str, str], schema_path: Path) -> Row:
    """A row of text as `read` gives it, unchecked."""
    columns = files.read_json(schema_path)["properties"]
    return {name: _value(text, columns[name].get("type", "")) for name, text in row.items()}


def _read(path: Path, schema: dict[str, Any]) -> list[tuple[str, Row]]:
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        names = list(reader.fieldnames or ())
        _check_columns(path, names, schema)
        kinds = {name: schema["properties"][name].get("type", "") for name in names}
        rows = []
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            if None in row or None in row.values():
                raise InputError(f"{where}: not as many values as columns")
            rows.append((where, {name: _value(text, kinds[name]) for name, text in row.items()}))
    return rows


def _check_columns(path: Path, names: list[str], schema: dict[str, Any]) -> None:
    known = schema["properties"]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{path}, line 1: the column '{name}' is there twice")
        if name not in known:
            raise InputError(f"{path}, line 1: unknown column '{name}'; {nearest(name, known)}")
    for name in schema["required"]:
        if name not in names:
            raise InputError(f"{path}, line 1: the column '{name}' is missing")


def _value(text: str, kind: str | list[str]) -> str | float | None:
    """A cell with the type that the schema wants, or as text where it cannot have that."""
    if not text:
        return None
    if "number" not in kind or "_" in text:  # to Python, 1_5 is 15
        return text
    try:
        value = float(text)
    except ValueError:
        return text
    return value if math.isfinite(value) else text
