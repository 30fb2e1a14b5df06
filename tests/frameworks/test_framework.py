"""A framework is a class in a file of its own, which may be kept elsewhere."""

import os
import subprocess
import sys

import pytest

from epochcost import ROOT
from epochcost.frameworks import registry

OWN = """
from beside import VERSION
from epochcost.frameworks.framework import Framework

class Own(Framework):
    VERSION = VERSION

    def train(self, task, clock):
        pass

    def device(self):
        return "cpu"

    def threads(self):
        return 0

    def choices(self, recipe):
        return {}
"""
LOAD = """
from epochcost.frameworks import FRAMEWORKS, framework
own = framework.load("own")
print(own.VERSION, own.devices(), own.software(), FRAMEWORKS["own"].needs)
"""


def load(path) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "scripts"), registry.MORE: str(path)}
    return subprocess.run(
        [sys.executable, "-c", LOAD], env=environment, capture_output=True, text=True
    )


def test_a_framework_that_is_kept_elsewhere_is_loaded(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "beside.py").write_text("VERSION = 'own 1'")
    entry = "own: {module: own.py, environment: torch, needs: [inputs, torch_model]}"
    (tmp_path / "frameworks.yaml").write_text(entry)
    done = load(tmp_path / "frameworks.yaml")
    assert done.stdout == "own 1 1 {} ('inputs', 'torch_model')\n", done.stderr


@pytest.mark.parametrize("text", ["own: {modul: own.py}", "own", "- own"])
def test_a_file_of_frameworks_that_is_none_is_named(tmp_path, text):
    (tmp_path / "frameworks.yaml").write_text(text)
    done = load(tmp_path / "frameworks.yaml")
    assert done.returncode == 1
    assert done.stderr.startswith("epochcost: EPOCHCOST_FRAMEWORKS: ")
    assert len(done.stderr.splitlines()) == 1
