"""The files of a schedule: for Kubernetes, and for a machine that is started and stops itself."""

import hashlib
import math
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jinja2

from epochcost import durations, markdown
from epochcost.errors import InputError, check_name, short
from epochcost.money import schedules
from epochcost.money.prices import Price
from epochcost.settings import PASSED_ON, Settings

_HOUR_S, _DAY_S = 3600, 86400
_COMPUTE_ENGINE = "Google Compute Engine"
# Their Kubernetes gives each node its machine type as a label.
_WITH_TYPES = {"Amazon EC2", _COMPUTE_ENGINE, "Microsoft Azure"}
_TYPE_LABEL = "node.kubernetes.io/instance-type"
_GKE_LABEL = "cloud.google.com/gke-accelerator"
# On nodes of others, whoever runs them says what they are.
_OWN_LABEL = "epochcost/hardware"
# Kubernetes adds eleven characters to a CronJob's name, and takes no more than 63.
_LONGEST_NAME = 52
# NVIDIA's plugin hands out no others, and nothing here measures them.
_NOT_NVIDIA = re.compile(r"(TPU|MI\d)")
# Runs may take longer than planned, and must end before the next ones begin.
_PATIENCE = 3


@dataclass(frozen=True)
class Rerun:
    """What is measured again, how often and where.

    every_s, up_s: seconds between two rounds, and of one.
    name, hardware: the id and the entry of config/hardware.yaml.
    repository: where the machine gets epochcost from.
    records: where records are kept between rounds: a persistent folder (a volume), or a bucket,
        gs://...
    arguments: for Snakemake's --config, such as `workloads=mnist_mlp`.
    """

    every_s: float
    up_s: float
    name: str
    hardware: dict[str, Any]
    repository: str
    records: str
    image: str
    arguments: list[str]
    disk_gib: float

    @property
    def limit_s(self) -> int:
        """Seconds after which a round is ended by force."""
        return int(min(_PATIENCE * self.up_s, self.every_s))


def rerun_of(settings: Settings, catalogue: dict[str, dict[str, Any]]) -> Rerun:
    """What the configuration measures on a schedule.

    Args:
        settings: the keys of scripts/schedule.py.
        catalogue: config/hardware.yaml.

    Raises:
        InputError: something is not said, or cannot be.
    """
    asked = settings.schedule
    asked.check_complete()
    check_name("hardware", asked.hardware, catalogue)
    every_s, up_s = (durations.seconds_of(text) for text in (asked.every, asked.up))
    if not 0 < up_s <= every_s:
        raise InputError(
            f"schedule: up: {asked.up} is not between 0 and {asked.every}, the time between two "
            "rounds"
        )
    chosen = {key: getattr(settings, key) for key in PASSED_ON}
    words = [
        f"{key}={','.join(value) if isinstance(value, list) else value}"
        for key, value in chosen.items()
        if value is not None
    ]
    return Rerun(
        every_s,
        up_s,
        asked.hardware,
        catalogue[asked.hardware],
        asked.repository,
        asked.records,
        asked.image,
        words,
        asked.disk_gib,
    )


def cron(every_s: float) -> str:
    """An interval in seconds as a cron expression, at minute 0, in UTC.

    Raises:
        InputError: cron cannot express it: neither hours that divide a day, nor 1, 7 or 30 days.
    """
    hours, days = every_s / _HOUR_S, every_s / _DAY_S
    if hours in (1, 2, 3, 4, 6, 8, 12):
        return "0 * * * *" if hours == 1 else f"0 */{hours:.0f} * * *"
    if days == 1:
        return "0 3 * * *"
    if days == 7:
        return "0 3 * * 1"
    if days == 30:
        return "0 3 1 * *"
    raise InputError("schedule: every: one of 1h, 2h, 3h, 4h, 6h, 8h, 12h, 1d, 7d, 30d")


