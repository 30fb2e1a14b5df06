"""Records with one to three things wrong in them, made from those that ship with the project."""

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import measured

from epochcost.record import record

_ODD = (
    None, True, False, 0, -1, 1, 0.0, -0.5, 1e300, -1e300, 1e-300, 10**9, 10**400, 2**63, 1.5,
    float("nan"), float("inf"), float("-inf"), "", "0", "yesterday", "\ud800", "\x00", "a\r\nb",
    "NA", "nan", "<b>&amp;</b>", "x" * 10_000, "../..", "2026-11-24T10:00:00Z", "ok", "failed",
    "full", "quick", "gpu", "cpu", "gce-t4", "gce-n1-highcpu-8", [], {}, [None], [[[]]], {"a": {}},
)  # fmt: skip


@cache
def shipped() -> list[Path]:
    """The records that ship with the project."""
    return record.find(measured.folder())


def mutant(seed: int, value: Any) -> tuple[Path, bytes]:
    """A shipped record with something wrong in it: where it was, and its bytes.

    Args:
        seed: what is changed, and how.
        value: one of the values that it gets.
    """
    drawn = random.Random(seed)
    path = drawn.choice(shipped())
    text = path.read_text()
    if drawn.random() < 0.2:
        return path, _other_bytes(text.encode(), drawn)
    content = json.loads(text)
    for _ in range(drawn.choice((1, 1, 1, 2, 3))):
        _change(content, value, drawn)
    text = json.dumps(content, indent=1)
    return path, _other_text(text, drawn).encode()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """All keys and indices of a document, with what they are of."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    found = []
    for key in keys:
        found += [(value, key), *_places(value[key])]
    return found


def _change(content: dict, value: Any, drawn: random.Random) -> None:
    places = _places(content)
    if not places:
        return
    inside, key = drawn.choice(places)
    old = inside[key]
    match drawn.randrange(9):
        case 0:
            del inside[key]
        case 1 if isinstance(inside, dict):
            inside[drawn.choice(["x", "", "epochs", "seed", "\ud800", "a" * 300])] = value
        case 2 if isinstance(inside, list):
            inside.append(json.loads(json.dumps(old)))
        case 3:
            inside[key] = [old] if drawn.random() < 0.5 else {"value": old}
        case 4 if isinstance(old, int | float) and not isinstance(old, bool):
            inside[key] = old * drawn.choice([-1, 0, 0.5, 0.999, 2, 1e3, 1e12, 1e200])
        case 5 if isinstance(old, str):
            inside[key] = drawn.choice([old.upper(), old[:-1], old + "\n", old[::-1], f" {old}"])
        case 6:
            inside[key] = json.loads(json.dumps(drawn.choice(places)[0]))
        case 7:
            inside[key] = value
        case _:
            inside[key] = drawn.choice(_ODD)


def _other_text(text: str, drawn: random.Random) -> str:
    """The same, a key given twice, or nesting that no reader follows."""
    match drawn.randrange(12):
        case 0:
            return text.replace('"seed":', f'"seed": {drawn.randrange(9)},\n "seed":', 1)
        case 1:
            depth = drawn.choice([5, 100, 900, 5_000, 100_000])
            deep = "[" * depth + "]" * depth
            return text.replace('"settings": {', f'"settings": {{ "deep": {deep},', 1)
        case 2:
            return text.replace('"seed":', '"seed": ' + "9" * 5_000 + ', "was":', 1)
    return text


def _other_bytes(content: bytes, drawn: random.Random) -> bytes:
    place = drawn.randrange(len(content))
    match drawn.randrange(4):
        case 0:
            return content[:place]
        case 1:
            return content[:place] + drawn.randbytes(drawn.randrange(1, 5)) + content[place:]
        case 2:
            return content[:place] + drawn.randbytes(1) + content[place + 1 :]
    return content[: place // 2] + content[place:]
