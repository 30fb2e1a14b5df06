"""What keep_memory does to a process, seen from outside."""

import os
import subprocess
import sys

import pytest

from epochcost import ROOT
from epochcost.frameworks import memory

# Holds 100 MiB, frees them, and says how much memory the process then has, in MiB.
HOLD_AND_FREE = """
import sys
import numpy as np
import psutil
from epochcost.frameworks import memory
if sys.argv[1] == "keep":
    memory.keep()
held = np.ones(100 * 2**17)
del held
print(psutil.Process().memory_info().rss / 2**20)
"""


@pytest.mark.skipif(not memory.can_be_kept(), reason="this system's allocator cannot be told")
def test_memory_that_is_freed_stays_with_the_process():
    left = {}
    for how in ("keep", "leave"):
        done = subprocess.run(
            [sys.executable, "-c", HOLD_AND_FREE, how],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONPATH": str(ROOT / "scripts")},
        )
        left[how] = float(done.stdout)
    assert left["keep"] - left["leave"] > 90
