"""The manual: its commands are run, its words counted, its site builds without a network."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from clones import BIN, git, make_clone

from epochcost import ROOT, files
from epochcost.measure import activity, machine
from epochcost.show.wording import remarks

MOST_WORDS = {"README": 600, "docs": 12_000, "written by hand": 9_500}
MADE = re.compile(r"<!-- made by: .*?<!-- end -->", re.DOTALL)
# A block is one of commands if a line of it calls one of these.
CALLS = re.compile(
    r"(^|[ /])(snakemake|make|dvc|epochcost) |^make$|^snakemake$|python scripts/", re.MULTILINE
)
# How each command of the manual is accounted for.
COMMANDS = files.read_yaml(ROOT / "tests/manual.yaml")


def listed(*patterns: str) -> list[Path]:
    """The files that git tracks, or would."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for name in names.stdout.split() if (path := ROOT / name).is_file()]


PAGES = [ROOT / "README.md", *listed("docs/*.md")]


def commands(page: Path) -> list[str]:
    """The lines of a page's blocks of commands, without comments."""
    blocks = re.findall(r"^```(.*?)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    called = [text for kind, text in blocks if kind in ("", "sh") and CALLS.search(text)]
    lines = [line for text in called for line in text.splitlines()]
    return [line for line in (re.sub(r"(^|\s+)# .*", "", one).strip() for one in lines) if line]


def test_every_command_is_accounted_for_and_no_other():
    wanted = {line for page in PAGES for line in commands(page)}
    found = [line for how in COMMANDS.values() for line in how]
    assert len(wanted) > 40
    assert sorted(found) == sorted(wanted), "tests/manual.yaml says how each is tested"


@pytest.mark.parametrize("node", sorted(set(COMMANDS["tested"].values())))
def test_what_is_said_to_run_a_command_is_a_test(node):
    path, name = node.split("::")
    assert f"\ndef {name}(" in (ROOT / path).read_text()


@pytest.fixture(scope="module")
def clone(tmp_path_factory, pythons):
    """A small clone with generated data, and this checkout's environment as its own."""
    if not (ROOT / ".venv/ready").exists():
        pytest.skip("make setup made no .venv here")
    made = make_clone(tmp_path_factory.mktemp("manual") / "epochcost")
    schedule = yaml.safe_load((made.folder / "config/config.yaml").read_text())["schedule"]
    where = {"up": "1h", "repository": "https://example.org/x", "records": "/records"}
    made.configure(
        workloads=["mnist_mlp"],
        frameworks=["pytorch"],
        data={"source": "synthetic", "mirror": ""},
        schedule=schedule | where | {"hardware": "gce-t4"},
    )
    (made.folder / ".venv").symlink_to(ROOT / ".venv")
    # What the page tells to add.
    page = (ROOT / "docs/how-to/slurm.md").read_text()
    (entry,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    with open(made.folder / "config/hardware.yaml", "a") as catalogue:
        catalogue.write(entry)
    theirs = "hardware_id,price_per_hour,currency,price_kind,as_of,source_id\n"
    (made.folder / "rates.csv").write_text(f"{theirs}gce-t4,0.48,EUR,on_demand,2026-11-01,ours\n")
    made.commit()
    for who in ("AUTHOR", "COMMITTER"):
        made.environment |= {f"GIT_{who}_NAME": "x", f"GIT_{who}_EMAIL": "x@example.org"}
    git(made.folder, "init", "-q", "--bare", "../shared.git")
    git(made.folder, "remote", "add", "origin", "../shared.git")
    git(made.folder, "push", "-q", "-u", "origin", "HEAD")
    return made


@pytest.mark.slow
@pytest.mark.usefixtures("on_all_cores")
def test_commands_run(clone):
    """In the order of tests/manual.yaml, each in the folder that the ones before it left."""
    for line, how in COMMANDS["run"].items():
        command = looking(line) if how == "-n" else line
        if "FILE.jsonl" in line:
            here = machine.facts().id
            command = line.replace("FILE.jsonl", f"local-{here}.jsonl")
        if "their-folder" in line:
            theirs = min(
                (ROOT / "data/measured").glob("*.jsonl"), key=lambda path: path.stat().st_size
            )
            clone.run("python", "scripts/merge.py", str(theirs), "--records", "their-folder")
        command = command.replace("STORE", "../store")
        path = f"{BIN}:{os.environ['PATH']}"
        done = clone.run("/bin/bash", "-c", command, check=False, PATH=path)
        assert not done.returncode, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def looking(line: str) -> str:
    """A command that changes nothing, instead of one that trains."""
    if not line.startswith("make run"):
        return f"{line} -n"
    given = re.search(r'ARGS="(.*)"', line)
    return f'make -o .venv/ready run ARGS="{given[1] if given else ""} -n"'


def test_the_manual_is_short():
    words = {page: len(page.read_text().split()) for page in PAGES}
    by_hand = sum(len(MADE.sub("", page.read_text()).split()) for page in PAGES[1:])
    readme = words.pop(ROOT / "README.md")
    found = {"README": readme, "docs": sum(words.values()), "written by hand": by_hand}
    assert {name: count for name, count in found.items() if count > MOST_WORDS[name]} == {}


def test_the_program_names_only_pages_that_exist():
    named = set()
    for path in listed("scripts", "rules", "Snakefile", "config", "profiles", "envs", "*.md"):
        if path.suffix != ".svg" and path.name != "CHANGELOG.md":
            named |= set(re.findall(r"(?<![\w./-])docs/[\w/-]+\.md", path.read_text()))
    assert "docs/how-to/own-workload.md" in named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_site_builds_and_needs_no_network(tmp_path):
    build = ROOT / ".venvs/docs/bin/sphinx-build"
    if not build.exists():
        pytest.skip("the environment of the manual is not made (make docs makes it)")
    command = [build, "--quiet", "--fail-on-warning", "-d", tmp_path / "trees", ROOT / "docs"]
    done = subprocess.run([*command, tmp_path / "html"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "html").rglob("*.html"))
    assert len(pages) > len(PAGES)
    for page in pages:
        text = page.read_text()
        assert not re.search(r'<(?:script|link|img)\b[^>]*(?:src|href)="(?:https?:)?//', text), page
    for sheet in (tmp_path / "html").rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", sheet.read_text()), sheet


def test_each_page_is_in_the_contents_of_the_site():
    contents = re.findall(r"^[\w-]+(?:/[\w-]+)?$", (ROOT / "docs/README.md").read_text(), re.M)
    pages = {str(page.relative_to(ROOT / "docs").with_suffix("")) for page in PAGES[1:]}
    assert pages - {"README"} == set(contents)


def test_remarks_and_flags_that_are_explained_are_made():
    code = Path(remarks.__file__).read_text().partition("\n}\n")[2]
    for words in remarks.MEANING.keys() - {remarks.MIXED_HOSTS}:
        assert words in code or words.split()[0] in code, words
    seen = {"throttled": 1, "memory_stalled_share": 1, "swapped_mib": 11, "quota_waited_share": 1}
    gpus = [{"held_down_by": ["heat"], "processes_before": 1}]
    pauses = [{"seconds": 9, "begin": 0, "end": 9, "cause": "frozen"}]
    used = {"others": 1, "steal": 1}
    known = activity.noise(used, seen | {"gpus": gpus, "pauses": pauses}, 1).flags
    flags = {*known, *activity.noise(used, {}).flags}
    for name in activity.FLAGS:
        assert any(flag.startswith(name) for flag in flags), name
    assert all(flag.startswith(tuple(activity.FLAGS)) for flag in flags)
