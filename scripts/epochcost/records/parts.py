"""Whether a record has all the parts that its schema requires."""

from functools import cache
from pathlib import Path
from typing import Any

from epochcost import files

# Not from schemas.py, as the environments of frameworks have no validator.
_SCHEMA = Path(__file__).resolve().parents[3] / "config/schemas/record.schema.json"
# Where the schema has none of these, nothing can be missing.
_WITH_PARTS = {"properties", "items", "oneOf"}


def check(record: dict[str, Any]) -> None:
    """Raise a KeyError or TypeError that names what a record lacks, at any depth.

    Checking each value against the schema takes a validator, and a hundred times as long.
    """
    _check(record, _schema())


@cache
def _schema() -> dict[str, Any]:
    return files.read_json(_SCHEMA)


def _check(value: Any, schema: dict[str, Any], name: str = "") -> None:
    kinds = schema.get("oneOf", [schema])
    if value is None:
        if not any(_may_be_null(kind) for kind in kinds):
            raise TypeError(f"{name} is empty")
        return
    schema = next((kind for kind in kinds if "properties" in kind), schema)
    if "properties" in schema:
        if not isinstance(value, dict):
            raise TypeError(f"{name} is no object")
        for key in schema.get("required", []):
            if key not in value:
                raise KeyError(f"{name} {key}".strip())
        for key, inner in schema["properties"].items():
            if key in value and not _WITH_PARTS.isdisjoint(inner):
                _check(value[key], inner, f"{name} {key}".strip())
    elif "items" in schema:
        if not isinstance(value, list):
            raise TypeError(f"{name} is no list")
        if not _WITH_PARTS.isdisjoint(schema["items"]):
            for item in value:
                _check(item, schema["items"], name)


def _may_be_null(schema: dict[str, Any]) -> bool:
    kinds = schema.get("type", "null")  # without a type, anything is allowed
    return "null" in ([kinds] if isinstance(kinds, str) else kinds)
