"""Files that are either whole or not there."""

import hashlib
import json
import os
import re
import tempfile
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import yaml

from epochcost.errors import InputError, short

# Whatever a spreadsheet evaluates; a negative number is none.
_FORMULA = re.compile(r"[=+@\t\r]|-(?!\d+(\.\d+)?\Z)")


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its name only if the block succeeds.

    Readers see the old file or the new one, never a part; a failed block leaves nothing behind.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with open(temporary, "rb+") as written:
            os.fsync(written.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        if error.filename:
            raise
        # NumPy and others do not say which file did not fit.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def folder(text: str) -> Path:
    """An existing folder, for a command line."""
    if not Path(text).is_dir():
        raise ArgumentTypeError(f"{text} is not a folder that is there")
    return Path(text)


def below(folder: Path, name: str) -> Path:
    """The path of a file that something names, in `folder` or further below it.

    Raises:
        InputError: it would be elsewhere, whether by its name or by a linked folder.
    """
    path = folder / name
    if path.name in ("", "..") or not path.parent.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{short(name)} names a file outside of {folder}")
    return path


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`, atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, content: Any) -> None:
    """Write `content` as readable JSON, atomically."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """Read JSON; the path is in the error when the file holds something else.

    A key that is given twice is an error, too, as readers would differ in which one they take.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        return json_of(text)
    except RecursionError:
        raise InputError(f"{path} is not JSON: it is nested too deeply") from None
    except ValueError as error:  # also for what is no UTF-8, and for numbers of 5,000 digits
        raise InputError(f"{path} is not JSON: {error}") from None


def json_of(text: str) -> Any:
    """The JSON of a text, in which no object has a key twice.

    Raises:
        ValueError, RecursionError: it is none.
    """
    return json.loads(text, object_pairs_hook=_each_key_once)


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:40]!r} is given twice")
    return found


# What no file of settings needs: values inside of values, and values once aliases are put in.
_DEEPEST, _MOST_VALUES = 50, 100_000


def read_yaml(path: Path) -> Any:
    """Read a YAML file (`parse_yaml`)."""
    try:
        return parse_yaml(Path(path).read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError:
        raise InputError(f"{path}: not in UTF-8") from None


def parse_yaml(text: str, where: str) -> Any:
    """What YAML says; a mistake in it is reported with its line.

    Args:
        where: what the text is, for the message.

    Raises:
        InputError: it is no YAML, it is nested more than 50 deep or stands for more than 100,000
            values, or a key is no text or is given twice.
    """
    try:
        _check_size(text)
        return yaml.load(text, Loader=_YamlLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or error
        raise InputError(f"{where}{line}: {problem}") from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        # Of a value that is not what its tag says, such as `!!int x`.
        raise InputError(f"{where}: a value cannot be read: {error}") from None


def _check_size(text: str) -> None:
    """Refuse YAML that would fill the stack or the memory, from its events, which need neither.

    Raises:
        yaml.MarkedYAMLError: it is too deep or too long, or a value holds itself.
    """
    sizes: dict[str, int] = {}  # values behind each anchor
    open_values: list[tuple[str | None, int]] = []  # anchor and values so far, from outside in
    values = 0
    for event in yaml.parse(text, Loader=_Events):
        problem = None
        if isinstance(event, yaml.CollectionStartEvent):
            open_values.append((event.anchor, values))
            values += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_values.pop()
            sizes[anchor] = values - before
        elif isinstance(event, yaml.ScalarEvent):
            values += 1
            sizes[event.anchor] = 1
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor in [anchor for anchor, _ in open_values]:
                problem = f"the value '{event.anchor}' holds itself"
            values += sizes.get(event.anchor, 1)
        if len(open_values) > _DEEPEST:
            problem = f"it is nested more than {_DEEPEST} deep"
        if values > _MOST_VALUES:
            problem = f"it stands for more than {_MOST_VALUES} values"
        if problem:
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)


# Text, and `<<`, which takes the keys of another mapping.
_TAGS_OF_KEYS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")
_Events = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _YamlLoader(_Events):
    """YAML without its surprises: dates stay text, keys are text, and none is given twice."""

    yaml_implicit_resolvers: ClassVar = {
        first: [(tag, pattern) for tag, pattern in resolvers if "timestamp" not in tag]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            problem = None
            if not isinstance(key, yaml.ScalarNode):
                problem = "a key is no single word"
            elif key.tag not in _TAGS_OF_KEYS:
                problem = f"the key '{key.value}' is no text to YAML; put it in quotes"
            elif key.value in seen:
                problem = f"the key '{key.value}' is given twice"
            if problem:
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def code(path: Path) -> bytes:
    """The lines of a Python file, without blank ones and those that are comments."""
    lines = Path(path).read_bytes().splitlines()
    written = (line.rstrip() for line in lines if not line.lstrip().startswith(b"#"))
    return b"\n".join(line for line in written if line)


def sha256(path: Path) -> str:
    """The sha256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def has_sha256(path: Path, expected: str) -> bool:
    """Whether a file's sha256 is `expected`, which may be only the beginning of it."""
    return sha256(path).startswith(expected)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would take the text for a formula, and obey it."""
    return bool(_FORMULA.match(text))


def harmless(cell: Any) -> Any:
    """A cell of a table; a formula gets an apostrophe in front, which makes it text."""
    return f"'{cell}" if isinstance(cell, str) and is_formula(cell) else cell


def write_csv(path: Path, table: Any) -> None:
    """Write a data frame, whole or not at all, with no cell that is a formula."""
    texts = {name: table[name].map(harmless) for name in table if table[name].dtype.kind == "O"}
    with atomic(path) as temporary:
        table.assign(**texts).to_csv(temporary, index=False, lineterminator="\n")
