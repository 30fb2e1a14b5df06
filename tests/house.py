"""The import graph of the package against the design: `python tests/house.py` prints it.

A room is a folder of the package, or one of its modules. It may use the rooms below it that
`MAY_USE` names, those that these may use, and the ground: modules that every room may use.
"""

import ast
import sys
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "scripts/epochcost"

# What everybody may use; these use only each other.
GROUND = {
    *("call", "credentials", "durations", "errors", "files", "hardware", "home", "lock"),
    *("markdown", "plugins", "schemas", "sheets", "terminal"),
}
# A room, and those right below it.
MAY_USE = {
    "sharing": {"estimate"},
    "show": {"money"},
    "plan": {"frameworks", "money", "own", "statistics"},
    "money": {"estimate", "settings"},
    "estimate": {"results"},
    "results": {"statistics", "frameworks"},
    "statistics": {"record"},
    "training": {"frameworks", "statistics"},
    "frameworks": {"models", "measure"},
    "measure": {"record"},
    "own": {"measure"},
    "models": {"data"},
    "data": set(),
    "record": set(),
    "settings": set(),
}


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its name, such as `record.names`."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts).removesuffix("__init__").rstrip(".")] = path
    return found


@cache
def imports(path: Path) -> frozenset[str]:
    """What a file imports, wherever in it, with dots."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


@cache
def uses(module: str) -> frozenset[str]:
    """The modules of the package that a module imports."""
    found = set()
    for name in imports(modules()[module]):
        if name.startswith("epochcost."):
            inner = name.removeprefix("epochcost.")
            found.add(inner if inner in modules() else inner.rpartition(".")[0])
    return frozenset(found - {"", module})


def room(module: str) -> str:
    """The room of a module; `ground` for what everybody may use, and for the package itself."""
    first = module.partition(".")[0]
    return "ground" if first in GROUND | {""} else first


@cache
def below(place: str) -> frozenset[str]:
    """All rooms that a room may use."""
    if place == "ground":
        return frozenset({"ground"})
    right_below = MAY_USE.get(place, set())
    return frozenset({place, "ground", *right_below}.union(*map(below, right_below)))


def arrows_up() -> list[str]:
    """What a module imports and may not, each in a line."""
    return [
        f"{module} ({room(module)}) imports {other} ({room(other)})"
        for module in modules()
        for other in sorted(uses(module))
        if room(other) not in below(room(module))
    ]


def circles() -> list[str]:
    """Modules that import each other in a circle, each in a line."""
    found, done = [], set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        if module in way:
            found.append(" -> ".join([*way[way.index(module) :], module]))
        elif module not in done:
            for other in sorted(uses(module)):
                visit(other, (*way, module))
            done.add(module)

    for module in modules():
        visit(module, ())
    return found


def unknown() -> list[str]:
    """The rooms that the design does not name."""
    return sorted({room(module) for module in modules()} - {"ground", *MAY_USE})


def main() -> None:
    for place in ("ground", *reversed(MAY_USE)):
        inside = [module for module in modules() if room(module) == place]
        used = sorted({room(other) for module in inside for other in uses(module)} - {place})
        print(f"{place}: {len(inside)} modules; uses {', '.join(used) or 'no other room'}")
    wrong = [f"unknown room: {name}" for name in unknown()]
    wrong += [f"arrow up: {line}" for line in arrows_up()]
    wrong += [f"circle: {line}" for line in circles()]
    print("\n".join(wrong) or "no circle, no arrow up")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
