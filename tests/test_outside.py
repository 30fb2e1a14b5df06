"""What comes from outside reaches no shell, no path and no page as more than a value."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from epochcost import configuration, files, markdown
from epochcost.configuration import ROOT
from epochcost.errors import InputError
from epochcost.frameworks import environments
from epochcost.measure import revision, variables
from epochcost.record.names import RunName
from epochcost.show import quality
from epochcost.show import schedule as reruns

HOSTILE = [
    "$(touch pwn)",
    "x; touch pwn",
    "`touch pwn`",
    "x\ntouch pwn",
    "x\n",
    "../../x",
    "/etc/x",
    "a/../../x",
    "<script>",
    "a|b",
    "a b",
    "{x}",
    "-rf",
    "",
    "x" * 5000,
    "a\x1bb",
]


@pytest.fixture
def root(tmp_path):
    """A copy of config/ in a folder of its own."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    return tmp_path


def change(root: Path, name: str, how) -> None:
    """Let `how` change the content of a YAML file."""
    path = root / "config" / name
    content = yaml.safe_load(path.read_text())
    how(content)
    path.write_text(yaml.safe_dump(content))


def refused(root: Path) -> str:
    with pytest.raises(InputError) as raised:
        configuration.load(root=root)
    return str(raised.value)


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("name", ["datasets.yaml", "hardware.yaml", "workloads.yaml"])
def test_an_id_is_a_word(root, name, value):
    change(root, name, lambda content: content.update({value: next(iter(content.values()))}))
    assert f"config/{name}" in refused(root)


@pytest.mark.parametrize("value", [*HOSTILE, "complete.json", "subset.json", ".hidden", "a//b"])
def test_the_file_of_a_data_set_stays_in_its_folder(root, value):
    def set_name(content):
        content["mnist"]["archives"][0]["files"][0]["name"] = value

    change(root, "datasets.yaml", set_name)
    assert "archives: 0: files: 0: name" in refused(root)


@pytest.mark.parametrize("value", [one for one in HOSTILE if one not in ("a b", "../../x")])
@pytest.mark.parametrize("key", ["gpu", "instance"])
def test_hardware_is_described_in_plain_words(root, key, value):
    change(root, "hardware.yaml", lambda content: content["gce-t4"].update({key: value}))
    if key == "instance" and value == "a/../../x":
        configuration.load(root=root)  # it is no path
    else:
        assert f"gce-t4: {key}" in refused(root)


@pytest.mark.parametrize("value", ["a{x}", "a\nb", "a\x1bb"])
@pytest.mark.parametrize("key", ["stage", "price_book", "python", "data", "schedule"])
def test_a_path_in_the_configuration_is_one_that_snakemake_leaves_as_it_is(key, value):
    settings = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    nested = {"python": "torch", "data": "mirror", "schedule": "repository"}
    if key in nested:
        settings[key] = settings[key] | {nested[key]: value}
    else:
        settings[key] = value
    with pytest.raises(InputError, match=f"config: {key}.*is not a path or an address"):
        configuration.load(settings)


@pytest.mark.parametrize("value", ["../../x", "..", "/etc/x", "a/b", "-x", ".x", "", "x\n"])
@pytest.mark.parametrize("part", ["hardware", "workload", "framework", "variant"])
def test_a_record_names_no_place_but_its_own(value, part):
    parts = {"hardware": "a", "workload": "b", "framework": "c", "variant": "d", "trial": 1}
    with pytest.raises(InputError, match="is no part of a run"):
        RunName(**parts | {part: value}).path(Path("results/runs"))


def test_a_record_from_elsewhere_is_written_nowhere_else(tmp_path, record):
    """As `scripts/merge.py` gets it."""
    import json

    record["run"]["workload"] = "../../../outside"
    file = tmp_path / "there/local/mnist_mlp/pytorch/default-1.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(record))
    into = tmp_path / "deep/down/here/runs"
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/merge.py", tmp_path / "there", "--records", into],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert list(tmp_path.rglob("*.json")) == [file]


