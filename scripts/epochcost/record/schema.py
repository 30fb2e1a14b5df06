"""Whether a record follows its schema, config/schemas/record.schema.json.

The schema is compiled into functions: a hundred times as fast as a general validator, which the
environments of frameworks do not have either. Beyond the schema, what no table can hold is refused:
numbers that are infinite, none, or beyond 64 bits, text that is no Unicode, nesting without end.
"""

import math
import re
from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from epochcost import files
from epochcost.errors import InputError, nearest

SCHEMA = Path(__file__).resolve().parents[3] / "config/schemas/record.schema.json"
_REMARKS = {"$schema", "title", "description"}
_CHECKED = {
    "additionalProperties", "const", "enum", "format", "items", "maximum", "minimum", "oneOf",
    "pattern", "properties", "required", "type",
}  # fmt: skip
_KINDS = {
    "array": ([list], "a list"),
    "boolean": ([bool], "true or false"),
    "integer": ([int], "a whole number"),
    "null": ([type(None)], "empty"),
    "number": ([int, float], "a number"),
    "object": ([dict], "an object"),
    "string": ([str], "text"),
}
_LARGEST = 2**63
# The longest text of a record is what a model of characters wrote: 400 of them.
_LONGEST = 4_000
# Recipes and settings may hold anything, and nobody nests them deeper.
_DEEPEST = 20
# What an instant looks like, RFC 3339: with its distance from UTC.
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)

# Raises a _RefusedError for a value.
Check = Callable[[Any], None]


class _RefusedError(Exception):
    """What is wrong with a value, and the keys that lead to it, the innermost first."""

    def __init__(self, said: str, lacks: bool = False) -> None:
        super().__init__(said)
        self.said, self.lacks = said, lacks
        self.keys: list[str] = []

    def __str__(self) -> str:
        keys = [_word(key) for key in reversed(self.keys)]
        if self.lacks:
            return f"no {' '.join([*keys, self.said])}"
        return ": ".join([*keys, self.said])


def check(record: Any) -> None:
    """Raise an InputError that says in a few words what the schema does not allow."""
    try:
        _whole()(record)
    except _RefusedError as error:
        raise InputError(str(error)) from None


def instant(text: Any) -> datetime:
    """A date and time of RFC 3339.

    Raises:
        InputError: it is something else, or does not say how far it is from UTC.
    """
    try:
        if isinstance(text, str) and _INSTANT.fullmatch(text):
            return datetime.fromisoformat(text.upper())
    except ValueError:  # the 31st of February
        pass
    raise InputError(f"{_short(text)} is no date and time with its distance from UTC")


@cache
def _whole() -> Check:
    return _compiled(files.read_json(SCHEMA))


def _compiled(schema: dict[str, Any]) -> Check:
    """The check of a schema or a part of one.

    Raises:
        ValueError: it has a keyword that is not checked here.
    """
    if unknown := set(schema) - _CHECKED - _REMARKS:
        raise ValueError(f"{SCHEMA}: {', '.join(sorted(unknown))} is not checked")
    if "oneOf" in schema:
        # Empty or something else, which is all that records need of `oneOf`.
        (other,) = [kind for kind in schema["oneOf"] if kind != {"type": "null"}]
        return _unless_empty(_compiled(other))
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    checks = [_of_kind(kinds)] if kinds else []
    if values := schema.get("enum", [schema["const"]] if "const" in schema else None):
        checks.append(_one_of(values))
    if {"minimum", "maximum"} & set(schema):
        checks.append(_within(schema.get("minimum", -math.inf), schema.get("maximum", math.inf)))
    if "pattern" in schema:
        checks.append(_like(schema["pattern"]))
    if "format" in schema:
        checks.append(_instant)
    if "items" in schema:
        checks.append(_list_of(_compiled(schema["items"])))
    elif "object" in kinds:
        checks.append(_object_of(schema))
    elif not checks:
        checks.append(_free)
    first, *others = checks
    if not others:
        return first

    def check(value: Any) -> None:
        first(value)
        if value is not None:  # what else is asked holds for a value that is there
            for one in others:
                one(value)

    return check


