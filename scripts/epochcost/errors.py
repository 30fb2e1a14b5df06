"""Bad input, reported in one line."""

import argparse
import difflib
import json
import math
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

SIGNATURE = "epochcost"
# More names than these would hide the intended one.
_MOST_NAMED = 40
# Characters of a message that are shown, and of a value or a name in it.
LONGEST_LINE, LONGEST_VALUE = 700, 100


class InputError(Exception):
    """Something the user gave is wrong; the message names it and what would be right."""


class Parser(argparse.ArgumentParser):
    """A command line whose mistakes give one line and status 1, as everywhere."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As of argparse; text that is no UTF-8 is a mistake, as no file of ours could hold it."""
        for word in sys.argv[1:] if args is None else args:
            if not word.isascii() and any("\ud800" <= sign <= "\udfff" for sign in word):
                self.error(f"'{short(word)}' is no UTF-8")
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        sys.exit(f"{SIGNATURE}: {printable(message)} (see --help)")


def positive(text: str) -> float:
    """A number above 0, for a command line."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """A whole number of a command line, from `least` to `most`."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
        if value < least:
            raise argparse.ArgumentTypeError(f"{text} is below {least}")
        if most is not None and value > most:
            raise argparse.ArgumentTypeError(f"{text} is above {most}")
        return value

    return read


def json_value(text: str) -> Any:
    """A value of a command line that is written as JSON."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not JSON: {error}") from None


def short(value: object) -> str:
    """A value that somebody gave, for a message: printable, its middle left out where it is long.

    The `repr` of something that is no text.
    """
    return printable(value if isinstance(value, str) else repr(value), LONGEST_VALUE)


def printable(text: str, longest: int = LONGEST_LINE) -> str:
    """Text as one line of at most `longest` characters that no terminal obeys.

    Other control characters than white space, and halves of characters, become question marks. The
    end is kept beside the beginning, as it often says what would be right.
    """
    line = " ".join(text.split())
    if len(line) > longest:
        half = (longest - 5) // 2
        line = f"{line[:half]} ... {line[-half:]}"
    return "".join(sign if sign.isprintable() else "?" for sign in line)


def nearest(name: str, valid: Iterable[str]) -> str:
    """A hint for a misspelt `name`: the closest of `valid`; if none is close all, or their ends."""
    valid = sorted(str(v) for v in valid)
    # Longer than any name: to compare it would take minutes.
    near, as_written = str(name)[:LONGEST_VALUE].lower(), {v.lower(): v for v in reversed(valid)}
    found = difflib.get_close_matches(near, as_written, n=1, cutoff=0.5)
    close = [as_written[lower] for lower in found]
    if close and len(valid) > _MOST_NAMED:
        return f"did you mean '{close[0]}'?"
    if close:
        return f"did you mean '{close[0]}'? (known: {', '.join(valid)})"
    if len(valid) > _MOST_NAMED:
        return f"{len(valid)} are known, from {valid[0]} to {valid[-1]}"
    return f"known: {', '.join(valid)}"


def check_name(what: str, name: str, valid: Iterable[str]) -> None:
    """Raise an InputError with the closest valid name if `name` is none of them."""
    if name not in valid:
        raise InputError(f"unknown {what} '{name}'; {nearest(name, valid)}")


def one_line(error: BaseException) -> str:
    """An error as one printable line (`printable`)."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return printable(f"{where}{error.strerror}")
    return printable(str(error))


@contextmanager
def blamed(path: str) -> Iterator[None]:
    """Report an error that comes from the file `path`, such as a user's own, by its line there.

    Raises:
        InputError: it does. It may be the file's fault, or that of what it was given.
    """
    try:
        yield
    except (InputError, OSError, MemoryError):
        raise
    except Exception as error:
        calls = traceback.extract_tb(error.__traceback__)
        lines = [call.lineno for call in calls if call.filename == path]
        if isinstance(error, SyntaxError) and error.filename == path:
            lines.append(error.lineno)
        if not lines:
            raise
        text = error.msg if isinstance(error, SyntaxError) else one_line(error)
        what = f"{type(error).__name__}: {text}"
        raise InputError(f"{path}, line {lines[-1]}: {what}") from error


def run(command: Callable[[], int | None]) -> None:
    """Run a script's `main`; bad input, a failing disk and want of memory end it with one line."""
    try:
        status = command()
    except (InputError, OSError) as error:
        sys.exit(f"{SIGNATURE}: {one_line(error)}")
    except MemoryError as error:
        sys.exit(f"{SIGNATURE}: out of memory: {one_line(error)}".removesuffix(": "))
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(status)


@contextmanager
def in_one_line() -> Iterator[None]:
    """End this process with one line if bad input, or a failing disk, is in the way."""
    try:
        yield
    except (InputError, OSError) as error:
        sys.exit(f"{SIGNATURE}: {one_line(error)}")


def say(text: str) -> None:
    """Print a line of ours among those of others."""
    print(f"{SIGNATURE}: {text}", file=sys.stderr)
