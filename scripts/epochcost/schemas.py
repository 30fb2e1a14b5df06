"""Checks what is read against the JSON Schemas of config/schemas/."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from epochcost import ROOT, files
from epochcost.errors import InputError, nearest, short

FOLDER = ROOT / "config/schemas"


def read(name: str, root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """One of the lists of config/, such as `hardware`, checked.

    Args:
        root: the folder that holds config/.
    """
    content = files.read_yaml(root / f"config/{name}.yaml")
    check(content, root / f"config/schemas/{name}.schema.json", f"config/{name}.yaml")
    return content


def check(content: Any, schema_path: Path, where: str, whole: bool = True) -> None:
    """Raise an InputError that says in one line what the schema does not allow.

    Args:
        where: what the content is, for the message.
        whole: False for some of its keys, of which each is checked by itself.
    """
    found = list(_validator(schema_path, whole).iter_errors(content))
    # A misspelt key is missing under its right name too; the misspelling says more.
    unknown = [error for error in found if error.validator == "additionalProperties"]
    # Of an unknown optimizer, its name comes before the keys that another one has.
    named = [one for one in found if one.validator == "enum" and list(one.path)[-1:] == ["name"]]
    first = [*named, *unknown]
    error = first[0] if first else jsonschema.exceptions.best_match(found)
    if error is not None:
        path = ": ".join([where, *(short(str(part)) for part in error.absolute_path)])
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


def _matches(
    validator: Any, pattern: str, instance: Any, schema: Any
) -> Iterator[jsonschema.ValidationError]:
    """`pattern` as JSON Schema has it: to Python `$` is also before a line's end."""
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


_Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": _matches})


@cache
def _validator(schema_path: Path, whole: bool) -> jsonschema.Draft202012Validator:
    schema = files.read_json(schema_path)
    return _Validator(
        schema if whole else {"properties": schema["properties"]},
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
            return f"unknown key '{short(unknown)}'; {nearest(unknown, known)}"
        case "required":
            missing = next(key for key in limit if key not in value)
            return f"the key '{missing}' is missing"
        case "enum":
            return f"'{short(value)}' is not allowed; {nearest(str(value), limit)}"
        case "type":
            wanted = " or ".join(_KINDS[kind] for kind in _listed(limit))
            given = "it is empty, and" if value is None else f"{_shown(value)} is"
            return f"{given} not {wanted}"
        case "dependentRequired":
            key, others = next(
                (key, [other for other in others if other not in value])
                for key, others in limit.items()
                if key in value and not set(others) <= set(value)
            )
            return f"{key} also needs {', '.join(others)}"
        case "minimum":
            return f"{short(value)} is below {limit}"
        case "maximum":
            return f"{short(value)} is above {limit}"
        case "exclusiveMinimum":
            return f"{short(value)} is not above {limit}"
        case "minItems" | "minLength" | "minProperties":
            return "it is empty"
        case "pattern":
            words = error.schema.get("$comment", f"of the form {limit}")  # said in the schema
            return f"{_shown(value)} is not {words}"
        case "maxLength":
            return f"{_shown(value)} is longer than {limit} characters"
        case "uniqueItems":
            return f"{short(', '.join(map(str, value)))}: one of them is listed twice"
        case "format":
            return f"{_shown(value)} is not a {limit}"
    return error.message


def _shown(value: Any) -> str:
    """A value as Python writes it, so that text is told from a number."""
    return short(repr(value))
