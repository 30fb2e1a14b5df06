"""The keys of config/config.yaml: their types, limits and meaning, said once.

Of these models `python scripts/settings.py` makes config/schemas/config.schema.json, which refuses
mistakes, and the table of keys in config/README.md. The Snakefile reads all keys once. Each command
gets those that it uses as one JSON value.
"""

import argparse
import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    create_model,
)
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict

from epochcost import ROOT, durations, files, schemas
from epochcost.errors import InputError, nearest, short

_PLAIN = "a path or an address without braces and control characters"

Amount = Annotated[float, Field(ge=0)]
# USD: more than any machine costs an hour.
Rate = Annotated[float, Field(ge=0, le=1e6)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Length = Annotated[int, Field(ge=1, le=10**12)]
Names = Annotated[
    list[Annotated[str, Field(min_length=1)]],
    Field(min_length=1, json_schema_extra={"uniqueItems": True}),
]
Place = Annotated[
    str,
    Field(
        pattern=r"^[^{}\x00-\x1f\x7f]*$",
        json_schema_extra={
            "$comment": "a path or an address without braces and control characters"
        },
    ),
]
# What is a word of a command must not be taken for an option.
Word = Annotated[
    str,
    Field(
        pattern=r"^([^-{}\x00-\x1f\x7f][^{}\x00-\x1f\x7f]*)?$",
        json_schema_extra={"$comment": f"{_PLAIN}, nor - in front"},
    ),
]
Python = Annotated[Word, Field(min_length=1)]
# Text, even where it is just a number, which is seconds.
_DURATIONS = ("every", "up")
_DECIMAL = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
# A number is a name, too: `gpu=4090`.
Name = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    WithJsonSchema({"type": ["string", "integer"]}),
]
Deadline = Annotated[str | float, WithJsonSchema({"type": ["string", "number"]})]


def _seconds(key: str, text: str | float) -> float:
    try:
        return durations.seconds_of(text)
    except InputError as error:
        raise InputError(f"config: {key}: {error}") from None


def _doc(text: str, **limits: Any) -> Any:
    """A key with its meaning, as config/README.md says it."""
    return Field(description=text, **limits)


class Section(BaseModel):
    """A part of config.yaml, all of whose keys are written there."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Data(Section):
    """Where data sets come from."""

    source: Literal["auto", "canonical", "mirror", "synthetic"] = _doc(
        "`canonical` (the original server), `mirror` (a folder), `synthetic` (generated, same "
        'shape); on a command line `"data={source: synthetic}"`. `auto` takes real data that is '
        "there, else a mirror, else the server; if none can be had, it generates synthetic data "
        "and says so"
    )
    mirror: Place | None = _doc(
        "mirror folder with `<data set>/<file>`; the same as the environment variable "
        "`EPOCHCOST_MIRROR`"
    )


class Price(Section):
    """What this machine costs."""

    per_hour_usd: Rate | None = _doc(
        "price of this machine. Empty is unknown, and leaves costs empty. `--config price=0.10` is "
        "short for an on-demand price, for one command"
    )
    kind: Literal["on_demand", "spot", "preemptible", "reserved", "monthly", "owned", "free"] = (
        _doc(
            "`on_demand`, `spot`, `preemptible`, `reserved`, `monthly`, `owned` or `free` (the "
            "only kind that may be 0)"
        )
    )


_OWNED = ("purchase_usd", "years", "used_hours_per_day", "watts", "usd_per_kwh")


class Owned(TypedDict, total=False):
    """What the price of a machine that was bought is computed from; all five or none."""

    __pydantic_config__ = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "dependentRequired": {key: [one for one in _OWNED if one != key] for key in _OWNED}
        },
    )
    purchase_usd: Amount
    years: Positive
    used_hours_per_day: Annotated[float, Field(gt=0, le=24)]
    watts: Amount
    usd_per_kwh: Amount


class Pythons(TypedDict, total=False):
    """A Python per family of frameworks."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    tensorflow: Python
    torch: Python
    jax: Python


class Billing(Section):
    """What is paid beside a training: seconds, GiB, and USD for a GiB and month."""

    boot_s: Amount
    environment_s: Amount
    data_s: Amount
    idle_s: Amount
    disk_gib: Amount
    disk_usd_per_gib_month: Amount


