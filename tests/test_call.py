"""What Snakemake reads before the workflow does: words of the call, settings, the folder."""

import logging
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from clones import BIN, make_clone

from epochcost import ROOT, call, home, terminal
from epochcost.errors import InputError

BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 30)
)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--config", "workloads"], "--config workloads: it is not key=value .* workloads="),
        (["-C", "wrkloads"], "it is not key=value .*did you mean 'workloads'"),
        (["--config", "runs=2", "advise"], "a target comes before --config"),
        (["--config", "runs=2", "--config", "seed=3"], "--config is given twice"),
        (["--config=runs=2", "-C", "seed=3"], "--config is given twice"),
        (["--configfile", "a", "--configfiles", "b"], "--configfile is given twice"),
        (["--config", "runs=2", "runs=3"], "runs is given twice"),
        (["--config", "1x=3"], "unknown key '1x'"),
        (["--config", "workloads=[a"], "--config workloads, line"),
        (["--config", "data={source: auto, source: mirror}"], "'source' is given twice"),
        (["--config", f"data={'[' * 99}"], "nested more than 50 deep"),
        (["--configfile", "/nowhere.yaml"], "/nowhere.yaml"),
    ],
)
def test_words_at_which_snakemake_stumbles_or_that_it_drops_are_refused(words, said):
    with pytest.raises((InputError, OSError), match=said):
        call.check_words(words)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--config"],
        ["advise", "--config", "workload=mnist_mlp", "deadline=1h", "-n"],
        ["-Cruns=2"],
        ["--config", "data={source: auto}", "data={mirror: /x}"],  # which Snakemake merges
        ["--config", "python={'torch': '/x'}", "price=0.10", "max_cost_usd="],
        ["--configfile", str(ROOT / "config/config.yaml"), "--config", "runs=2"],
        ["--profile", "slurm", "--cores", "2"],
    ],
)
def test_words_that_snakemake_understands_are_left_alone(words):
    call.check_words(words)


@pytest.mark.parametrize("profile", sorted((ROOT / "profiles").iterdir()), ids=lambda p: p.name)
def test_the_shipped_profiles_can_be_read(profile):
    call.check_words(["--profile", str(profile)])
    call.check_words(["--profile", profile.name])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"workloads: [\xe9]", "not in UTF-8"),
        (b"", "it holds no keys"),
        (b"- a", "it holds no keys"),
        (b"a:\n\tb: 1", "line 2"),
        (b"a: " + b"[" * 5000 + b"]" * 5000, "nested more than 50 deep"),
        (b"[" * 200_000, "nested more than 50 deep"),  # enough to fill the stack of a parser in C
        (BOMB.encode(), "stands for more than 100000 values"),
        (b"a: &x [*x]", "holds itself"),
        (b"1: 2", "the key '1' is no text"),
        (b"a: !!int x", "a value cannot be read"),
        (b"a: 2017-99-99", "Snakemake cannot read it: month must be"),  # it reads dates
        (b"a: \x1b[31m", "control characters are not allowed"),
    ],
)
def test_a_file_of_settings_that_cannot_be_read_is_named_in_one_line(tmp_path, content, said):
    path = tmp_path / "settings.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"settings.yaml.*{said}"):
        call.check_file(path)


def test_a_file_as_windows_writes_it_is_read(tmp_path):
    path = tmp_path / "settings.yaml"
    path.write_bytes("runs: 2\r\nscale: full\r\n".encode("utf-8-sig"))
    call.check_file(path)


@pytest.mark.parametrize("name", ["br{x}ace", "a}b", "co:lon", "new\nline"])
def test_a_folder_that_snakemake_cannot_work_in_is_refused(name):
    with pytest.raises(InputError, match="move the clone to a path without"):
        call.check_folder(Path("/home", name))


