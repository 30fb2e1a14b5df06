"""A training waits for its device at the borders of epochs, and not at each step.

fastai is not here: it fetches the loss of each step itself, for its users as well.
"""

import pytest
from trainings import answer

from epochcost import ROOT

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("framework", ["keras-tensorflow", "keras-torch", "keras-jax", "pytorch"])
def test_the_device_is_waited_for_at_borders_alone(pythons, little, framework):
    script = ROOT / "tests/frameworks/count_waits.py"
    counts = answer(pythons[framework], script, framework, little)
    assert counts["steps"] == 50
    assert counts["in_steps"] < 10, counts
    if framework in ("keras-tensorflow", "keras-jax"):  # PyTorch need not wait for a processor
        assert counts["at_border"] >= 1, counts