class Spot(Section):
    """Interruptions of spot machines."""

    interruptions_per_hour: list[Amount] = _doc(
        "rates of interruption that `spot.csv` tries", min_length=1
    )
    wait_s: Amount = _doc("seconds until the next machine is there")


class Schedule(Section):
    """Measuring at intervals."""

    hardware: str | None
    every: str
    up: str | None
    repository: Word | None
    records: Word | None
    image: Word | None
    disk_gib: Amount
    disk_usd_per_gib_month: Amount
    rule_usd_per_month: Amount

    def check_complete(self) -> None:
        """Raise an InputError if something is not said that a schedule needs."""
        for key in ("hardware", "up", "repository", "records", "image"):
            if not getattr(self, key):
                raise InputError(
                    f"config: schedule: {key} is empty; config/config.yaml says what it is"
                )


class Settings(Section):
    """config/config.yaml."""

    hardware: Names = _doc(
        "where to measure: ids of `hardware.yaml`. `local` is the machine at hand, whatever it is; "
        "another id is refused on a machine that is not that hardware. A profile sets this key "
        "itself"
    )
    workloads: Names = _doc("ids of `workloads.yaml`, or `all`")
    frameworks: Names = _doc(
        "what trains them, or `all`. A framework that cannot train a workload, or has no such "
        "variant, is skipped there (if you named them, a line says so); a workload that none of "
        "them can train is refused (or left out of `workloads=all`)"
    )
    variants: Names = _doc(
        "software settings: `default` is what a user gets, `tuned` the fastest that a search found "
        "on this machine (`tuned.yaml`), `no_onednn` turns oneDNN's kernels off, `bfloat16` lowers "
        "the precision, `devices_2` (3, 4, ...) trains one model on so many devices"
    )
    scale: Literal["quick", "full"] = _doc(
        "`quick` times a few short epochs and predicts the full run; `full` trains to the last "
        "epoch"
    )
    runs: int = _doc(
        "how many runs of each combination are wanted. Existing records count; only what is "
        "missing is run",
        ge=1,
        le=1000,
    )
    again: bool = _doc("instead of `runs`: one run more of each combination than there are")
    precision: Annotated[float, Field(gt=0, le=0.5)] | None = _doc(
        "with `scale: full`: `2%` continues after six runs of each, until half the 95 % interval "
        "of the median, on this machine, is at most that share of it "
        "([how](../docs/explanation/intervals.md))"
    )
    budget_hours: Positive = _doc(
        "hours of runs, existing ones included, after which `precision` begins no further round "
        "(the first six are made in any case); `ended_by` in `repeats.csv` says which of the two "
        "ended it"
    )
    stage: Place = _doc(
        "a folder on each node's own disk, such as `/tmp`: data are copied there once, and "
        "checked, before a training starts; for nodes that share this folder over a network"
    )
    time_limit_hours: Positive | None = _doc(
        "a run whose training takes longer has failed, and its record says so (a library that does "
        "not return for ten minutes more is ended by force, which leaves none)"
    )
    seed: int = _doc(
        "seed of the first trial; the trial number is added. It also determines the order of the "
        "runs",
        ge=0,
        le=2**31 - 1,
    )
    batch_size: Count | None = _doc(
        "a batch size other than the recipe's, for a sweep; these runs are rows of their own, "
        "compared with the same baseline, and no options of `advise`"
    )
    data: Data
    price: Price
    owned: Owned = _doc(
        "instead of a price, for a machine that was bought: `purchase_usd`, `years`, "
        "`used_hours_per_day` (over which the purchase is spread), `watts`, `usd_per_kwh`"
    )
    price_book: Annotated[Place, Field(min_length=1)] = _doc(
        "prices of rented hardware for your own runs: `latest`, a month such as `2017-12`, a day, "
        "or a price file of your own ([how](../docs/how-to/price.md)). Ratios to published runs "
        "use the price of the month they were published in"
    )
    exchange_rates: dict[Annotated[str, Field(pattern="^[A-Z]{3}$")], Positive] = _doc(
        "USD for one unit of other currencies in price files, such as `{EUR: 1.15}`"
    )
    billing: Billing = _doc(
        "what is paid beside a training when a machine is rented for it alone: `boot_s`, "
        "`environment_s`, `data_s`, `idle_s`, `disk_gib`, `disk_usd_per_gib_month`; your "
        "assumptions, all 0 to begin with"
    )
    spot: Spot
    max_cost_usd: Amount | None = _doc(
        "start nothing that is known to cost more (`snakemake estimate`)"
    )
    workload: str | None = _doc(
        "which workload `snakemake advise` is asked about; empty: all that are configured"
    )
    deadline: Deadline | None = _doc("how long it may take: `1h`, `30min`; a number is seconds")
    budget: Amount | None = _doc("how many USD it may cost")
    epochs: Length | None = _doc(
        "for how many epochs `advise` says it, instead of the recipe's: times in proportion"
    )
    steps: Length | None = _doc("the same of an own training")
    gpu: Name | None = _doc(
        "which GPU `snakemake reference` is asked about, such as `H100`; `advise` names machines "
        "with it alone"
    )
    provider: str | None = _doc("`advise` names machines of this provider alone")
    region: str | None = _doc("and those whose price holds in this region")
    price_kind: str | None = _doc("and those at this kind of price, such as `on_demand`")
    exclude: list[str] = _doc("machine types, GPUs and providers that `advise` does not name")
    format: Literal["text", "markdown", "latex", "csv"] = _doc(
        "how `snakemake table` prints the results of this machine: `text`, `markdown`, `latex`, "
        "`csv`"
    )
    keep_disturbed: bool = _doc(
        "whether disturbed runs count beside undisturbed ones. Where all were disturbed they count "
        "anyway, and their rows say so. Their quality always counts. A time of which others took "
        "too much (30 %) never does"
    )
    python: Pythons = _doc(
        "a Python of your own per family of frameworks, instead of the environment made from "
        "`envs/` ([below](#a-python-of-your-own))"
    )
    schedule: Schedule = _doc(
        "what `snakemake schedule` writes: `hardware`, `every` (`1h`, `2h`, `3h`, `4h`, `6h`, "
        "`8h`, `12h`, `1d`, `7d`, `30d`), `up` (how long each time), `repository`, `records` "
        "(where they are kept between rounds: a folder on a volume, or `gs://...`), `image` (with "
        "git, make and Python; with gcloud, if records are in a bucket), and prices of storage and "
        "scheduler"
    )

    def part(self, *commands: str) -> str:
        """The keys that some commands use, as JSON."""
        keys = {key for command in commands for key in USED_BY[command]}
        return json.dumps(self.model_dump(include=keys))


