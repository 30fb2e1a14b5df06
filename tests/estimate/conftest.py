"""Knowledge of made-up GPUs, and the real one."""

import itertools

import pytest
from speeds import GPUS, NETWORKS, WIDTHS, cell

from epochcost import estimate
from epochcost.estimate.knowledge import Knowledge
from epochcost.estimate.reference import Cell, Width


@pytest.fixture
def known():
    """Makes knowledge of cells."""

    def make(*cells: Cell, widths: dict[str, Width] = WIDTHS) -> Knowledge:
        return Knowledge(GPUS, cells, widths)

    return make


@pytest.fixture
def small(known) -> Knowledge:
    """A, B, C and D, E by each network; C and D by none together."""
    speeds = {"A": 10, "B": 20, "C": 40, "D": 30, "E": 60}
    groups = itertools.product(({"A", "B", "C"}, {"B", "D", "E"}), NETWORKS)
    return known(
        *(
            cell(name, network, speeds[name], suite=f"of {min(names)}")
            for names, network in groups
            for name in sorted(names)
        )
    )


@pytest.fixture(scope="session")
def real() -> Knowledge:
    return estimate.read()