def _unless_empty(check: Check) -> Check:
    def unless_empty(value: Any) -> None:
        if value is not None:
            check(value)

    return unless_empty


def _of_kind(kinds: list[str]) -> Check:
    said = " or ".join(_KINDS[kind][1] for kind in kinds)
    # The exact types, as to Python true is a whole number.
    types = {of for kind in kinds for of in _KINDS[kind][0]}

    def of_kind(value: Any) -> None:
        if type(value) not in types:
            given = "it is empty, and" if value is None else f"{_short(value)} is"
            raise _RefusedError(f"{given} not {said}")
        _storable(value)

    return of_kind


def _one_of(values: list[Any]) -> Check:
    # 1, 1.0 and true are equal to Python, and only one of them is what the schema says.
    allowed = [(type(value), value) for value in values]

    def one_of(value: Any) -> None:
        if (type(value), value) not in allowed:
            hint = nearest(str(value)[:40], map(str, values))
            raise _RefusedError(f"{_short(value)} is not allowed; {hint}")

    return one_of


def _within(least: float, most: float) -> Check:
    def within(value: Any) -> None:
        if value < least:
            raise _RefusedError(f"{value} is below {least}")
        if value > most:
            raise _RefusedError(f"{value} is above {most}")

    return within


def _like(pattern: str) -> Check:
    form = re.compile(pattern)

    def like(value: Any) -> None:
        # `$` of a pattern also matches before a last line break.
        if not form.search(value) or value.endswith("\n"):
            raise _RefusedError(f"{_short(value)} is not of the form {pattern}")

    return like


def _instant(value: Any) -> None:
    try:
        instant(value)
    except InputError as error:
        raise _RefusedError(str(error)) from None


def _list_of(check: Check) -> Check:
    def list_of(value: Any) -> None:
        for number, item in enumerate(value):
            try:
                check(item)
            except _RefusedError as error:
                error.keys.append(str(number))
                raise

    return list_of


def _object_of(schema: dict[str, Any]) -> Check:
    known = {key: _compiled(part) for key, part in schema.get("properties", {}).items()}
    required = schema.get("required", [])
    more = schema.get("additionalProperties", True)
    other = _free if more is True else more and _compiled(more)

    def object_of(value: Any) -> None:
        for key in required:
            if key not in value:
                raise _RefusedError(key, lacks=True)
        for key, part in value.items():
            if (check := known.get(key)) is None:
                _storable(key)
                if not other:
                    raise _RefusedError(f"unknown key {_short(key)}; {nearest(key[:40], known)}")
                check = other
            try:
                check(part)
            except _RefusedError as error:
                error.keys.append(key)
                raise

    return object_of


def _free(value: Any, depth: int = 0) -> None:
    """What may be anything, such as a recipe's hyper-parameters."""
    if depth > _DEEPEST:
        raise _RefusedError("it is nested too deeply")
    _storable(value)
    if isinstance(value, dict):
        for key, part in value.items():
            _storable(key)
            _free(part, depth + 1)
    elif isinstance(value, list):
        for part in value:
            _free(part, depth + 1)


def _storable(value: Any) -> None:
    """Refuse what a file of text or a table cannot hold."""
    kind = type(value)
    if kind is float:
        if not math.isfinite(value):
            raise _RefusedError(f"{value} is not a finite number")
    elif kind is int:
        if not -_LARGEST <= value < _LARGEST:
            raise _RefusedError("it is a whole number of more than 64 bits")
    elif kind is str and len(value) > _LONGEST:
        raise _RefusedError(f"it is text of {len(value):,} characters")
    elif kind is str and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _RefusedError(f"{_short(value)} is no Unicode text") from None


def _word(key: str) -> str:
    """A key as a message shows it."""
    return key if key.isprintable() and len(key) <= 40 else repr(key[:40])


def _short(value: Any) -> str:
    """A value as a message shows it: on one line, and not for pages."""
    if isinstance(value, list | dict):
        return _KINDS["array" if isinstance(value, list) else "object"][1]
    said = repr(value)
    return said if len(said) <= 60 else f"{said[:57]}..."