# What prices are calculated with.
_PRICES = ("price_book", "price", "owned", "exchange_rates", "billing")
# What a schedule passes on to the machine that it starts.
PASSED_ON = (
    *("workloads", "frameworks", "variants", "scale"),
    *("seed", "batch_size", "time_limit_hours"),
)
# What says which runs are wanted.
TRAINED = (
    *("hardware", "workloads", "frameworks", "variants"),
    *("scale", "runs", "again", "precision"),
)
# Of a command line, what the next call for the same needs again, beside what is trained.
REPEATED = (
    *("price", "owned", "price_book", "exchange_rates", "billing"),
    *("data", "stage", "seed", "batch_size", "time_limit_hours", "python"),
)
# The keys that each command uses (scripts/<command>.py), and no others.
USED_BY = {
    "runs": ("keep_disturbed", "precision"),
    "costs": (*_PRICES, "spot", "keep_disturbed"),
    "figures": ("billing", "deadline", "budget"),
    "advise": (
        *("workload", "workloads", "deadline", "budget", "epochs", "steps", "billing"),
        *("gpu", "provider", "region", "price_kind", "exclude"),
    ),
    "estimate": (*_PRICES, "scale", "precision", "budget_hours"),
    "schedule": (*_PRICES, *PASSED_ON, "schedule"),
    "prices": ("exchange_rates",),
    "reference": ("gpu",),
    "table": ("format",),
}


