"""Mutated files of settings and command lines: one line, a status, no traceback, no hang.

How many examples: EPOCHCOST_FUZZ (100).
"""

import importlib
import io
import os
import random
import shutil
import string
import sys
import time
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from unittest import mock

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epochcost import ROOT, call, errors, files
from epochcost.errors import InputError
from epochcost.frameworks import tuning
from epochcost.models import recipes
from epochcost.plan import wanted

sys.path.insert(0, str(ROOT / "scripts"))

MUTANTS = settings(
    max_examples=int(os.environ.get("EPOCHCOST_FUZZ", "100")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
# Longer than any answer to bad input takes on a busy machine.
HANGS_S = 30
FILES = ["config.yaml", "hardware.yaml", "workloads.yaml", "datasets.yaml"]
ODD = [
    *("$(touch pwn)", "; touch pwn", "../../x", "/etc/passwd", "<script>", "{x}", "-rf", "", " "),
    *("x\ny", "x\x00y", "\x1b[31m", "é", "\u202e", "9" * 5000, "x" * 5000, "1e999", "nan", "-1"),
    *("0", "true", "null", "~", "2017-99-99", "0x", "!!int x", "&a [*a]", "*a", "[", "{a: b", "- "),
    *("'", '"', "%", "@", "!!python/object:os.system x", "<<: 3", "? [a]", "1: 2", "'\\ud800'"),
]
values = st.one_of(
    st.sampled_from(ODD),
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.one_of(st.text(max_size=5), st.integers()), st.integers(), max_size=3),
)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A copy of config/ in a folder of its own."""
    folder = tmp_path_factory.mktemp("fuzz")
    shutil.copytree(ROOT / "config", folder / "config")
    (folder / "tuned.yaml").write_text(
        yaml.safe_dump({"m-2-cores": {"mnist_mlp": {"pytorch": {
            "0a1b2c3d-complete": {"settings": {"compile": True}, "version": "torch 2"}}}}})
    )  # fmt: skip
    return folder


def places(content, here=()):
    """The paths of all values in YAML."""
    parts = content.items() if isinstance(content, dict) else []
    parts = enumerate(content) if isinstance(content, list) else parts
    for key, part in parts:
        yield (*here, key)
        yield from places(part, (*here, key))


def with_value(content, place, value, how: str):
    """The content with something else in one place."""
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    key = place[-1]
    if how == "drop":
        del inner[key]
    elif how == "rename" and isinstance(inner, dict):
        inner[value if isinstance(value, str | int | float | None) else str(value)] = inner.pop(key)
    else:
        inner[key] = value
    return content


def with_text(text: str, rng: random.Random, odd: str) -> bytes:
    """The text with something done to it that people and editors do, and others may do."""
    encoded = text.encode()
    place = rng.randrange(len(encoded))
    match rng.randrange(8):
        case 0:
            return encoded[:place]
        case 1:
            return encoded[:place] + odd.encode("utf-8", "replace") + encoded[place:]
        case 2:
            return text.encode("utf-16")
        case 3:
            return encoded[:place] + b"\xe9" + encoded[place:]
        case 4:
            return text.replace("  ", "\t").encode()
        case 5:
            lines = text.splitlines()
            lines.insert(rng.randrange(len(lines)), lines[rng.randrange(len(lines))])
            return "\n".join(lines).encode()
        case 6:
            return b"a: " + b"[{"[rng.randrange(2) :][:1] * rng.choice([60, 5000, 200_000])
        case _:
            return bytes(rng.randrange(256) for _ in range(rng.randrange(200)))


def answered(action) -> None:
    """What an action says to bad input is one printable line, soon."""
    begin = time.monotonic()
    try:
        action()
    except (InputError, OSError) as error:
        line = errors.one_line(error)
        assert line.isprintable() and 0 < len(line) <= errors.LONGEST_LINE
    assert time.monotonic() - begin < HANGS_S


def load_all(root: Path) -> None:
    """Everything that reads the files of settings."""
    wanted.read(root=root)
    recipes.load(root / "config/workloads.yaml")


@MUTANTS
@given(data=st.data())
def test_a_value_is_another(root, data):
    name = data.draw(st.sampled_from(FILES))
    path = root / "config" / name
    kept = path.read_text()
    content = yaml.safe_load(kept)
    place = data.draw(st.sampled_from(list(places(content))))
    how = data.draw(st.sampled_from(["set", "set", "drop", "rename"]))
    changed = with_value(content, place, data.draw(values), how)
    path.write_text(yaml.safe_dump(changed, allow_unicode=True), encoding="utf-8", errors="replace")
    try:
        answered(lambda: load_all(root))
        if name == "config.yaml":
            answered(lambda: call.check_file(path))
    finally:
        path.write_text(kept)


@MUTANTS
@given(seed=st.integers(), odd=st.sampled_from(ODD), name=st.sampled_from([*FILES, "tuned.yaml"]))
def test_a_text_is_damaged(root, seed, odd, name):
    path = root / name if name == "tuned.yaml" else root / "config" / name
    kept = path.read_bytes()
    path.write_bytes(with_text(kept.decode(), random.Random(seed), odd))
    case = tuning.Case("m-2-cores", "mnist_mlp", "pytorch", "0a1b2c3d", "complete")
    try:
        if name == "tuned.yaml":
            answered(lambda: tuning.settings_of("tuned", path, case))
            answered(lambda: tuning.find(path, case))
        else:
            answered(lambda: load_all(root))
            answered(lambda: call.check_file(path))
        answered(lambda: files.read_yaml(path))
    finally:
        path.write_bytes(kept)


@MUTANTS
@given(data=st.data())
def test_settings_as_snakemake_merges_them(data):
    """Of any types, as from other configuration files and from the command line."""
    content = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    place = data.draw(st.sampled_from(list(places(content))))
    how = data.draw(st.sampled_from(["set", "set", "drop", "rename"]))
    changed = with_value(content, place, data.draw(values), how)
    answered(lambda: wanted.read(changed))


# No word of a call has a NUL in it.
WORDS = st.lists(
    st.one_of(
        st.sampled_from(["--config", "-C", "--configfile", "--profile", "-n", "advise", "--"]),
        st.sampled_from(["runs=2", "data={source: auto}", "data=[", "workloads", "x=", "=x", "=="]),
        st.sampled_from([f"data={odd}" for odd in ODD] + ODD),
        st.text(max_size=10),
    ).filter(lambda word: "\x00" not in word),
    max_size=6,
)


@MUTANTS
@given(words=WORDS)
def test_the_words_of_a_call(words):
    answered(lambda: call.check_words(words))


@MUTANTS
@given(words=WORDS)
def test_the_targets_of_a_call(words):
    def check():
        targets = {"advise", "report", "results/report.html"}
        # Snakemake's own parser has refused the others, and its answer to a word is not ours.
        with redirect_stderr(io.StringIO()), suppress(SystemExit):
            call.check_targets(["snakemake", *words], targets, {"fetch"}, lambda path: "x" in path)

    answered(check)


# Those that end after they have read what they were given, or write below a folder of the test.
SCRIPTS = {
    "train": ["mnist_mlp", "pytorch", "--data", "nowhere"],
    "start": ["nowhere.json", "mnist_mlp/pytorch/default-1"],
    "fetch": ["mnist", "--source", "mirror", "--mirror", "nowhere", "--raw", "raw"],
    "prepare": ["mnist", "--raw", "raw", "--output", "made"],
    "merge": ["nowhere"],
    "advise": ["--workload", "mnist_mlp", "--tables", "nowhere", "--deadline", "1h"],
    "quality": ["--tables", "nowhere"],
    "figure": ["mnist_mlp", "--tables", "nowhere"],
    "estimate": ["nowhere.csv", "--scale", "full"],
    "environment": ["nowhere"],
    "tune": ["mnist_mlp", "pytorch", "--data", "nowhere", "--records", "tuning"],
    "schedule": ["gce-t4", "--up", "1h", "--repository", "r", "--records", "/r", "--image", "i",
                 "--disk-gib", "1", "--disk-usd-per-gib-month", "1", "--rule-usd-per-month", "1",
                 "--output", "schedule"],
}  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS)
@settings(
    max_examples=max(5, MUTANTS.max_examples // 10),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_a_command_line(script, data, tmp_path_factory):
    words = list(SCRIPTS[script])
    options = [word for word in words if word.startswith("--")]
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(words)))
        odd = st.one_of(
            st.sampled_from([one for one in ODD if "\x00" not in one]),
            st.sampled_from([*options, "--nonsense", "-x", "--seed", "--trial=0", "--scale=ful"]),
            st.text(string.printable, max_size=10),
        )
        words[place : place + data.draw(st.integers(0, 1))] = [data.draw(odd)]
    folder = tmp_path_factory.getbasetemp() / "lines"
    folder.mkdir(exist_ok=True)
    module = importlib.import_module(script)
    said, begin = io.StringIO(), time.monotonic()
    before = Path.cwd()
    os.chdir(folder)
    try:
        with (
            mock.patch.object(sys, "argv", [f"{script}.py", *words]),
            redirect_stdout(said),
            redirect_stderr(said),
            pytest.raises(SystemExit) as ended,
        ):
            errors.run(module.main)
    finally:
        os.chdir(before)
    assert time.monotonic() - begin < HANGS_S
    if isinstance(ended.value.code, str):
        line = ended.value.code
        assert line.startswith("epochcost: ") and line.isprintable() and len(line) < 1000
    assert not list(folder.rglob("pwn"))
