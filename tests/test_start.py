import json
import subprocess
import sys

from epochcost.configuration import ROOT


def test_a_training_that_is_killed_is_said(tmp_path):
    """A shell that ends itself stands in for a training that the system kills."""
    python, ready = tmp_path / "python", tmp_path / "ready.json"
    python.write_text("#!/bin/sh\nkill -9 $$\n")
    python.chmod(0o755)
    places = {"data": str(tmp_path), "weights": None}
    ready.write_text(
        json.dumps({"pythons": {"pytorch": str(python)}, "workloads": {"mnist_mlp": places}})
    )
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/start.py", ready, "mnist_mlp/pytorch/default-1"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 128 + 9
    assert "mnist_mlp/pytorch/default-1 was killed; if nobody did that" in done.stderr
