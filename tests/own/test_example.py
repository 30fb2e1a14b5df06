"""The example of the tutorial, as a new user measures it."""

import pytest
from clones import make_clone

from epochcost import ROOT
from epochcost.record import record
from epochcost.statistics import own as statistics

pytestmark = pytest.mark.slow


def test_the_example_of_the_tutorial(tmp_path, pythons):
    clone = make_clone(tmp_path / "epochcost")
    (clone.folder / ".venv").symlink_to(ROOT / ".venv")
    example = ("examples/transformer.py", "--text", "README.md", "--width", "32", "--layers", "1")
    words = ("measure", "--price", "0.10", "--for", "20s", "--")
    done = clone.run(str(clone.folder / "epochcost"), *words, pythons["pytorch"], *example)
    assert "transformer takes about " in done.stderr and "of 5,000 steps" in done.stderr
    assert "at $0.10 an hour" in done.stderr
    assert not (clone.folder / "transformer.pt").exists(), "it was not run to its end"
    (path,) = (clone.folder / "results/runs/local/transformer/own").glob("*.json")
    one = record.read(path)
    assert one.own.counted_by.startswith("torch.optim") and "torch" in one.own.packages
    assert statistics.whole(one.own).steps == 5000
    clone.snakemake("advise", "--config", "workload=transformer", "price=0.10", "deadline=3h")
