"""Damaged files of settings and command lines: one line, a status, no traceback, no hang.

How many examples: EPOCHCOST_FUZZ (100).
"""

import importlib
import io
import shutil
import sys
import time
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from unittest import mock

import pytest
import yaml
from fuzz import damage
from fuzz.damage import fewer, fuzzed
from hypothesis import given
from hypothesis import strategies as st

from epochcost import ROOT, call, errors, files
from epochcost.errors import InputError
from epochcost.frameworks import tuning
from epochcost.models import recipes
from epochcost.plan import wanted

sys.path.insert(0, str(ROOT / "scripts"))

# Longer than any answer to bad input takes on a busy machine.
HANGS_S = 30
FILES = ["config/config.yaml", "config/hardware.yaml", "config/workloads.yaml"]
FILES += ["config/datasets.yaml", "tuned.yaml"]
TUNED = {"0a1b2c3d-complete": {"settings": {"compile": True}, "version": "torch 2"}}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A copy of config/ in a folder of its own."""
    folder = tmp_path_factory.mktemp("fuzz")
    shutil.copytree(ROOT / "config", folder / "config")
    tuned = {"m-2-cores": {"mnist_mlp": {"pytorch": TUNED}}}
    (folder / "tuned.yaml").write_text(yaml.safe_dump(tuned))
    return folder


def answered(action, *given) -> None:
    """What an action says to bad input is one printable line, soon."""
    begin = time.monotonic()
    try:
        action(*given)
    except (InputError, OSError) as error:
        line = errors.one_line(error)
        assert line.isprintable() and 0 < len(line) <= errors.LONGEST_LINE
    assert time.monotonic() - begin < HANGS_S


@fuzzed
@given(name=st.sampled_from(FILES), value=damage.values, seed=damage.seeds, text=st.booleans())
def test_a_damaged_file(root, name, value, seed, text):
    path = root / name
    kept = path.read_bytes()
    case = tuning.Case("m-2-cores", "mnist_mlp", "pytorch", "0a1b2c3d", "complete")
    if text:
        path.write_bytes(damage.of_bytes(kept, seed))
    else:
        changed = damage.of_values(yaml.safe_load(kept), value, seed)
        written = yaml.safe_dump(changed, allow_unicode=True)
        path.write_text(written, encoding="utf-8", errors="replace")
    try:
        answered(files.read_yaml, path)
        if name == "tuned.yaml":
            answered(tuning.settings_of, "tuned", path, case)
            answered(tuning.find, path, case)
        else:
            answered(wanted.read, None, root)
            answered(recipes.load, root / "config/workloads.yaml")
            answered(call.check_file, path)
    finally:
        path.write_bytes(kept)


@fuzzed
@given(value=damage.values, seed=damage.seeds)
def test_settings_as_snakemake_merges_them(value, seed):
    """Of any types, as from other configuration files and from the command line."""
    content = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    answered(wanted.read, damage.of_values(content, value, seed))


# No word of a call has a NUL in it.
ODD = [word for word in damage.WORDS if "\x00" not in word]
CALLS = st.lists(
    st.sampled_from(["--config", "-C", "--configfile", "--profile", "-n", "advise", "--", "runs=2"])
    | st.sampled_from(["data={source: auto}", "data=[", "workloads", "x=", "=x", "==", *ODD])
    | st.sampled_from([f"data={odd}" for odd in ODD])
    | st.text(max_size=10).filter(lambda word: "\x00" not in word),
    max_size=6,
)


@fuzzed
@given(words=CALLS)
def test_the_words_of_a_call(words):
    def check_targets():
        targets = {"advise", "report", "results/report.html"}
        # Snakemake's own parser has refused the others, and its answer to a word is not ours.
        with redirect_stderr(io.StringIO()), suppress(SystemExit):
            call.check_targets(["snakemake", *words], targets, {"fetch"}, lambda path: "x" in path)

    answered(call.check_words, words)
    answered(check_targets)


# Those that end after they have read what they were given, or write below a folder of the test.
SCRIPTS = {
    "train": ["mnist_mlp", "pytorch", "--data", "nowhere"],
    "start": ["nowhere.json", "mnist_mlp/pytorch/default-1"],
    "fetch": ["mnist", "--source", "mirror", "--mirror", "nowhere", "--raw", "raw"],
    "prepare": ["mnist", "--raw", "raw", "--output", "made"],
    "merge": ["nowhere"],
    "advise": ["--workload", "mnist_mlp", "--tables", "nowhere", "--deadline", "1h"],
    "quality": ["--tables", "nowhere"],
    "figures": ["mnist_mlp", "--tables", "nowhere"],
    "estimate": ["nowhere.csv", "--scale", "full"],
    "environment": ["nowhere"],
    "tune": ["mnist_mlp", "pytorch", "--data", "nowhere", "--records", "tuning"],
    "schedule": ["gce-t4", "--up", "1h", "--repository", "r", "--records", "/r", "--image", "i",
                 "--disk-gib", "1", "--disk-usd-per-gib-month", "1", "--rule-usd-per-month", "1",
                 "--output", "schedule"],
}  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS)
@fewer
@given(data=st.data())
def test_a_command_line(script, data, tmp_path_factory):
    words = list(SCRIPTS[script])
    odd = [*ODD, "--nonsense", "-x", "--seed", "--trial=0", "--scale=ful"]
    odd += [word for word in words if word.startswith("--")]
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(words)))
        words[place : place + data.draw(st.integers(0, 1))] = [data.draw(st.sampled_from(odd))]
    folder = Path(tmp_path_factory.getbasetemp(), "lines")
    folder.mkdir(exist_ok=True)
    module, said, begin = importlib.import_module(script), io.StringIO(), time.monotonic()
    with (
        chdir(folder),
        mock.patch.object(sys, "argv", [f"{script}.py", *words]),
        redirect_stdout(said),
        redirect_stderr(said),
        pytest.raises(SystemExit) as ended,
    ):
        errors.run(module.main)
    assert time.monotonic() - begin < HANGS_S
    if isinstance(line := ended.value.code, str):
        assert line.startswith("epochcost: ") and line.isprintable() and len(line) < 1000
    assert not list(folder.rglob("pwn"))
