"""How Snakemake is called, checked before it reads that: its own answers are tracebacks.

The profile that Snakemake always loads (profiles/default) calls `begin`, the Snakefile the rest.
"""

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from epochcost import files, home
from epochcost.errors import SIGNATURE, InputError, nearest, one_line, short

_SCHEMA = Path(__file__).resolve().parents[2] / "config/schemas/config.schema.json"
_CONFIG, _CONFIG_FILES = ("--config", "-C"), ("--configfile", "--configfiles")
_PROGRAMS = ("snakemake", "__main__.py")
# Settings that one target uses: all others would be made without a word of them.
_OF_ONE_TARGET = {"workload": "advise", "format": "table", "schedule": "schedule"}
_KEY = re.compile(r"[a-zA-Z_][\w-]*\w")


def begin(words: Sequence[str]) -> None:
    """End the call with one line if its words, or the folder, are none that Snakemake can use.

    Args:
        words: those after `snakemake`.
    """
    try:
        check_folder(Path.cwd())
        check_words(words)
        home.make_usable(Path.cwd() / ".snakemake")
    except (InputError, OSError) as error:
        sys.exit(f"{SIGNATURE}: {one_line(error)}")


# Options of Snakemake's with which it runs no job of the workflow.
_LOOKS = {
    *("-n", "--dry-run", "--dryrun", "--dag", "--rulegraph", "--filegraph", "--d3dag", "--lint"),
    *("-l", "--list", "--list-rules", "--lt", "--list-target-rules", "--report", "--archive"),
    *("-S", "--summary", "-D", "--detailed-summary", "--lc", "--list-changes", "--li", "--lp"),
    *("--list-input-changes", "--list-params-changes", "--lu", "--list-untracked", "--unlock"),
    *("--containerize", "--export-cwl", "--generate-unit-tests", "--cleanup-metadata"),
    *("--list-conda-envs", "--conda-cleanup-envs", "--conda-create-envs-only"),
    *("--delete-all-output", "--delete-temp-output"),
}


def runs_jobs(command: Sequence[str], dryrun: bool) -> bool:
    """Whether a call will run jobs. Only then may reading the workflow change or ask anything.

    Args:
        command: the whole call.
        dryrun: whether Snakemake says that it is a dry run.
    """
    program, *words = command
    asked = {word.partition("=")[0] for word in words}
    is_snakemake = Path(program).name in _PROGRAMS
    return is_snakemake and not dryrun and asked.isdisjoint(_LOOKS)


def executor_of(words: Sequence[str]) -> str | None:
    """What a call's words, and its profiles, send jobs to; None for this machine."""
    from snakemake import cli

    with contextlib.redirect_stderr(io.StringIO()):  # which profiles there are was said before
        _, arguments = cli.parse_args(list(words))
    return arguments.executor if arguments.executor not in (None, "local") else None


def check_folder(folder: Path) -> None:
    """Refuse a folder whose path Snakemake, or a search path of programs, takes apart."""
    for sign, why in (
        ("{", "Snakemake puts values in place of braces"),
        ("}", "Snakemake puts values in place of braces"),
        (os.pathsep, "it divides the folders of a search path"),
        ("\n", "commands end there"),
    ):
        if sign in str(folder):
            raise InputError(f"{folder}: move the clone to a path without {sign!r}; {why}")


def check_words(words: Sequence[str]) -> None:
    """Refuse what follows --config and --configfile where Snakemake would stumble, or drop a part.

    Raises:
        InputError: one is given twice, an entry is no `key=value`, a file cannot be read.
    """
    for names in (_CONFIG, _CONFIG_FILES):
        given = list(_values(words, names))
        if len(given) > 1:
            raise InputError(
                f"{names[0]} is given twice, and Snakemake uses only the last; write everything "
                "after one"
            )
        for value in given[0] if given else ():
            if names is _CONFIG_FILES:
                check_file(Path(value))
        if names is _CONFIG and given:
            _check_entries(given[0])
    for name in _values(words, ("--profile",)):
        for word in name:
            # A name is a link in the root to a profile below profiles/.
            for path in (Path(word, "hardware.yaml"), Path("profiles", word, "hardware.yaml")):
                if path.exists():
                    check_file(path)


