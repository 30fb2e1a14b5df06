"""The shape of the house: who imports whom, scripts that run alone, links, nothing private."""

import os
import re
import subprocess
import sys

import house
import pytest
import yaml

from epochcost import ROOT, files

TRAIN = ROOT / "scripts/train.py"
DEEP_LEARNING = {"tensorflow", "keras", "torch", "torchvision", "fastai", "jax"}
ANALYSIS_TOOLS = {"pandas", "seaborn", "matplotlib", "snakemake", "dvc", "pydantic"}
ANALYSIS = {"ground", "record", "statistics", "results", "money", "show", "plan", "settings"}
# Modules of the probe, which import each other without a package's name.
PROBE = {
    path.stem for name, path in house.modules().items() if name.startswith("own.inject.probe.")
}
TRAINING = {"record", "data", "models", "measure", "frameworks", "training"}


def tools_of(rooms: set[str], path_part: str = "") -> dict[str, set[str]]:
    """What each module of some rooms imports that is not of this package, by its first name."""
    return {
        name: {other.split(".")[0] for other in house.imports(path)}
        for name, path in house.modules().items()
        if house.room(name) in rooms and path_part in str(path)
    }


def test_every_module_stands_in_a_room_of_the_design_and_uses_only_what_is_below():
    assert house.unknown() == []
    assert house.arrows_up() == []


def test_no_module_is_in_a_circle():
    assert house.circles() == []


def test_analysis_never_imports_a_deep_learning_framework():
    for name, tools in tools_of(ANALYSIS).items():
        assert not tools & DEEP_LEARNING, name


def test_training_never_imports_analysis_tools():
    training = tools_of(TRAINING) | {"train": {n.split(".")[0] for n in house.imports(TRAIN)}}
    for name, tools in training.items():
        assert not tools & ANALYSIS_TOOLS, name


def test_what_watches_own_trainings_needs_nothing_but_python():
    """It runs in whatever interpreter the user has."""
    for name, tools in tools_of({"own"}).items():
        # The probe is in a process of the user's, which has no package of this name.
        ours = PROBE if name.startswith("own.inject") else {"epochcost"}
        assert tools <= ours | sys.stdlib_module_names, name


def test_text_is_written_without_a_plotting_library():
    for name, tools in tools_of({"show", "money", "results"}).items():
        if not name.startswith("show.figures"):
            assert not tools & {"matplotlib", "seaborn"}, name


def test_a_start_of_snakemake_imports_no_tables():
    """Each job starts it again, and pandas takes a third of a second."""
    code = "\n".join(
        line
        for path in sorted((ROOT / "rules").rglob("*.smk"))
        for line in path.read_text().splitlines()
        if re.match(r"from epochcost\S* import ", line)
    )
    assert "epochcost.plan" in code
    code = f"import sys; sys.path.insert(0, 'scripts')\n{code}\nassert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.parametrize("script", sorted((ROOT / "scripts").glob("*.py")), ids=lambda p: p.name)
def test_scripts_run_alone(script):
    done = subprocess.run(
        [sys.executable, script, "--help"], capture_output=True, text=True, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")


def test_every_profile_but_the_default_is_at_the_root_as_a_link_to_its_file():
    """Not to its folder: Snakemake packs what git has for the machines of a cloud in any order, and
    below a link that points nowhere yet nothing can be unpacked."""
    profiles = {path.name for path in (ROOT / "profiles").iterdir()} - {"default"}
    links = {path.name: os.readlink(path) for path in ROOT.iterdir() if path.is_symlink()}
    shipped = {name: target for name, target in links.items() if not name.startswith(".")}
    assert shipped == {name: f"profiles/{name}/profile.yaml" for name in profiles}


def test_what_git_has_can_be_unpacked_in_any_order():
    """No file of it lies below a link."""
    listed = subprocess.run(["git", "ls-files", "-s"], cwd=ROOT, capture_output=True, text=True)
    entries = [line.split(maxsplit=3) for line in listed.stdout.splitlines()]
    links = {path for mode, _, _, path in entries if mode == "120000"}
    assert links
    assert not [link for link in links if (ROOT / link).is_dir()]


@pytest.mark.parametrize("path", sorted(ROOT.glob("envs/*.post-deploy.sh")), ids=lambda p: p.name)
def test_conda_installs_the_same_pins(path):
    name = path.name.removesuffix(".post-deploy.sh")
    script = path.read_text()
    assert f"--requirement envs/{name}.txt\n" in script
    assert f": {files.sha256(ROOT / f'envs/{name}.txt')}\n" in script, "run: make pins"
    conda = yaml.safe_load((ROOT / f"envs/{name}.yaml").read_text())
    assert conda["dependencies"] == ["python=3.11", "pip"]


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