def read(given: Mapping[str, Any], root: Path = ROOT) -> Settings:
    """The settings of somebody who gives all keys: config.yaml, with changes of a command line.

    Args:
        root: the folder that holds config/.

    Raises:
        InputError: one line that names what is wrong and the closest valid name.
    """
    if not isinstance(given, Mapping):
        raise InputError("config/config.yaml: it holds no keys")
    values = _normalised(given)
    schemas.check(values, root / "config/schemas/config.schema.json", "config")
    _check_values(values)
    with _in_one_line("config"):
        return Settings.model_validate(values)


def option(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the option `settings` to a command; it holds the keys that it uses, and no others."""
    keys = USED_BY[command]
    parser.add_argument(
        "--settings",
        type=partial(_some, keys),
        default="{}",
        help=f"{', '.join(keys)}: as JSON; others as in config/config.yaml",
    )


def _some(keys: tuple[str, ...], text: str) -> Settings:
    """The settings `keys`, as a command is given them."""
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise InputError(f"--settings: {text} is not a JSON object")
    for key in given:
        if key not in Settings.model_fields:
            raise InputError(f"--settings: unknown key '{key}'; {nearest(key, keys)}")
    if set(keys) <= set(given):
        whole = {key: given[key] for key in keys}
    else:
        whole = {**files.read_yaml(ROOT / "config/config.yaml"), **given}
        whole = read(whole).model_dump(include=set(keys))
    return Settings.model_construct(**_typed(_normalised(whole)))


def _typed(values: dict[str, Any]) -> dict[str, Any]:
    """The values of some keys, each of the type that it has in `Settings`."""
    fields = {key: (field.annotation, field) for key, field in Settings.model_fields.items()}
    some = create_model("Some", __base__=Section, **{key: fields[key] for key in values})
    with _in_one_line("--settings"):
        return dict(some.model_validate(values))


@contextmanager
def _in_one_line(where: str) -> Iterator[None]:
    """Turn what a model refuses into an InputError that names the first value."""
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        place = ": ".join(short(str(part)) for part in first["loc"] if part != "[key]")
        said = f"{where}: {place}: {first['msg']}, not {short(repr(first['input']))}"
        raise InputError(said) from None


def _normalised(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Command-line settings (`workloads=mnist_mlp`, text for numbers) in the schema's form."""
    result = {key: dict(v) if isinstance(v, Mapping) else v for key, v in settings.items()}
    for key in ("hardware", "workloads", "frameworks", "variants", "exclude"):
        if isinstance(result.get(key), str):
            result[key] = [name.strip() for name in result[key].split(",")]
    if "exclude" in result:  # nothing may be excluded
        given = result["exclude"] or []
        result["exclude"] = [name for name in given if name] if isinstance(given, list) else given
    for key in ("again", "keep_disturbed"):
        # Snakemake converts True from a command line, and leaves true as text.
        if result.get(key) in ("true", "false"):
            result[key] = result[key] == "true"
    if isinstance(result.get("price_book"), date):  # as Snakemake reads an unquoted day
        result["price_book"] = result["price_book"].isoformat()
    if isinstance(result.get("precision"), str):
        result["precision"] = _share(result["precision"])
    if isinstance(result.get("price"), str):
        raise InputError(f"config: price: '{result['price']}' is not a number, such as price=0.10")
    if isinstance(result.get("price"), int | float) and not isinstance(result["price"], bool):
        result["price"] = {"per_hour_usd": result["price"], "kind": "on_demand"}
    for key in ("price", "owned", "exchange_rates", "billing", "spot", "schedule"):
        if key in result:
            result[key] = _numbers_of(result[key])
    price = result.get("price")
    if isinstance(price, dict) and price.get("per_hour_usd") == "":
        price["per_hour_usd"] = None
    return result


def _numbers_of(value: Any) -> Any:
    """A section with the numbers that Snakemake leaves as text converted to numbers."""
    if isinstance(value, Mapping):
        return {
            key: part if key in _DURATIONS else _numbers_of(part) for key, part in value.items()
        }
    if isinstance(value, list):
        return [_numbers_of(part) for part in value]
    return float(value) if isinstance(value, str) and _DECIMAL.fullmatch(value) else value


def _share(text: str) -> float | str | None:
    """`2%` as 0.02."""
    value = _number(text.removesuffix("%"))
    return value / 100 if isinstance(value, float) and text.endswith("%") else value


def _number(text: str) -> float | str | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _check_values(values: dict[str, Any]) -> None:
    """Check what a schema cannot express."""
    _check_finite(values, "config")
    price, owned = values["price"]["per_hour_usd"], values["owned"]
    if price is not None and (price == 0) != (values["price"]["kind"] == "free"):
        raise InputError(
            "config: price: 0 and the kind 'free' go together; leave an unknown price empty"
        )
    if owned and not (owned["purchase_usd"] or owned["watts"]):
        raise InputError("config: owned: a machine that costs nothing is of the price kind 'free'")
    if owned and price is not None:
        raise InputError("config: owned and price.per_hour_usd both say what this machine costs")
    if values["again"] and values["precision"]:
        raise InputError("config: again and precision both say how many runs are wanted")
    if values["deadline"] is not None and not _seconds("deadline", values["deadline"]):
        raise InputError("config: deadline: nothing is trained in no time; such as 1h")
    if values["budget"] == 0:
        raise InputError("config: budget: nothing is rented for 0; leave it empty")
    if "," in (values["workload"] or ""):
        raise InputError(
            f"config: workload: advise answers for one; for several say workloads="
            f"{values['workload']}"
        )
    if values["precision"] and values["scale"] != "full":
        raise InputError(
            "config: precision: a quick run predicts, and more of them make no prediction better; "
            "add scale=full"
        )


def _check_finite(value: Any, where: str) -> None:
    """Refuse infinity and what is not a number, which no limit of a schema excludes."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            _check_finite(part, f"{where}: {key}")
    elif isinstance(value, list):
        for part in value:
            _check_finite(part, where)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{where}: {value} is not a finite number")


class _Schema(GenerateJsonSchema):
    """JSON Schema as epochcost.schemas explains it: an empty value is a type like the others."""

    def nullable_schema(self, schema: Any) -> dict[str, Any]:
        inner = self.generate_inner(schema["schema"])
        kinds = inner["type"] if isinstance(inner["type"], list) else [inner["type"]]
        return inner | {"type": [*kinds, "null"]}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema() -> str:
    """config/schemas/config.schema.json."""
    made = Settings.model_json_schema(schema_generator=_Schema)
    made = {"$schema": _Schema.schema_dialect, **made, "title": "config/config.yaml"}
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def table(defaults: dict[str, Any]) -> str:
    """The keys as a table in Markdown; `defaults` is config.yaml as it is shipped."""
    lines = ["| key | default | meaning |", "|---|---|---|"]
    for key, value, meaning in _rows(Settings, defaults, ""):
        lines.append(f"| `{key}` | {value} | {meaning} |")
    return "\n".join(lines) + "\n"


def _rows(
    section: type[BaseModel], defaults: dict[str, Any], above: str
) -> Iterator[tuple[str, str, str]]:
    for name, field in section.model_fields.items():
        key, default = f"{above}{name}", defaults[name]
        if field.description is None:
            yield from _rows(field.annotation, default, f"{key}.")
        else:
            yield key, _shown(default), field.description


def _shown(default: Any) -> str:
    """A default as it is written in YAML; nothing for a section, which says it itself."""
    if default in (None, ""):
        return "empty"
    if isinstance(default, dict) and default:
        return ""
    if isinstance(default, list):
        return f"`[{', '.join(map(str, default))}]`"
    return f"`{json.dumps(default)}`".replace('"', "")


def in_readme(text: str, defaults: dict[str, Any]) -> str:
    """config/README.md with the table as it is now."""
    return re.sub(r"\| key \| default .*?\n(?=\n)", lambda _: table(defaults), text, flags=re.S)


def write(root: Path, defaults: dict[str, Any]) -> None:
    """Write what is made of the models.

    Raises:
        InputError: the shipped configuration lacks a key.
    """
    if missing := [name for name in Settings.model_fields if name not in defaults]:
        raise InputError(f"config/config.yaml has no key {', '.join(missing)}; add it there first")
    readme = root / "config/README.md"
    text = in_readme(readme.read_text(), defaults)
    files.write_text(root / "config/schemas/config.schema.json", schema())
    files.write_text(readme, text)