def test_a_linked_folder_leads_nowhere_else(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "raw/link").symlink_to(tmp_path / "elsewhere")
    assert files.below(tmp_path / "raw", "sub/a.bin") == tmp_path / "raw/sub/a.bin"
    for name in ("link/a.bin", "../a.bin", str(tmp_path / "a.bin"), "..", ""):
        with pytest.raises(InputError, match="names a file outside of"):
            files.below(tmp_path / "raw", name)
    (tmp_path / "linked").symlink_to(tmp_path / "raw")  # a folder on another disk is the user's own
    assert files.below(tmp_path / "linked", "a.bin")


def test_every_value_in_a_rules_command_is_quoted():
    """`{x:q}` is a word, or a list of words, to the shell; `{x}` may be anything."""
    found = 0
    for path in sorted((ROOT / "rules").glob("*.smk")):
        for block in re.findall(r"shell:\n((?:\s+\".*\"\n)+)", path.read_text()):
            command = "".join(ast.literal_eval(line.strip()) for line in block.splitlines())
            for field in re.findall(r"(?<!\{)\{([^{}]+)\}(?!\})", command):
                assert field.endswith(":q"), f"{path.name}: {{{field}}} in {command}"
                found += 1
    assert found > 50


def test_values_of_a_schedule_are_words_to_the_shell(tmp_path):
    """The scripts run, with commands in place of those of the cloud that only say what they got."""
    (tmp_path / "bin").mkdir()
    for name in ("gcloud", "git", "make", "cp", "find", "mkdir"):
        path = tmp_path / "bin" / name
        path.write_text(f'#!/bin/bash\nprintf "%s\\n" {name} "$@" >> {tmp_path}/said\n')
        path.chmod(0o755)
    hardware = {
        "provider": "Google Compute Engine",
        "instance": "n1-standard-4;touch${IFS}pwn + 1 x T4",
        "gpu": "T4 `touch pwn`",
        "gpu_count": 1,
        "vcpus": 4,
    }
    given = (14400, 600, "gce-t4", hardware, "x; touch pwn", "/r`touch pwn`; touch pwn")
    rerun = reruns.Rerun(*given, 'img"\n', ["workloads=a;touch pwn"], 30)
    with pytest.raises(InputError, match="schedule: image"):
        reruns.render(rerun)
    rerun = reruns.Rerun(*given, 'img"', ["workloads=a;touch pwn"], 30)
    written = reruns.render(rerun)
    job = yaml.safe_load(written["cronjob.yaml"])
    (container,) = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == 'img"'
    (tmp_path / "epochcost").mkdir()
    for script in (written["vm.sh"], container["args"][0]):
        subprocess.run(
            ["bash", "-c", script],
            cwd=tmp_path,
            env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"},
            check=False,
            timeout=60,
        )
    assert not list(tmp_path.rglob("pwn"))
    said = (tmp_path / "said").read_text()
    assert "n1-standard-4;touch${IFS}pwn\n" in said
    assert "ARGS=--config again=true hardware=gce-t4 'workloads=a;touch pwn'\n" in said


@pytest.mark.parametrize("value", ["$(touch pwn)", "-u", "", "a\nb", "a\u2028b"])
@pytest.mark.parametrize("key", ["repository", "records", "image"])
def test_what_make_and_kubernetes_would_replace_is_refused(key, value):
    given = {"repository": "https://e.org/x", "records": "/r", "image": "i"} | {key: value}
    rerun = reruns.Rerun(14400, 600, "gce-t4", {"vcpus": 4}, arguments=[], disk_gib=30, **given)
    with pytest.raises(InputError, match=f"schedule: {key}"):
        reruns.render(rerun)


def test_an_option_is_no_host():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/remote.py", "--", "-oProxyCommand=touch pwn", "gce-t4"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "is no name or address of a host" in done.stderr


def test_markdown_shows_text_as_it_is():
    assert markdown.text("<script>alert(1)</script>") == "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert markdown.row(["a|b", "[x](javascript:y)", "`c`", "d\ne", "\x1b[31m"]) == (
        "| a\\|b | \\[x\\](javascript:y) | \\`c\\` | d e | ?\\[31m |"
    )


def test_a_label_from_a_record_makes_no_markup_in_the_tables_of_quality():
    table = pd.read_csv(ROOT / "tests/outside/targets.csv")
    assert "<b>" in table.workload[0]
    assert "<b>" not in quality.targets_markdown(table)