def render(rerun: Rerun) -> dict[str, str]:
    """The files by name: for Kubernetes, and, for hardware of Compute Engine, for a machine."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("schedule_templates")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["quote"] = shlex.quote
    _check_texts(rerun)
    if "vcpus" not in rerun.hardware:
        raise InputError(f"config/hardware.yaml: {rerun.name}: vcpus is needed to request it")
    if _NOT_NVIDIA.match(rerun.hardware.get("gpu", "")):
        raise InputError(
            f"{rerun.name} has {rerun.hardware['gpu']}; a schedule is for processors and NVIDIA's "
            "GPUs"
        )
    machine_type, _, accelerators = rerun.hardware.get("instance", "").partition(" + ")
    fetch, keep = _transfers(rerun.records)
    about = {
        "name": name_of(rerun.name),
        "selector": _selector(rerun.name, rerun.hardware),
        "own_label": _OWN_LABEL,
        "cron": cron(rerun.every_s),
        "often": _often(rerun.every_s),
        "limit_s": rerun.limit_s,
        "minutes": math.ceil(rerun.limit_s / 60),
        "image": rerun.image,
        "repository": rerun.repository,
        "records": rerun.records,
        "fetch": fetch,
        "keep": keep,
        "arguments": shlex.join(
            ["--config", "again=true", f"hardware={rerun.name}", *rerun.arguments]
        ),
        "cpus": rerun.hardware["vcpus"],
        "gpus": rerun.hardware.get("gpu_count", 0),
        "machine_type": machine_type.split(" ")[0],
        "accelerator": _accelerator(accelerators, rerun.hardware),
        "disk_gib": f"{rerun.disk_gib:g}",
    }
    about["steps"] = environment.get_template("steps.sh.j2").render(about).rstrip("\n")
    names = ["cronjob.yaml"]
    if rerun.hardware.get("provider") == _COMPUTE_ENGINE:
        names += ["start-up.sh", "vm.sh"]
    return {name: environment.get_template(f"{name}.j2").render(about) for name in names}


def name_of(hardware: str) -> str:
    """What the schedule of some hardware is called on a cluster or in a project.

    Lower-case letters, digits and hyphens; ids that become alike or too long get a hash.
    """
    name = f"epochcost-{hardware.replace('.', '-')}"
    if name == f"epochcost-{hardware}" and len(name) <= _LONGEST_NAME and name[-1] != "-":
        return name
    mark = hashlib.sha256(hardware.encode()).hexdigest()[:6]
    return f"{name[: _LONGEST_NAME - 7].rstrip('-')}-{mark}"


def _selector(name: str, hardware: dict[str, Any]) -> dict[str, str]:
    """The labels of the nodes that are the hardware."""
    instance, _, added = hardware.get("instance", "").partition(" + ")
    if hardware.get("provider") not in _WITH_TYPES or not instance:
        return {_OWN_LABEL: name}
    labels = {_TYPE_LABEL: instance.split(" ")[0]}
    return labels | ({_GKE_LABEL: _attached(hardware)} if added else {})


def _check_texts(rerun: Rerun) -> None:
    """Refuse what commands, make, YAML or Kubernetes would read as more than a value.

    Quotes protect from a shell, but make and Kubernetes replace what follows a dollar sign.
    """
    texts = {name: getattr(rerun, name) for name in ("repository", "records", "image")}
    for name, text in (*texts.items(), *(("arguments", text) for text in rerun.arguments)):
        if not text.isprintable() or "$" in text or text[:1] in ("-", ""):
            raise InputError(
                f"schedule: {name}: '{short(text)}' is empty, begins with -, or has a $ or a sign "
                "that cannot be printed"
            )


def _transfers(records: str) -> tuple[str, str]:
    """Shell commands that fetch the records of earlier rounds, and that store those of this one.

    An existing record is never overwritten.
    """
    place = shlex.quote(records)
    if records.startswith("gs://"):
        copy = "gcloud storage cp --recursive --no-clobber"
        bucket = shlex.quote("/".join(records.split("/")[:3]))
        fetch = (
            # It must be reachable, or what is measured would be lost.
            f"gcloud storage ls {bucket} > /dev/null || exit 1\n"
            f"if gcloud storage ls {place}/runs > /dev/null 2>&1; then\n"
            f"    mkdir -p results && {copy} {place}/runs results/ || exit 1\n"
            "fi"
        )
        return fetch, f"{copy} results/runs {place}/"
    return (
        f"mkdir -p results {place} && cp --recursive --no-clobber {place}/. results/runs || exit 1",
        # Without what trainings have begun.
        f"cp --recursive --no-clobber results/runs/. {place}; find {place} -name '.*.part' -delete",
    )


def bill(rerun: Rerun, offer: Price, rates: schedules.Rates) -> str:
    """The monthly cost, as Markdown: on a machine of its own, and on an existing node."""
    plan = schedules.Visits(
        every_hours=rerun.every_s / _HOUR_S, up_s=rerun.up_s, rules=1, disk_gib=rerun.disk_gib
    )
    hourly = offer.price_per_hour_usd
    # By the second, where the provider's rules are not known.
    terms = replace(offer, minimum_s=offer.minimum_s or 0.0, increment_s=offer.increment_s or 1.0)
    parts = schedules.monthly_bill(plan, terms.terms, rates)
    rented = parts["machine"] + parts.get("fee", 0.0)
    day = offer.as_of.isoformat() if offer.as_of else "undated"
    lines = [
        "# What it costs a month",
        "",
        f"{_often(rerun.every_s).capitalize()}, {rerun.up_s / 60:g} minutes each time, at "
        f"{hourly:g} USD an hour ({offer.price_kind.replace('_', '-')}, {day}, "
        f"{markdown.text(offer.source_id)}).",
        "",
        "| | USD a month |",
        "|---|---:|",
        *(f"| {name} | {usd:.2f} |" for name, usd in parts.items() if usd),
        f"| **a machine that is started and stops itself** | **{sum(parts.values()):.2f}** |",
        f"| a node of Kubernetes that comes and goes with the jobs | {rented:.2f} |",
        f"| the same machine, always up | {schedules.always_up_usd(terms.terms):.2f} |",
        "",
    ]
    return "\n".join(lines)


def _often(every_s: float) -> str:
    if every_s == _HOUR_S:
        return "every hour"
    if every_s < _DAY_S:
        return f"every {every_s / _HOUR_S:g} hours"
    return "every day" if every_s == _DAY_S else f"every {every_s / _DAY_S:g} days"


def _accelerator(instance: str, hardware: dict[str, Any]) -> str:
    """`1 x K80` as Compute Engine names it."""
    if not instance:
        return ""
    return f"type={_attached(hardware)},count={hardware['gpu_count']}"


def _attached(hardware: dict[str, Any]) -> str:
    """A GPU that is added to a machine type, as Google's services name it."""
    return f"nvidia-tesla-{hardware['gpu'].lower()}"
