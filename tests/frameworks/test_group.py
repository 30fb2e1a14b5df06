"""A group of processes ends together, whoever fails."""

import os
import subprocess

import pytest

from epochcost import ROOT

# Two processes add a number up, again and again; one of them may fail in between.
ADD_UP = """
import sys
import torch
from epochcost.frameworks import pytorch_group

def work(group, failing):
    total = torch.zeros(())
    for turn in range(20):
        if turn == 10 and group.rank == failing:
            raise ValueError("one of them failed")
        total += group.sum(torch.ones(()))
    return total.item()

if __name__ == "__main__":
    failing = int(sys.argv[1])
    try:
        with pytorch_group.started(2, work, failing) as group:
            print(work(group, failing))
    except Exception as error:
        print(type(error).__name__)
"""


@pytest.mark.parametrize(
    ("failing", "said"), [(-1, "40.0"), (0, "ValueError"), (1, "RuntimeError")]
)
def test_a_group_ends_together(pythons, tmp_path, failing, said):
    script = tmp_path / "add_up.py"
    script.write_text(ADD_UP)
    done = subprocess.run(
        [pythons["pytorch"], script, str(failing)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "scripts")},
        timeout=100,  # without an end of its own it would wait for minutes more
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [said]
    if failing == 1:
        assert "device 2 of 2: one of them failed" in done.stderr