def other_numpy(folder: Path) -> str:
    """A folder whose numpy is another one."""
    (folder / "numpy").mkdir(parents=True)
    (folder / "numpy/__init__.py").write_text("__version__ = 'of PYTHONPATH'\n")
    return str(folder)


def test_a_training_gets_the_packages_of_its_environment(tmp_path):
    """scripts/start.py with a Python that says what numpy it would train with."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{sys.executable} -c 'import numpy; print(numpy.__version__)'\n")
    python.chmod(0o755)
    ready = {
        "workloads": {"mnist_mlp": {"data": "data", "weights": []}},
        "pythons": {"pytorch": str(python)},
    }
    files.write_json(tmp_path / "ready.json", ready)
    hostile = {"PYTHONPATH": other_numpy(tmp_path / "other"), "PYTHONHOME": sys.base_prefix}
    done = subprocess.run(
        [
            *(sys.executable, ROOT / "scripts/start.py", tmp_path / "ready.json"),
            "mnist_mlp/pytorch/default-1",
        ],
        env=os.environ | hostile,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() not in ("", "of PYTHONPATH")


def test_snakemake_forgets_the_users_python_for_all_jobs(tmp_path):
    from clones import make_clone

    folder = make_clone(tmp_path / "epochcost")
    (folder.folder / "scripts/runs.py").write_text(
        "import os\nprint([name for name in os.environ if name.startswith('PYTHON')])\n"
    )
    hostile = {"PYTHONPATH": str(tmp_path / "nothing"), "PYTHONWARNINGS": "error"}
    folder.snakemake(
        *("runs", "--cores", "1", "--config", "data={source: synthetic}"), check=False, **hostile
    )
    assert (folder.folder / "logs/runs.log").read_text() == "[]\n"


def test_what_was_started_by_hand_with_other_packages_says_so(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    assert variables.effective()["PYTHONPATH"] == "/somewhere"
    monkeypatch.delenv("PYTHONNOUSERSITE", raising=False)
    variables.ignore_user_packages()
    variables.forget_python()
    assert "PYTHONPATH" not in variables.effective()
    assert os.environ["PYTHONNOUSERSITE"] == "1", "it takes packages away and brings none"


def test_make_installs_what_is_pinned_whatever_is_set(tmp_path):
    (tmp_path / "show.mk").write_text(f"include {ROOT}/Makefile\nshow:\n\t@env\n")
    hostile = {
        "PIP_USER": "1",
        "PYTHONPATH": "/x",
        "PYTHONHOME": "/x",
        "UV_OVERRIDE": "/x",
        "UV_CONSTRAINT": "/x",
    }
    done = subprocess.run(
        ["make", "-f", tmp_path / "show.mk", "show"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)} | hostile,
        capture_output=True,
        text=True,
    )
    seen = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert seen["PIP_USER"] == "0"
    assert not set(hostile) - {"PIP_USER"} & seen.keys()


def test_an_environment_is_made_of_its_pins_whatever_is_set(monkeypatch):
    """What is here already is enough, unless uv looks at what other projects override."""
    monkeypatch.setenv("UV_OVERRIDE", "/nowhere/overrides.txt")  # with which uv fails
    words = ["--dry-run", "--offline", "--python", sys.executable, "numpy"]
    environments.uv("pip", "install", *words)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a clone away")
def test_the_commit_of_somebody_elses_clone_is_known(tmp_path, monkeypatch):
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    (tmp_path / "a").write_text("1")
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    known = revision.commit(tmp_path)
    assert known
    subprocess.run(["chown", "-R", "12345:12345", tmp_path], check=True)
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as in a hook of another repository
    assert revision.commit(tmp_path) == known
    assert revision.why_unknown(tmp_path) is None


def test_why_a_commit_is_not_known_is_said(tmp_path, monkeypatch):
    assert revision.why_unknown(tmp_path) is None, "it is no clone"
    (tmp_path / ".git").write_text("gitdir: /nowhere")
    assert "not a git repository" in revision.why_unknown(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    assert revision.why_unknown(tmp_path) == "git: No such file or directory"
