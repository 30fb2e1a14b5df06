"""Content with something wrong in it, as people, editors and programs leave it."""

import copy
import os
import random
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# How many examples each test takes.
EXAMPLES = int(os.environ.get("EPOCHCOST_FUZZ", "100"))
fuzzed = settings(
    max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
# Of tests that run a script.
fewer = settings(fuzzed, max_examples=max(5, EXAMPLES // 8))

WORDS = [
    *("$(touch pwn)", "; touch pwn", "../../x", "/etc/passwd", "<script>", "{x}", "-rf", "", " "),
    *("x\ny", "x\x00y", "\x1b[31m", "é", "\u202e", "\u2028", "\ufeff", "9" * 5000, "x" * 5000),
    *("1e999", "1e-320", "nan", "-inf", "-1", "-0", "0", "1_5", "0x10", "1,5", "٣", "½", "true"),
    *("null", "~", "2017-99-99", "20260709", "9999-12-31", "2026-07-09T00:00", "!!int x"),
    *("&a [*a]", "*a", "[", "{a: b", "- ", "'", '"', "%", "@", "<<: 3", "? [a]", "1: 2"),
    *("!!python/object:os.system x", "'\\ud800'", "#REF!", "=1+1", "EUR", "on_demand", "free"),
    *("spot", "owned", "monthly", "60", "local", "GPU 1 + machine", "GPU 0.1 + machine 0.2"),
]
words = st.sampled_from(WORDS) | st.text(max_size=8) | st.floats().map(repr)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
seeds = st.integers(0, 2**48)
_NUMBERS = (None, True, -1, 0.0, 1e300, 1e-300, 10**400, 2**63, float("nan"), float("inf"), [[[]]])
_BYTES = (b",", b'"', b"\n", b"\r", b"\r\n", b"\x00", b"\xff", b"\xe9", b"\xef\xbb\xbf", b"-")


def of_bytes(content: bytes, seed: int) -> bytes:
    """Cut off, of another encoding, with a line twice, or with bytes put in or taken out."""
    rng = random.Random(seed)
    place = rng.randrange(len(content) + 1)
    match rng.randrange(12):
        case 0:
            return content[:place]
        case 1:
            return content.decode().encode(rng.choice(["utf-16", "utf-32", "cp500", "utf-8-sig"]))
        case 2:
            return content.replace(b"  ", b"\t")
        case 3:
            lines = content.splitlines(keepends=True)
            return b"".join([*lines, rng.choice(lines)])
        case 4:
            return b"a: " + rng.choice([b"[", b"{"]) * rng.choice([60, 5_000, 200_000])
        case 5:
            return rng.choice([b"", b"\n", b"<html>", b"\x00" * 100, rng.randbytes(200)])
    for _ in range(rng.randrange(1, 5)):
        place, length = rng.randrange(len(content) + 1), rng.randrange(40)
        odd = rng.choice(WORDS).encode("utf-8", "replace")
        put = rng.choice([*_BYTES, odd, rng.randbytes(3), content[place : place + length]])
        content = content[:place] + put + content[place + rng.randrange(length + 1) :]
    return content


def places(content: Any) -> list[tuple[Any, Any]]:
    """All keys and indices of a document, with what they are of."""
    keys = content if isinstance(content, dict) else ()
    keys = range(len(content)) if isinstance(content, list) else keys
    return [one for key in keys for one in ((content, key), *places(content[key]))]


def of_values(content: Any, value: Any, seed: int) -> Any:
    """A copy of a document with one to three of its parts lost, renamed or other ones."""
    rng, content = random.Random(seed), copy.deepcopy(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if there := places(content):
            _change(*rng.choice(there), value, rng)
    return content


def _change(inside: Any, key: Any, value: Any, rng: random.Random) -> None:
    old = inside[key]
    match rng.randrange(8):
        case 0:
            del inside[key]
        case 1 if isinstance(inside, dict):
            inside[value if isinstance(value, str | int | float | None) else "x"] = inside.pop(key)
        case 2 if isinstance(inside, list):
            inside.append(copy.deepcopy(old))
        case 3:
            inside[key] = rng.choice([[old], {"value": old}])
        case 4 if isinstance(old, int | float) and not isinstance(old, bool):
            inside[key] = old * rng.choice([-1, 0, 0.5, 0.999, 2, 1e3, 1e12, 1e200])
        case 5 if isinstance(old, str):
            inside[key] = rng.choice([old.upper(), old[:-1], old + "\n", old[::-1], f" {old}"])
        case 6:
            inside[key] = rng.choice([*_NUMBERS, *WORDS])
        case _:
            inside[key] = copy.deepcopy(value)