def given(words: Sequence[str], keys: Iterable[str]) -> list[str]:
    """The entries of --config that set some keys, as they were written."""
    return [entry for entry in _entries(words) if entry.partition("=")[0] in keys]


def _entries(words: Sequence[str]) -> list[str]:
    """What follows --config."""
    return [entry for value in _values(words, _CONFIG) for entry in value]


def check_file(path: Path) -> None:
    """Refuse a file of settings that Snakemake cannot read, or not as this package does.

    Raises:
        InputError: one line that says where and why.
    """
    content = files.read_yaml(path)
    if not isinstance(content, dict) or not content:
        raise InputError(f"{path}: it holds no keys; config/README.md says which there are")
    from snakemake.common.configfile import load_configfile

    try:
        load_configfile(path)
    except Exception as error:  # of any kind: Snakemake's reader knows other types than ours
        raise InputError(f"{path}: Snakemake cannot read it: {one_line(error)}") from None


def check_targets(
    command: Sequence[str], targets: set[str], many: set[str], made: Callable[[str], bool]
) -> None:
    """Refuse to make what no rule makes.

    Args:
        command: the whole call; one that is not of the program `snakemake` is not looked at.
        targets: names and files that can be asked for.
        many: rules that make many files, by wildcards; they cannot be asked for.
        made: tells whether a rule makes a file.

    Raises:
        InputError: it names the nearest target; or the one that alone uses a setting.
    """
    program, *words = command
    for key, target in _OF_ONE_TARGET.items():
        asked = given(words, [key]) if Path(program).name in _PROGRAMS else []
        if asked and target not in words:
            instead = short(f"; to train it, say {asked[0].replace(key, 'workloads', 1)}")
            raise InputError(
                f"--config {short(asked[0])}: only `snakemake {target}` uses it"
                f"{instead if key == 'workload' else ''}"
            )
    settings = _entries(words)
    plain = [word for word in words if not (word[:1] == "-" or word.isdigit() or word in settings)]
    if Path(program).name not in _PROGRAMS or targets.issuperset(plain):
        return
    # Snakemake tells the Snakefile nothing of what it was asked for; its parser takes a while.
    from snakemake import cli

    asked, _ = cli.get_argument_parser().parse_known_args(list(words), env_vars={})
    named = {*asked.targets, *asked.until, *asked.omit_from, *asked.forcerun}
    for name in sorted(named - targets):
        if (name in many and name not in asked.targets) or os.path.exists(name) or made(name):
            continue
        alike = [target for target in targets if ("/" in target) == ("/" in name)]
        if name.partition("=")[0] in files.read_json(_SCHEMA)["properties"]:
            raise InputError(f"{short(name)}: settings follow --config, after all targets")
        what = f"nothing makes '{short(name)}'"
        if name in many:
            what = f"'{name}' makes many files, one by one, and is no target"
        raise InputError(f"{what}; {nearest(name, alike)}")


def _values(words: Sequence[str], names: tuple[str, ...]) -> Iterator[list[str]]:
    """What follows each of an option's mentions."""
    for place, word in enumerate(words):
        name, joined, value = word.partition("=")
        if joined and name in names and name.startswith("--"):
            yield [value]
        elif word in names:
            following = words[place + 1 :]
            end = next((n for n, one in enumerate(following) if one[:1] == "-"), len(following))
            yield list(following[:end])
        elif word[:2] in names and word[1:2] != "-":  # -Cruns=2
            yield [word[2:]]


def _check_entries(entries: list[str]) -> None:
    """Refuse entries of --config that are no `key=value`, or of which one would be dropped."""
    known = files.read_json(_SCHEMA)["properties"]
    seen: dict[str, str] = {}
    for entry in entries:
        key, equals, value = entry.partition("=")
        if not equals:
            said = f"it needs a value, such as {key}=..." if key in known else nearest(key, known)
            raise InputError(
                f"--config {short(entry)}: it is not key=value (a target comes before "
                f"--config); {said}"
            )
        if not _KEY.fullmatch(key):
            raise InputError(f"--config: unknown key '{short(key)}'; {nearest(key, known)}")
        is_part = value[:1] in ("{", "[")
        if is_part:
            files.parse_yaml(value, f"--config {key}")
        if key in seen and not (is_part and seen[key][:1] == "{"):
            raise InputError(f"--config: {key} is given twice, and only the last would count")
        seen[key] = value
