"""Documents of JSON as dataclasses: read by the types of their fields, which say what may be there.

`Annotated[float, ("minimum", 0)]` limits a value by a keyword of JSON Schema (minimum, maximum,
pattern, format; properties: the types of some keys of an object, where it has them).
The types are compiled into functions: a hundred times as fast as a general validator, which the
environments of frameworks do not have either. Beyond the types, what no table can hold is refused:
numbers that are infinite, none, or beyond 64 bits, text that is no Unicode, nesting without end.
"""

import math
import re
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from epochcost.errors import InputError, nearest

_LARGEST = 2**63
# The longest text of a record is what a model of characters wrote: 400 of them.
_LONGEST = 4_000
# Recipes and settings may hold anything, and nobody nests them deeper.
_DEEPEST = 20
# What an instant looks like, RFC 3339: with its distance from UTC.
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
# What JSON calls a type, what its values are in Python, and what people call them.
_KINDS = {
    tuple: ("array", (list,), "a list"),
    bool: ("boolean", (bool,), "true or false"),
    int: ("integer", (int,), "a whole number"),
    float: ("number", (int, float), "a number"),
    dict: ("object", (dict,), "an object"),
    str: ("string", (str,), "text"),
}

# Makes of a value what a field holds; raises a _RefusedError.
Reader = Callable[[Any], Any]


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


def read(kind: type, content: Any) -> Any:
    """A dataclass from a document of JSON.

    Raises:
        InputError: the document is none of its kind; it says in a few words what is wrong.
    """
    try:
        return _reader(kind)(content)
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


def json_schema(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a type."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        schema = json_schema(_but_none(inner))
        if "enum" in schema:
            return schema | {"enum": [*schema["enum"], None]}
        return schema | {"type": [schema["type"], "null"]}
    if origin is Annotated:
        keywords = dict(kind.__metadata__)
        if parts := keywords.get("properties"):
            keywords["properties"] = {name: json_schema(part) for name, part in parts}
        return json_schema(inner[0]) | keywords
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is tuple:
        return {"type": "array", "items": json_schema(inner[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": json_schema(inner[1])}
    if is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        return {
            "description": " ".join(kind.__doc__.split()),
            "type": "object",
            "properties": {_key(name): json_schema(hint) for name, hint in hints.items()},
            "required": _required(kind),
            "additionalProperties": False,
        }
    return {} if kind is Any else {"type": _KINDS[kind][0]}


@cache
def _reader(kind: Any, ending: str = "") -> Reader:
    """What reads a type.

    Args:
        ending: what else a value may be, in words.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        some = _reader(_but_none(inner), " or empty")
        return lambda value: None if value is None else some(value)
    if origin is Annotated:
        return _limited(_reader(inner[0], ending), kind.__metadata__)
    if origin is Literal:
        return _one_of(inner)
    if origin is tuple:
        return _list_of(_reader(inner[0]), _of_kind(tuple, ending))
    if origin is dict:
        return _values_of(_reader(inner[1]), _of_kind(dict, ending))
    if is_dataclass(kind):
        return _object_of(kind, _of_kind(dict, ending))
    return _free if kind is Any else _of_kind(kind, ending)


def _but_none(kinds: tuple[Any, ...]) -> Any:
    (some,) = [kind for kind in kinds if kind is not NoneType]
    return some


def _of_kind(kind: type, ending: str) -> Reader:
    # The exact types, as to Python true is a whole number.
    _, types, said = _KINDS[kind]

    def of_kind(value: Any) -> Any:
        if type(value) not in types:
            given = "it is empty, and" if value is None else f"{_short(value)} is"
            raise _RefusedError(f"{given} not {said}{ending}")
        return _storable(value)

    return of_kind


def _limited(read: Reader, limits: tuple[tuple[str, Any], ...]) -> Reader:
    """What reads a value that the keywords of JSON Schema limit."""

    def limited(value: Any) -> Any:
        found = read(value)
        for keyword, limit in limits:
            _check(found, keyword, limit)
        return found

    return limited


def _check(value: Any, keyword: str, limit: Any) -> None:
    match keyword:
        case "minimum" if value < limit:
            raise _RefusedError(f"{value} is below {limit}")
        case "maximum" if value > limit:
            raise _RefusedError(f"{value} is above {limit}")
        # `$` of a pattern also matches before a last line break.
        case "pattern" if not re.search(limit, value) or value.endswith("\n"):
            raise _RefusedError(f"{_short(value)} is not of the form {limit}")
        case "format":
            try:
                instant(value)
            except InputError as error:
                raise _RefusedError(str(error)) from None
        case "properties":
            for key, kind in limit:
                if key in value:
                    _at(key, _reader(kind), value[key])


def _one_of(values: tuple[Any, ...]) -> Reader:
    # 1, 1.0 and true are equal to Python, and only one of them is what the type says.
    allowed = [(type(value), value) for value in values]

    def one_of(value: Any) -> Any:
        if (type(value), value) not in allowed:
            hint = nearest(str(value)[:40], map(str, values))
            raise _RefusedError(f"{_short(value)} is not allowed; {hint}")
        return value

    return one_of


def _list_of(read: Reader, is_list: Reader) -> Reader:
    def list_of(value: Any) -> tuple[Any, ...]:
        return tuple(_at(number, read, item) for number, item in enumerate(is_list(value)))

    return list_of


def _values_of(read: Reader, is_object: Reader) -> Reader:
    def values_of(value: Any) -> dict[str, Any]:
        return {_storable(key): _at(key, read, part) for key, part in is_object(value).items()}

    return values_of


def _object_of(kind: type, is_object: Reader) -> Reader:
    hints, required = get_type_hints(kind, include_extras=True), _required(kind)
    known = {_key(name): (name, _reader(hint)) for name, hint in hints.items()}

    def object_of(value: Any) -> Any:
        parts = {}
        is_object(value)
        for key in required:
            if key not in value:
                raise _RefusedError(key, lacks=True)
        try:
            for key, part in value.items():
                name, read = known[key]
                parts[name] = read(part)
        except KeyError:
            _storable(key)
            raise _RefusedError(f"unknown key {_short(key)}; {nearest(key[:40], known)}") from None
        except _RefusedError as error:
            error.keys.append(key)
            raise
        return kind(**parts)

    return object_of


def _at(key: Any, read: Reader, value: Any) -> Any:
    try:
        return read(value)
    except _RefusedError as error:
        error.keys.append(str(key))
        raise


def _key(name: str) -> str:
    """The key in JSON of a field, whose name may be one that Python keeps to itself."""
    return name.rstrip("_")


def _required(kind: type) -> list[str]:
    return [_key(field.name) for field in fields(kind) if field.default is MISSING]


def _free(value: Any, depth: int = 0) -> Any:
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
    return value


def _storable(value: Any) -> Any:
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
    return value


def _word(key: str) -> str:
    """A key as a message shows it."""
    return key if key.isprintable() and len(key) <= 40 else repr(key[:40])


def _short(value: Any) -> str:
    """A value as a message shows it: on one line, and not for pages."""
    if isinstance(value, list | dict):
        return _KINDS[tuple if isinstance(value, list) else dict][2]
    said = repr(value)
    return said if len(said) <= 60 else f"{said[:57]}..."
