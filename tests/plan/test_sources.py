"""Which files a command is made of, against what Python's own parser finds."""

import sys

import house
import pytest

from epochcost import ROOT
from epochcost.plan.sources import sources_of

COMMANDS = sorted(path.stem for path in (ROOT / "scripts").glob("*.py"))


def parsed(path):
    """The modules of the package that a file imports, and the packages that these are in."""
    found = set()
    for name in house.imports(path):
        package, *words = name.split(".")
        if package == "epochcost":
            found |= {".".join(words[:count]) for count in range(len(words) + 1)}
    return found & set(house.modules())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_made_of_all_that_it_imports(command):
    reached, waiting = set(), parsed(ROOT / f"scripts/{command}.py")
    while waiting - reached:
        module = (waiting - reached).pop()
        reached.add(module)
        waiting |= parsed(house.modules()[module])
    expected = {str(house.modules()[name].relative_to(ROOT)) for name in reached}
    found = {name for name in sources_of(command) if name.endswith(".py")}
    assert found == expected | {f"scripts/{command}.py"}


def test_templates_belong_to_the_module_of_their_name():
    assert "scripts/epochcost/show/page.html.j2" in sources_of("report")
    assert "scripts/epochcost/show/page.html.j2" not in sources_of("runs")


def test_nothing_is_imported_to_find_that_out():
    before = set(sys.modules)
    for command in COMMANDS:
        sources_of(command)
    assert set(sys.modules) == before
