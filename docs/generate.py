"""Print a part of the reference, made of the code: study/generated.py puts it into the pages.

python docs/generate.py tables
"""

import csv
import dataclasses
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost import errors, schemas
from epochcost.hardware import is_unsupported
from epochcost.measure import activity
from epochcost.money import billing, hindsight, history, options, spot
from epochcost.money import columns as of_costs
from epochcost.money import tables as cost_tables
from epochcost.record import outliers, types
from epochcost.results import columns as of_measurements
from epochcost.results import (
    identity,
    noise,
    predictions,
    quality,
    repeats,
    rows,
    scaling,
    set_aside,
    tables,
)
from epochcost.show.wording import remarks

# Of each table, what writes it, whose first line says what it is, and its columns.
TABLES = {
    "relative": (cost_tables.relative_table, cost_tables.RELATIVE_COLUMNS),
    "options": (options.options_table, options.COLUMNS),
    "spot": (spot.spot_table, spot.TABLE_COLUMNS),
    "costs": (cost_tables.costs_table, cost_tables.COST_COLUMNS),
    "estimates": (hindsight.estimates_table, hindsight.COLUMNS),
    "history": (history.history_table, history.COLUMNS),
    "runs": (tables.runs_table, rows.RunRow),
    "epochs": (tables.epochs_table, rows.EpochRow),
    "repeats": (repeats.repeats_table, repeats.REPEATS_COLUMNS),
    "comparisons": (repeats.comparisons_table, repeats.COMPARISONS_COLUMNS),
    "predictions": (predictions.predictions_table, predictions.COLUMNS),
    "quality": (quality.quality_table, quality.COLUMNS),
    "targets": (quality.targets_table, quality.TARGET_COLUMNS),
    "scaling": (scaling.scaling_table, scaling.COLUMNS),
    "noise": (noise.noise_table, noise.NoiseRow),
    "set_aside": (set_aside.table, set_aside.COLUMNS),
}


# The commands that people give by themselves; rules give the others.
FOR_PEOPLE = ("measure", "remote", "bundle", "merge", "share", "prices", "unlock")


def commands() -> str:
    """The commands for people with their options."""
    scripts = sorted((ROOT / "scripts").glob("*.py"))
    return "\n\n".join(_command(path) for path in scripts if path.stem in FOR_PEOPLE)


def _command(path: Path) -> str:
    about, shown = _help(path)
    part = f"### {path.name}\n\n{about}"
    return f"{part}\n\n```text\n{shown}\n```" if shown else part


def _help(path: Path) -> tuple[str, str]:
    """What a script says that it does, and its options."""
    done = subprocess.run(
        [sys.executable, path, "--help"],
        capture_output=True, text=True, check=True, env=os.environ | {"COLUMNS": "88"},
    )  # fmt: skip
    said = re.sub(r" *-h, --help +show this help message and exit\n", "", done.stdout)
    said = re.sub(r"\noptions:\n\Z", "\n", said.replace(" [-h]", ""))
    said = re.sub(r"(  --[\w-]+) (\S+)", r"\1=\2", said)
    _, about, *rest = said.strip().split("\n\n")
    return " ".join(about.split()), "\n\n".join(rest)


