"""What is known of a GPU, as text."""

import subprocess
import sys

import pytest

from epochcost import ROOT
from epochcost.errors import InputError
from epochcost.estimate import reference
from epochcost.show import reference as shown


@pytest.fixture(scope="module")
def titles() -> dict[str, str]:
    return {row["source_id"]: row["title"] for row in reference.rows("sources")}


def test_every_gpu_is_told_in_25_lines_of_100_columns(real, titles):
    for gpu in real.gpus:
        lines = shown.text(gpu, real, titles).splitlines()
        assert len(lines) <= 25, gpu
        assert max(map(len, lines)) <= 100, gpu


def test_partners_networks_and_sources_are_told(real, titles):
    text = shown.text("H100", real, titles)
    (line,) = (line for line in text.splitlines() if line.startswith("A100-SXM-80GB"))
    assert line.endswith("0.61         8  1 x tf32, equal software    fp16; 2, 4, 8 GPUs")
    assert "lambda-bench: Deep learning benchmarks (PyTorch)" in text


def test_no_partner_and_no_use_are_told(real, titles):
    assert "Its data sheet is what estimates go by." in shown.text("Tesla T4", real, titles)
    assert "its peak at tf32 is not known" in shown.text("B300", real, titles)


def test_an_unknown_gpu_is_one_line_with_the_nearest_name(real, titles):
    with pytest.raises(InputError, match="unknown GPU 'L40X'; did you mean 'L40"):
        shown.text("L40X", real, titles)
    script = [sys.executable, ROOT / "scripts/reference.py"]
    done = subprocess.run([*script, "H20"], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    done = subprocess.run([*script, "H200"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("H200-SXM (NVIDIA, 2023-11): 141 GB")