def test_a_home_that_cannot_be_written_gets_its_caches_elsewhere(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    home.make_usable(tmp_path / "work")
    assert os.environ["HOME"] == str(tmp_path / "work/home")
    assert (tmp_path / "work/home").is_dir()
    monkeypatch.setenv("HOME", "/proc")  # which nobody can write to
    monkeypatch.setattr(os, "access", lambda *_: False)
    home.make_usable(tmp_path / "work")
    assert os.environ["HOME"] == "/proc"
    assert os.environ["XDG_CACHE_HOME"] == str(tmp_path / "work/cache")


def test_what_a_call_was_given_can_be_said_again():
    words = ["report", "--config", "price=0.10", "data={source: auto}", "runs=2", "-n", "-Cseed=1"]
    assert call.given(words, ["price", "data", "seed"]) == [
        *("price=0.10", "data={source: auto}", "seed=1"),
    ]
    assert call.given(["price=0.10"], ["price"]) == []


# Real calls, for what only Snakemake itself shows.


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the workflow."""
    return make_clone(tmp_path_factory.mktemp("call") / "epochcost")


def ended(done: subprocess.CompletedProcess) -> str:
    """The line with which a call ended, that had nothing to say but it."""
    assert done.returncode == 1, done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith(IGNORED)]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("epochcost: ")
    assert len(lines[0]) < 1000
    return lines[0]


IGNORED = ("Using ", "Config file ", "epochcost: mnist: its server cannot be reached")
SYNTHETIC = ("--config", "data={source: synthetic}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-n", "--config", "workloads"], "it is not key=value"),
        (["-n", "--config", "runs=2", "--config", "seed=3"], "--config is given twice"),
        (["-n", "--config", "workload=mnist_mlp"], "to train it, say workloads=mnist_mlp"),
        (["-n", "--config", "format=latex"], "only `snakemake table` uses it"),
        (["-n", "table", "format=latex"], "format=latex: settings follow --config"),
        (["advize", *SYNTHETIC], "nothing makes 'advize'; did you mean 'advise'?"),
        (["fetch", *SYNTHETIC], "'fetch' makes many files, one by one, and is no target"),
        (["results/reprt.html", *SYNTHETIC], "did you mean 'results/report.html'?"),
        (["-n", "--until", "figuer", *SYNTHETIC], "nothing makes 'figuer'; did you mean 'figures'"),
        (["x" * 5000, *SYNTHETIC], "nothing makes 'xxx"),
        (["a\x1b[31mb", *SYNTHETIC], r"nothing makes 'a?[31mb'"),
        (["--configfile", "/nowhere.yaml"], "/nowhere.yaml: No such file"),
    ],
)
def test_a_call_that_cannot_be_made_ends_with_one_line(folder, words, said):
    assert said in ended(folder.snakemake(*words, check=False))


@pytest.mark.parametrize("target", ["runs", "data/arrays/mnist/synthetic/manifest.json"])
def test_what_can_be_made_is(folder, target):
    folder.snakemake("-n", target, *SYNTHETIC)
    folder.snakemake("-n", "-R", "figures", "--", target, *SYNTHETIC[:0])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"workloads: [\xe9]", "not in UTF-8"),
        (b"", "it holds no keys"),
        (b"a: " + b"[" * 5000, "nested more than 50 deep"),
        (BOMB.encode(), "stands for more than"),
        (b"x: 2017-99-99", "Snakemake cannot read it"),
    ],
)
def test_a_configuration_that_cannot_be_read_ends_with_one_line(folder, content, said):
    path = folder.folder / "config/config.yaml"
    kept = path.read_bytes()
    path.write_bytes(content)
    try:
        line = ended(folder.snakemake("-n", check=False))
        # Also without the profile that looks at the words of the call.
        bare = folder.snakemake("-n", "--workflow-profile", "none", "--cores", "1", check=False)
    finally:
        path.write_bytes(kept)
    assert re.match(rf"epochcost: config/config.yaml.*{said}", line)
    assert ended(bare) == line


def test_braces_in_the_path_of_the_clone_are_said_before_anything_else(folder, tmp_path):
    shutil.copytree(folder.folder, tmp_path / "br{x}ace", symlinks=True)
    done = subprocess.run(
        [BIN / "snakemake", "-n", "runs"],
        cwd=tmp_path / "br{x}ace",
        capture_output=True,
        text=True,
    )
    assert "br{x}ace: move the clone to a path without '{'" in ended(done)
    made = subprocess.run(
        ["make", "-n", "run"], cwd=tmp_path / "br{x}ace", capture_output=True, text=True
    )
    assert made.returncode and "without braces and colons" in made.stderr


def as_nobody(command: list, folder: Path, **environment: str) -> subprocess.CompletedProcess:
    """Run as a user ID without a name, who may read everything and write only to `folder`."""
    if os.getuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become another user (setpriv)")
    subprocess.run(["chown", "-R", "12345:12345", folder], check=True)
    who = ["--reuid=12345", "--regid=12345", "--clear-groups"]
    able = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    known = {"PATH": os.environ["PATH"]} | environment
    return subprocess.run(
        ["setpriv", *who, *able, *command],
        cwd=folder,
        env=known,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
def own_folder(tmp_path):
    """A copy of the workflow for a test that gives it away."""
    made = make_clone(tmp_path / "epochcost")
    for parent in list(tmp_path.parents)[:2]:
        parent.chmod(0o755)
    tmp_path.chmod(0o755)
    return made


@pytest.mark.parametrize("place", ["/nonexistent", "/proc"])
def test_a_user_without_name_and_home_can_work(own_folder, place):
    words = ["runs", "--cores", "1", *SYNTHETIC]
    done = as_nobody([BIN / "snakemake", *words], own_folder.folder, HOME=place)
    assert done.returncode == 0, done.stderr
    assert (own_folder.folder / "results/tables/runs.csv").exists()


def test_make_gives_a_home_to_those_without_one(own_folder):
    show = own_folder.folder / "show.mk"
    show.write_text("include Makefile\nshow:\n\t@env\n")
    done = as_nobody(["make", "-f", "show.mk", "show"], own_folder.folder)
    assert f"HOME={own_folder.folder}/.snakemake/home\n" in done.stdout
    assert (own_folder.folder / ".snakemake/home").is_dir()


def test_trainings_after_the_first_say_how_long_all_will_take(monkeypatch):
    seconds = iter([100.0, 160.0, 190.0])
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(seconds))
    shown = terminal.Lines(logging.Formatter("%(message)s"))
    said = [
        shown.format(
            logging.makeLogRecord(
                {
                    "msg": f"Job 3: Training mnist_mlp/x/y ({n} of 3)",
                    "levelno": logging.INFO,
                    "rule_name": rule,
                }
            )
        )
        for n, rule in ((1, "train_local"), (2, "train_local"), (3, "train_local"), (3, "train_x"))
    ]
    assert said == [
        "Job 3: Training mnist_mlp/x/y (1 of 3)",
        "Job 3: Training mnist_mlp/x/y (2 of 3, about 2 min left)",
        "Job 3: Training mnist_mlp/x/y (3 of 3, about 45 s left)",
        "Job 3: Training mnist_mlp/x/y (3 of 3)",
    ]