def targets() -> str:
    """The targets of Snakemake, each with the docstring of its rule, and those of make."""
    found = []
    for path in [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]:
        found += re.findall(r'^rule (\w+):\n    """(.*)"""$', path.read_text(), re.MULTILINE)
    made = re.findall(r"^(\w+):[^#\n]*## (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    lines = ["|target|what it does|", "|---|---|"]
    lines += [f"|`snakemake {name}`|{text}|" for name, text in found]
    lines += [f"|`make {name}`|{text[0].upper()}{text[1:]}.|" for name, text in made]
    return "\n".join(lines)


def all_tables() -> str:
    """Every table with its columns, and what these mean: once, where several tables have them."""
    said = [*of_measurements.MEANING.items(), *of_costs.MEANING.items()]
    meaning = {column: (names, text) for names, text in said for column in names.split()}
    if len(meaning) < sum(len(names.split()) for names, _ in said):
        raise errors.InputError("the meaning of a column is said twice")
    keys = {
        table: [name if (name := f"{table}.{one}") in meaning else one for one in _names(kind)]
        for table, (_, kind) in TABLES.items()
    }
    times = Counter(key for columns in keys.values() for key in columns)
    if wrong := meaning.keys() ^ times.keys():
        raise errors.InputError(f"no meaning, or no such column: {', '.join(sorted(wrong))}")

    def lines(columns: list[str]) -> str:
        about = dict(meaning[one] for one in columns)
        return "\n".join(f"- {_columns(names)}: {text}" for names, text in about.items())

    apart, priced = (", ".join(names) for names in (identity.GROUP, billing.PRICE_COLUMNS))
    parts = [f"These tell trainings apart, where a table needs them: {apart}."]
    bills = [f"`{one}`" for one, columns in keys.items() if {*billing.PRICE_COLUMNS} <= {*columns}]
    parts += [f"The price is in {', '.join(bills)}: {priced}."]
    parts += ["## In several tables", lines([one for one in meaning if times[one] > 1])]
    for table, columns in keys.items():
        about = TABLES[table][0].__doc__.splitlines()[0].partition(": ")[2]
        parts += [f"## {table}.csv", f"{about[0].upper()}{about[1:]}"]
        parts += [lines([one for one in columns if times[one] == 1])]
    return "\n\n".join(filter(None, parts))


def _columns(names: str) -> str:
    return ", ".join(f"`{name.split('.')[-1]}`" for name in names.split())


# What tells trainings apart, and prices: not named again with each table.


def _names(kind: Any) -> list[str]:
    return [one.name for one in dataclasses.fields(kind)] if isinstance(kind, type) else list(kind)


def record() -> str:
    """The record with its keys, and what each of its parts is; the schema has their keys, too."""
    hints = get_type_hints(types.Record, include_extras=True)
    keys = ", ".join(f"`{one.rstrip('_')}`{_shown(hint)}" for one, hint in hints.items())
    about = " ".join(types.Record.__doc__.split()).removeprefix("A record. ")
    lines = ["|part|what it is|", "|---|---|"]
    for name, kind in vars(types).items():
        if dataclasses.is_dataclass(kind) and kind is not types.Record:
            first = " ".join(kind.__doc__.split()).split(". ")[0].rstrip(".")
            lines.append(f"|{name}|{first}|")
    return "\n\n".join([f"{keys}.", about, "\n".join(lines)])


def _shown(hint: Any) -> str:
    """The type of a field, behind its name; `?` for what may be null."""
    optional = type(None) in get_args(hint)
    if optional:
        (hint,) = (one for one in get_args(hint) if one is not type(None))
    word = _word(hint)
    return (f" {word}" if word else "") + "?" * optional


def _word(hint: Any) -> str:
    """A type in a word or two; nothing for numbers and text."""
    named = {float: "", int: "", str: "", bool: "true/false", dict: "object"}
    inner = get_args(hint)
    if get_origin(hint) is Annotated:
        alias = next((n for n in ("Moment", "Hash", "Checksum") if getattr(types, n) == hint), None)
        return alias.lower() if alias else _word(inner[0])
    if get_origin(hint) is Literal:
        return "/".join(map(str, inner))
    if get_origin(hint) is tuple:
        return f"list of {_word(inner[0])}".removesuffix(" of ")
    if get_origin(hint) is dict:
        return "object"
    return named.get(hint, hint.__name__)


def flags() -> str:
    """What may disturb a run."""
    known = activity.FLAGS | outliers.FLAGS | noise.FLAGS
    return "\n".join(["|flag|when|", "|---|---|", *(f"|{k}|{v}|" for k, v in known.items())])


def marks() -> str:
    """What is said of a row."""
    lines = (f"|{words}|{meaning}|" for words, meaning in remarks.MEANING.items())
    return "\n".join(["|remark|what it means|", "|---|---|", *lines])


def hardware() -> str:
    """The catalogue."""
    lines = ["|id|name|accelerator|cores|memory, GiB|", "|---|---|---|---:|---:|"]
    for key, one in schemas.read("hardware").items():
        gpu = f"{one['gpu_count']}×{one['gpu']}" if "gpu" in one else ""
        gpu += "\\*" if is_unsupported(one.get("gpu")) else ""
        label = one["label"] + (" (retired)" if "retired" in one else "")
        lines.append(f"|`{key}`|{label}|{gpu}|{one.get('vcpus', '')}|{one.get('memory_gib', '')}|")
    return "\n".join(lines)


def _of_schema(name: str) -> str:
    """The columns of a sheet."""
    schema = json.loads((schemas.FOLDER / f"{name}.schema.json").read_text())
    with open(ROOT / f"config/{name}.csv", newline="") as file:
        there = next(csv.reader(file))
    lines = ["|column|needed|meaning|", "|---|---|---|"]
    for key in there:
        need = "yes" if key in schema["required"] else ""
        lines.append(f"|`{key}`|{need}|{schema['properties'][key].get('description', '')}|")
    return "\n".join(lines)


PARTS = {
    "commands": commands,
    "targets": targets,
    "tables": all_tables,
    "record": record,
    "flags": flags,
    "remarks": marks,
    "hardware": hardware,
    "prices": lambda: _of_schema("prices"),
    "billing": lambda: _of_schema("billing"),
}


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    print(PARTS[parser.parse_args().part]())


if __name__ == "__main__":
    errors.run(main)
