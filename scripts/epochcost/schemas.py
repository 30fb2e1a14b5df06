"""Checks what is read against the JSON Schemas of config/schemas/."""

from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from epochcost import files
from epochcost.errors import InputError, nearest

FOLDER = Path(__file__).resolve().parents[2] / "config/schemas"


def check(content: Any, schema_path: Path, where: str) -> None:
    """Raise an InputError that says in one line what the schema does not allow.

    Args:
        where: what the content is, for the message.
    """
    found = list(_validator(schema_path).iter_errors(content))
    # A misspelt key is missing under its right name too; the misspelling says more.
    unknown = [error for error in found if error.validator == "additionalProperties"]
    error = unknown[0] if unknown else jsonschema.exceptions.best_match(found)
    if error is not None:
        path = ": ".join([where, *(str(part) for part in error.absolute_path)])
        raise InputError(f"{path}: {_explain(error)}")


_KINDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "empty",
    "number": "a number",
    "object": "a mapping (key: value)",
    "string": "text",
}


@cache
def _validator(schema_path: Path) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(
        files.read_json(schema_path),
        format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
    )


def _listed(kinds: str | list[str]) -> list[str]:
    return [kinds] if isinstance(kinds, str) else kinds


def _explain(error: jsonschema.ValidationError) -> str:
    """A schema error in the terms of somebody who edits the file."""
    value, limit = error.instance, error.validator_value
    match error.validator:
        case "additionalProperties":
            known = error.schema["properties"]
            unknown = next(key for key in value if key not in known)
            return f"unknown key '{unknown}'; {nearest(unknown, known)}"
        case "required":
            missing = next(key for key in limit if key not in value)
            return f"the key '{missing}' is missing"
        case "enum":
            return f"'{value}' is not allowed; {nearest(str(value), limit)}"
        case "type":
            wanted = " or ".join(_KINDS[kind] for kind in _listed(limit))
            given = "it is empty, and" if value is None else f"{value!r} is"
            return f"{given} not {wanted}"
        case "dependentRequired":
            key, others = next(
                (key, [other for other in others if other not in value])
                for key, others in limit.items()
                if key in value and not set(others) <= set(value)
            )
            return f"{key} also needs {', '.join(others)}"
        case "minimum":
            return f"{value} is below {limit}"
        case "maximum":
            return f"{value} is above {limit}"
        case "exclusiveMinimum":
            return f"{value} is not above {limit}"
        case "minItems" | "minLength" | "minProperties":
            return "it is empty"
        case "pattern":
            return f"{value!r} is not of the form {limit}"
        case "uniqueItems":
            return f"{', '.join(map(str, value))}: one of them is listed twice"
        case "format":
            return f"{value!r} is not a {limit}"
    return error.message
