"""What comes from outside reaches no shell, no path and no page as more than a value."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from clones import commit, make_clone
from expect import refused, script

from epochcost import ROOT, files, markdown
from epochcost.errors import InputError
from epochcost.frameworks import environments
from epochcost.measure import revision, variables
from epochcost.plan import wanted
from epochcost.record.names import RunName
from epochcost.show import quality
from epochcost.show import schedule as reruns

NOT_PLAIN = ["$(touch pwn)", "`touch pwn`", "x\ntouch pwn", "/etc/x", "<script>", "a|b", "{x}"]
NOT_PLAIN += ["-rf", "", "x\n", "x" * 5000, "a\x1bb"]
NO_WORD = [*NOT_PLAIN, "a b", "../../x", "x; touch pwn"]


@pytest.fixture
def change(tmp_path):
    """Lets a function change a YAML file of a copy of config/; returns what loads it."""

    def changed(name: str, how):
        shutil.copytree(ROOT / "config", tmp_path / "config")
        content = yaml.safe_load((ROOT / "config" / name).read_text())
        how(content)
        (tmp_path / "config" / name).write_text(yaml.safe_dump(content))
        return lambda: wanted.read(root=tmp_path)

    return changed


@pytest.mark.parametrize("value", NO_WORD)
@pytest.mark.parametrize("name", ["datasets.yaml", "hardware.yaml", "workloads.yaml"])
def test_an_id_is_a_word(change, name, value):
    load = change(name, lambda content: content.update({value: next(iter(content.values()))}))
    with pytest.raises(InputError, match=f"config/{name}"):
        load()


@pytest.mark.parametrize("value", [*NO_WORD, "complete.json", "subset.json", ".hidden", "a//b"])
def test_the_file_of_a_data_set_stays_in_its_folder(change, value):
    def set_name(content):
        content["mnist"]["archives"][0]["files"][0]["name"] = value

    with pytest.raises(InputError, match="archives: 0: files: 0: name"):
        change("datasets.yaml", set_name)()


@pytest.mark.parametrize("value", NOT_PLAIN)
@pytest.mark.parametrize("key", ["gpu", "instance"])
def test_hardware_is_described_in_plain_words(change, key, value):
    load = change("hardware.yaml", lambda content: content["gce-t4"].update({key: value}))
    with pytest.raises(InputError, match=f"gce-t4: {key}"):
        load()


@pytest.mark.parametrize("value", ["a{x}", "a\nb", "a\x1bb"])
@pytest.mark.parametrize("key", ["stage", "price_book", "python", "data", "schedule"])
def test_a_path_in_the_configuration_is_one_that_snakemake_leaves_as_it_is(key, value):
    settings = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    inner = {"python": "torch", "data": "mirror", "schedule": "repository"}.get(key)
    settings[key] = settings[key] | {inner: value} if inner else value
    with pytest.raises(InputError, match=f"config: {key}.*is not a path or an address"):
        wanted.read(settings)


@pytest.mark.parametrize("value", ["../../x", "..", "/etc/x", "a/b", "-x", ".x", "", "x\n"])
@pytest.mark.parametrize("part", ["hardware", "workload", "framework", "variant"])
def test_a_record_names_no_place_but_its_own(value, part):
    parts = {"hardware": "a", "workload": "b", "framework": "c", "variant": "d", "trial": 1}
    with pytest.raises(InputError, match="is no part of a run"):
        RunName(**parts | {part: value}).path(Path("results/runs"))


def test_a_record_from_elsewhere_is_written_nowhere_else(tmp_path, record):
    record["run"]["workload"] = "../../../outside"
    file = tmp_path / "there/local/mnist_mlp/pytorch/default-1.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(record))
    into = tmp_path / "deep/down/here/runs"
    done = script("merge", tmp_path / "there", "--records", into, check=False, cwd=tmp_path)
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
    found = []
    for path in sorted((ROOT / "rules").glob("*.smk")):
        for block in re.findall(r"shell:\n((?:\s+\".*\"\n)+)", path.read_text()):
            command = "".join(ast.literal_eval(line.strip()) for line in block.splitlines())
            found += re.findall(r"(?<!\{)\{([^{}]+)\}(?!\})", command)
    assert [field for field in found if not field.endswith(":q")] == []
    assert len(found) > 30


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
    written = reruns.render(reruns.Rerun(*given, 'img"', ["workloads=a;touch pwn"], 30))
    job = yaml.safe_load(written["cronjob.yaml"])
    (container,) = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == 'img"'
    (tmp_path / "epochcost").mkdir()
    path = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin"}
    for text in (written["vm.sh"], container["args"][0]):
        subprocess.run(["bash", "-c", text], cwd=tmp_path, env=path, timeout=60)
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
    done = script("remote", "--", "-oProxyCommand=touch pwn", "gce-t4", check=False)
    refused(done, "is no name or address of a host")


def test_text_is_shown_as_it_is():
    assert markdown.text("<script>alert(1)</script>") == "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert markdown.row(["a|b", "[x](javascript:y)", "`c`", "d\ne", "\x1b[31m"]) == (
        "| a\\|b | \\[x\\](javascript:y) | \\`c\\` | d e | ?\\[31m |"
    )
    table = pd.read_csv(ROOT / "tests/outside/targets.csv")
    assert "<b>" in table.workload[0]
    assert "<b>" not in quality.targets_markdown(table)


def test_a_training_gets_the_packages_of_its_environment(tmp_path):
    """scripts/start.py with a Python that says what numpy it would train with."""
    other = tmp_path / "other/numpy/__init__.py"
    other.parent.mkdir(parents=True)
    other.write_text("__version__ = 'of PYTHONPATH'\n")
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{sys.executable} -c 'import numpy; print(numpy.__version__)'\n")
    python.chmod(0o755)
    ready = {
        "workloads": {"mnist_mlp": {"data": "data", "weights": []}},
        "pythons": {"pytorch": str(python)},
    }
    files.write_json(tmp_path / "ready.json", ready)
    hostile = {"PYTHONPATH": str(other.parents[1]), "PYTHONHOME": sys.base_prefix}
    done = script("start", tmp_path / "ready.json", "mnist_mlp/pytorch/default-1", **hostile)
    assert done.stdout.strip() not in ("", "of PYTHONPATH")


def test_snakemake_forgets_the_users_python_for_all_jobs(tmp_path):
    clone = make_clone(tmp_path / "epochcost")
    (clone.folder / "scripts/runs.py").write_text(
        "import os\nprint([name for name in os.environ if name.startswith('PYTHON')])\n"
    )
    hostile = {"PYTHONPATH": str(tmp_path / "nothing"), "PYTHONWARNINGS": "error"}
    clone.snakemake("runs", "--config", "data={source: synthetic}", check=False, **hostile)
    assert (clone.folder / "logs/runs.log").read_text() == "[]\n"


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
    names = ("PIP_USER", "PYTHONPATH", "PYTHONHOME", "UV_OVERRIDE", "UV_CONSTRAINT")
    done = subprocess.run(
        ["make", "-f", tmp_path / "show.mk", "show"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)} | dict.fromkeys(names, "/x"),
        capture_output=True,
        text=True,
    )
    seen = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert {name: seen[name] for name in names if name in seen} == {"PIP_USER": "0"}


def test_an_environment_is_made_of_its_pins_whatever_is_set(monkeypatch):
    """What is here already is enough, unless uv looks at what other projects override."""
    monkeypatch.setenv("UV_OVERRIDE", "/nowhere/overrides.txt")  # with which uv fails
    words = ["--dry-run", "--offline", "--python", sys.executable, "numpy"]
    environments.uv("pip", "install", *words)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a clone away")
def test_the_commit_of_somebody_elses_clone_is_known(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("1")
    known = {"commit": commit(tmp_path), "dirty": False}
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
