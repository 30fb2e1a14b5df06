"""The shape of the house: who imports whom, scripts that run alone, links, nothing private."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from epochcost.configuration import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import pins

PACKAGE = ROOT / "scripts/epochcost"
DEEP_LEARNING = {"tensorflow", "keras", "torch", "torchvision", "fastai", "jax"}
ANALYSIS_TOOLS = {"pandas", "seaborn", "matplotlib", "snakemake", "dvc"}
# A room, and the rooms below it that it may use.
ROOMS = {
    "reruns": {"costs"},
    "report": {"words", "costs", "statistics", "records"},
    "figures": {"words", "costs", "statistics", "records"},
    "words": {"costs", "records"},
    "costs": {"statistics", "records"},
    "statistics": {"records"},
    "records": set(),
    "frameworks": {"workloads", "datasets", "measurement"},
    "workloads": {"datasets"},
    "datasets": set(),
    "measurement": {"records"},
}


def imported(path: Path) -> set[str]:
    """The modules that a file imports, wherever in it, with dots."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def modules_of(room: str) -> list[Path]:
    found = list((PACKAGE / room).rglob("*.py"))
    assert found, f"there is no {room}"
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_uses_only_rooms_below_it(room):
    for path in modules_of(room):
        for name in imported(path):
            parts = name.split(".")
            if parts[0] == "epochcost" and parts[1] in ROOMS:
                assert parts[1] in ROOMS[room] | {room}, f"{path} imports {name}"


@pytest.mark.parametrize(
    "room", ["reruns", "report", "figures", "words", "costs", "statistics", "records"]
)
def test_analysis_never_imports_a_deep_learning_framework(room):
    for path in modules_of(room):
        assert not {name.split(".")[0] for name in imported(path)} & DEEP_LEARNING


def test_a_start_of_snakemake_imports_no_tables():
    """Each job starts it again, and pandas takes a third of a second."""
    code = "\n".join(
        line
        for path in sorted((ROOT / "rules").rglob("*.smk"))
        for line in path.read_text().splitlines()
        if re.match(r"from epochcost\S* import ", line)
    )
    assert "planning" in code
    code = f"import sys; sys.path.insert(0, 'scripts')\n{code}\nassert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.parametrize("room", ["report", "words", "costs"])
def test_text_is_written_without_a_plotting_library(room):
    for path in modules_of(room):
        assert not {name.split(".")[0] for name in imported(path)} & {"matplotlib", "seaborn"}


@pytest.mark.parametrize("room", ["frameworks", "workloads", "measurement", "records"])
def test_training_never_imports_analysis_tools(room):
    for path in [*modules_of(room), ROOT / "scripts/train.py"]:
        assert not {name.split(".")[0] for name in imported(path)} & ANALYSIS_TOOLS


@pytest.mark.parametrize("script", sorted((ROOT / "scripts").glob("*.py")), ids=lambda p: p.name)
def test_scripts_run_alone(script):
    done = subprocess.run(
        [sys.executable, script, "--help"], capture_output=True, text=True, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")


def test_every_profile_but_the_default_is_at_the_root_as_links_to_its_files():
    """Not as a link to its folder: Snakemake packs `gce-t4/hardware.yaml` for the machines of a
    cloud beside all that git has, in any order, and below a link that points nowhere yet it cannot
    be unpacked."""
    profiles = {path.name for path in (ROOT / "profiles").iterdir()} - {"default"}
    for name in profiles:
        assert not (ROOT / name).is_symlink()
        links = {path.name: os.readlink(path) for path in (ROOT / name).iterdir()}
        files = [path.name for path in (ROOT / "profiles" / name).iterdir()]
        assert links == {file: f"../profiles/{name}/{file}" for file in files}


def test_what_git_has_can_be_unpacked_in_any_order():
    """No file of it lies below a link."""
    listed = subprocess.run(["git", "ls-files", "-s"], cwd=ROOT, capture_output=True, text=True)
    entries = [line.split(maxsplit=3) for line in listed.stdout.splitlines()]
    links = {path for mode, _, _, path in entries if mode == "120000"}
    assert links
    assert not [link for link in links if (ROOT / link).is_dir()]


@pytest.mark.parametrize("path", pins.with_conda(), ids=lambda path: path.stem)
def test_conda_installs_the_same_pins(path):
    for suffix, content in pins.conda_files(path).items():
        assert path.with_name(f"{path.stem}{suffix}").read_text() == content, "run: make pins"


def test_every_environment_has_pins():
    names = {path.stem for path in (ROOT / "envs").glob("*.txt")}
    assert {"workflow", "tensorflow-cpu", "torch-gpu", "jax-cpu"} <= names
    for name in names:
        for line in (ROOT / f"envs/{name}.txt").read_text().splitlines():
            assert re.match(r"^[A-Za-z0-9_.\[\]-]+==[^ ]+( ; .+)?$", line), f"{name}: {line}"


def test_the_cpu_build_of_torch_is_pinned_without_cuda():
    pins = (ROOT / "envs/torch-cpu.txt").read_text()
    assert "\ntorch==" in pins
    assert "nvidia-cu" not in pins
    assert "triton" not in pins


def make(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run(["make", "-n", *words], cwd=ROOT, capture_output=True, text=True)


def test_make_refuses_a_variable_that_nobody_reads():
    refused = make("run", "price=0.10")
    assert refused.returncode == 2
    assert "make knows no price; options of the workflow go into ARGS" in refused.stderr
    assert make("run", "ARGS=--config price=0.10", "EPOCHCOST_MIRROR=/m").returncode == 0
