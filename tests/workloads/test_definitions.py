"""Both definitions of a workload are the published model, and the same function."""

import json
import subprocess

import pytest

from epochcost.configuration import ROOT

# Sample shape, and the number of parameters that the Keras examples of 2017 print.
PUBLISHED = {
    "mnist_mlp": ([784], 669_706),
    "mnist_cnn": ([28, 28, 1], 1_199_882),
    "cifar10_cnn": ([32, 32, 3], 1_250_858),
}


@pytest.mark.parametrize("workload", PUBLISHED)
def test_keras_and_pytorch_give_the_same_loss_and_gradient(pythons, workload):
    shape, parameters = PUBLISHED[workload]
    script = ROOT / "tests/workloads/same_mathematics.py"
    done = subprocess.run(
        [pythons["pytorch"], script, workload, json.dumps(shape)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "scripts"), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["parameters"] == [parameters, parameters]
    assert found["torch"] == pytest.approx(found["keras"], rel=1e-5)
