"""A loop that is named by its line; Python 3.11 has a stand-in for sys.monitoring."""

import importlib
import sys
from types import SimpleNamespace

import pytest

from epochcost import ROOT


@pytest.fixture
def lines(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts/epochcost/own/inject"))
    yield importlib.import_module("probe.lines")
    for name in [name for name in sys.modules if name.partition(".")[0] == "probe"]:
        del sys.modules[name]


class Monitoring:
    """Keeps what it is asked for; `run` does what Python does as it executes lines."""

    DISABLE = object()
    events = SimpleNamespace(PY_START=1, LINE=2)

    def __init__(self):
        self.callbacks, self.watched, self.off, self.calls = {}, set(), set(), 0

    def use_tool_id(self, tool, name): ...

    def set_events(self, tool, events): ...

    def register_callback(self, tool, event, function):
        self.callbacks[event] = function

    def set_local_events(self, tool, code, events):
        self.watched.add(code.co_filename)

    def run(self, file, numbers):
        code = SimpleNamespace(co_filename=str(file))
        self.callbacks[self.events.PY_START](code, 0)
        for number in numbers:
            if code.co_filename in self.watched and number not in self.off:
                self.calls += 1
                if self.callbacks[self.events.LINE](code, number) is self.DISABLE:
                    self.off.add(number)


def test_the_line_is_marked_each_time_and_others_cost_nothing(lines, monkeypatch, tmp_path):
    fake = Monitoring()
    monkeypatch.setattr(sys, "monitoring", fake, raising=False)
    file, marked = tmp_path / "train.py", []
    marks = SimpleNamespace(source=lambda key, name, rank: name, mark=marked.append)
    lines.watch(marks, f"{file}:4")
    fake.run(tmp_path / "other.py", [4, 4])
    fake.run(file, [1, 2, *[3, 4, 5] * 100, 6])
    assert marked == ["line 4"] * 100
    assert fake.calls == 100 + 5
