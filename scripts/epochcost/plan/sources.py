"""What a command is made of: its file, and all of the package that it imports.

Nothing is imported to find that out, and nothing parsed but the lines of imports: every call of
Snakemake asks it.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_SCRIPTS = Path(__file__).resolve().parents[2]
_PACKAGE = Path(__file__).resolve().parents[1].name
_IMPORT = re.compile(
    rf"^ *(?:from ({_PACKAGE}[\w.]*) import (\([^)]*\)|.*)|import ({_PACKAGE}[\w.]*))", re.MULTILINE
)


def sources_of(command: str) -> list[str]:
    """The files whose change changes what `scripts/<command>.py` does, relative to the clone.

    A module brings the files beside it that have its name, such as `page.html.j2`.
    """
    reached: set[Path] = set()
    waiting = [_SCRIPTS / f"{command}.py"]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting += _imported(path)
    beside = {other for path in reached for other in path.parent.glob(f"{path.stem}.*.*")}
    return sorted(str(path.relative_to(_SCRIPTS.parent)) for path in reached | beside)


@cache
def _imported(path: Path) -> tuple[Path, ...]:
    """The files of the package that a file imports itself, wherever in it."""
    found = set()
    for origin, names, module in _IMPORT.findall(path.read_text()):
        found |= set(_files(origin or module))
        for name in re.findall(r"\w+", names):
            found |= set(_files(f"{origin}.{name}"))
    return tuple(found)


def _files(module: str) -> Iterator[Path]:
    """The file of a module, and those of the packages that it is in; of a name in one, these."""
    path = _SCRIPTS
    for part in module.split("."):
        path /= part
        if (file := path.with_suffix(".py")).exists():
            yield file
        elif (package := path / "__init__.py").exists():
            yield package
