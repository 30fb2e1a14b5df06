"""kill -9 while the analysis writes: all files are whole, and the next call goes on."""

import json
import os
import shutil
import signal
import subprocess
import time
from xml.etree import ElementTree

import measured as shipped
import pandas as pd
import pytest
from clones import BIN, make_clone
from expect import wait_until
from observed import put_quick_run

from epochcost import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A clone with all records that ship with the project, and those that its plan wants."""
    clone = make_clone(tmp_path_factory.mktemp("killed") / "epochcost")
    clone.configure(
        workloads=["mnist_mlp"],
        frameworks=["keras-tensorflow"],
        data={"source": "synthetic", "mirror": ""},
    )
    shutil.copytree(shipped.folder(), clone.folder / "results/runs")
    put_quick_run(clone.folder, json.loads((ROOT / "tests/record/quick.json").read_text()))
    return clone


@pytest.mark.parametrize(
    "begun",
    [
        pytest.param("logs/runs.log", marks=pytest.mark.full),
        pytest.param("logs/costs.log", marks=pytest.mark.full),
        "results/figures/mnist_mlp-machines.svg",
        pytest.param("logs/report.log", marks=pytest.mark.full),
    ],
)
def test_a_killed_analysis_leaves_whole_files_and_is_continued(measured, begun):
    results = measured.folder / "results"
    records = measured.records()
    (measured.folder / begun).unlink(missing_ok=True)
    process = subprocess.Popen(
        [BIN / "snakemake", "--quiet", "all", "--forceall"],
        cwd=measured.folder,
        env=measured.environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until((measured.folder / begun).exists, begun, lambda: process.poll() is not None, 0.01)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert_whole(results)
    assert measured.records() == records

    measured.run("python", "scripts/unlock.py")
    measured.snakemake("--quiet", "all")
    assert_whole(results)
    assert measured.records() == records
    for name in ("report.html", "answer.txt", "quality.md", "tables/runs.csv"):
        assert (results / name).stat().st_size > 0
    own = pd.read_csv(results / "tables/runs.csv")
    assert (own.source_id.eq("own") & own.shipped.isna()).sum() == len(records)
    assert len(list((results / "figures").glob("[!.]*.svg"))) == 6


def assert_whole(results):
    """Every file that has its name can be read to its end."""
    for path in results.rglob("[!.]*"):
        match path.suffix:
            case ".csv":
                assert path.read_text().endswith("\n")
                pd.read_csv(path)
            case ".svg":
                ElementTree.parse(path)
            case ".png":
                assert path.read_bytes().endswith(b"IEND\xaeB`\x82")
            case ".html":
                assert path.read_text().rstrip().endswith("</html>")
