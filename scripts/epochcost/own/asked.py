"""What `epochcost measure` is asked for: a command, or an entry of config/workloads.yaml."""

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from epochcost import ROOT, durations, files
from epochcost.errors import InputError, check_name
from epochcost.hardware import LOCAL
from epochcost.measure import machine, remote
from epochcost.own import environment, recipe
from epochcost.own import remote as own_remote
from epochcost.own.watch import Limits
from epochcost.record.names import RunName
from epochcost.record.types import OWN_TRAINING

_WORKLOADS = ROOT / "config/workloads.yaml"
RECORDS = ROOT / "results/runs"
_STABLE, _NEVER = "stable", "never"


@dataclass(frozen=True)
class Asked:
    """What is measured, and as what.

    command: its words. folder: where it is run. limits: when it is ended. path: folders that are
    searched for its programs first. record: the place of the record that somebody named; None for
    its own in results/runs.
    """

    command: list[str]
    folder: Path
    name: RunName
    limits: Limits
    path: tuple[Path, ...] = ()
    record: Path | None = None

    @property
    def hardware(self) -> str:
        """What this machine is."""
        return self.name.hardware


def read(
    command: list[str],
    *,
    workload: str | None = None,
    hardware: str = LOCAL,
    stop_after: str = _STABLE,
    most: str | None = None,
    total_steps: int | None = None,
    loop: str | None = None,
    environment: Path | None = None,
    price: float | None = None,
    trial: int | None = None,
    record: Path | None = None,
    **_: Any,
) -> Asked:
    """What the words of the command line ask for; what they leave out is that of the entry.

    A trial that is left out is the next that this machine has no record of.

    Raises:
        InputError: there is no command, or no such entry.
    """
    words, entry, folder, name = _what(command, workload)
    minutes = durations.seconds_of(most) if most else 60 * entry.get("minutes", 5)
    if minutes <= 0:
        raise InputError(f"--for {most}: nothing is measured in no time")
    requirements = environment or (entry.get("environment") and ROOT / entry["environment"])
    limits = Limits(
        stop_after=_stop(stop_after),
        seconds=minutes,
        total_steps=total_steps or entry.get("total_steps"),
        loop=loop or entry.get("loop"),
        price_per_hour=price,
    )
    return Asked(
        words,
        folder,
        _run(hardware, name, trial),
        limits,
        _path(requirements),
        record,
    )


def _run(hardware: str, name: str, trial: int | None) -> RunName:
    run = RunName(hardware, name, OWN_TRAINING, "default", trial or 1)
    while trial is None and run.records(RECORDS, machine.facts().id):
        run = replace(run, trial=run.trial + 1)
    return run


def _path(requirements: Path | None) -> tuple[Path, ...]:
    return (environment.made_of(requirements),) if requirements else ()


def _stop(text: str) -> str | int:
    if text in (_STABLE, _NEVER):
        return text
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"--stop-after {text}: it is stable, never, or a number of steps")
    return int(text)


def _entry(workload: str | None) -> dict[str, Any]:
    """An own training of config/workloads.yaml."""
    if workload is None:
        raise InputError("what is to be measured? Say: measure.py -- python train.py")
    listed = files.read_yaml(_WORKLOADS)
    own = {name: entry for name, entry in listed.items() if "command" in entry}
    if not own:
        raise InputError(
            f"config/workloads.yaml has no entry with a command, and so none for {workload}; say: "
            "measure.py -- python train.py"
        )
    check_name("own training", workload, own)
    return own[workload]


def on_host(
    host: str, folder: str, ssh: str, python: str, there: bool, command: list[str], **given: Any
) -> int:
    """Measure on another machine what `read` would measure here; returns 0 if all went well.

    Raises:
        InputError: the host cannot be reached, or the folder cannot be sent.
    """
    catalogue = files.read_yaml(ROOT / "config/hardware.yaml")
    check_name("hardware", given["hardware"], catalogue)
    if host.startswith("-"):  # which ssh would take for an option
        raise InputError(f"{host} is no name or address of a host")
    if given["record"] or given["write_entry"]:
        raise InputError("--record and --write-entry are for this machine; leave out --host")
    command, entry, at, name = _what(command, given["workload"])
    options = {
        "workload": name,
        "hardware": given["hardware"],
        "stop_after": given["stop_after"],
        "for": given["most"] or (f"{entry['minutes']}min" if "minutes" in entry else None),
        "total_steps": given["total_steps"] or entry.get("total_steps"),
        "loop": given["loop"] or entry.get("loop"),
        "environment": given["environment"] or _within(at, entry.get("environment")),
        "price": given["price"],
        "trial": given["trial"],
    }
    words = [f"--{key.replace('_', '-')}={value}" for key, value in options.items() if value]
    place = remote.Host(ssh, host, folder)
    words = [*words, "--", *command]
    return own_remote.measure(place, words, at, name, python, there, RECORDS, catalogue)


def _within(folder: Path, environment: str | None) -> str | None:
    """The requirements file of an entry as it is seen from the folder that is sent."""
    return environment and os.path.relpath(ROOT / environment, folder)


def _what(command: list[str], workload: str | None) -> tuple[list[str], dict[str, Any], Path, str]:
    """The words of the command, the entry that they are from, the folder, the name."""
    words = command[1:] if command[:1] == ["--"] else command
    entry = {} if words else _entry(workload)
    folder = Path.cwd() if words else ROOT / entry.get("folder", "")
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder")
    words = words or entry["command"]
    name = workload or recipe.name_of(words)
    if "command" not in files.read_yaml(_WORKLOADS).get(name, {"command": words}):
        raise InputError(f"{name} is a reference workload; choose another name: --workload NAME")
    return words, entry, folder, name


def write_entry(wanted: Asked) -> str:
    """Add what is measured to config/workloads.yaml, below all others; returns its name.

    Raises:
        InputError: there is such an entry already.
    """
    name, known = wanted.name.workload, files.read_yaml(_WORKLOADS)
    if name in known:
        raise InputError(f"config/workloads.yaml has an entry {name} already; choose --workload")
    folder = os.path.relpath(wanted.folder, ROOT)
    entry: dict[str, Any] = {"title": name, "command": wanted.command, "folder": folder}
    if wanted.limits.total_steps:
        entry["total_steps"] = wanted.limits.total_steps
    if wanted.limits.loop:
        entry["loop"] = wanted.limits.loop
    text = _WORKLOADS.read_text(encoding="utf-8").rstrip("\n")
    lines = [f"{name}:", *(f"  {key}: {json.dumps(value)}" for key, value in entry.items())]
    files.write_text(_WORKLOADS, "\n".join([text, "", *lines, ""]))
    return name
