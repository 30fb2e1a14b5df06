"""Today's prices from SkyPilot's catalogue: new rows of a price file for known hardware.

The catalogue is a CSV file per provider, maintained by the SkyPilot project, with the columns
InstanceType, AcceleratorName, AcceleratorCount, Price, SpotPrice, Region. On Google Cloud, a GPU
that is attached to a machine has a row of its own, and so does a TPU with its machine.
"""

import csv
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import pandas as pd

from epochcost.errors import InputError
from epochcost.money import prices

# The version of the catalogue that SkyPilot 0.14 reads, so it has every provider.
URL = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8"
SOURCE = "skypilot-catalog-v8"
# Folders of the catalogue by provider in price files.
_FOLDERS = {
    "aws": "aws", "gcp": "gcp", "lambda": "lambda", "nebius": "nebius", "runpod": "runpod",
    "vastai": "vast", "paperspace": "paperspace",
}  # fmt: skip
_COLUMNS = {"on_demand": "Price", "spot": "SpotPrice"}
_OF_CATALOGUE = {
    "InstanceType", "AcceleratorName", "AcceleratorCount", "Region", *_COLUMNS.values(),
}  # fmt: skip
# The columns that a price file needs for its machines to be looked up and new rows to be added.
NEEDED = {
    "hardware_id", "provider", "region", "instance", "gpu", "gpu_count", "parts", "price_kind",
    "price_per_hour", "currency", "as_of", "as_of_precision", "derivation", "notes",
}  # fmt: skip
# What the catalogue has in place of a missing price.
_PLACEHOLDERS = (0.0, 700.0)
# A price that differs from the newest one by more than this factor is left to a person to judge.
# Between two books of a provider, real prices have halved (H100 at DigitalOcean, 2025); a slipped
# decimal point is a factor of 10, and a machine's share in place of the machine one of 8.
JUMP = 4.0
_GPUS = re.compile(r"(?P<count>\d+) x (?P<name>\S+)")
# "Oregon, US, NA" and "East Coast (NY2)" are in the regions US and NY2 of price files.
_BETWEEN_WORDS = re.compile(r"[\s,()]+")
# No file of the catalogue has 10 MB; none takes minutes.
MOST_BYTES, _PATIENCE_S, _SILENCE_S = 64 * 2**20, 300.0, 60.0
# So many odd rows of a file are named, of more their number.
_MOST_NAMED = 3


@dataclass(frozen=True)
class Refreshed:
    """New rows for a price file, what changed, and what could not be priced.

    changes: hardware_id, price_kind, before, after (USD an hour).
    there: how many prices were in the file with today's date already.
    """

    rows: list[dict[str, str]]
    changes: pd.DataFrame
    notices: list[str]
    there: int = 0


# A price in a price file: hardware, kind and region.
_Key = tuple[str, str, str]


def read(root: str, providers: list[str]) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """The catalogue of each provider that is in it, and what is missing, and why.

    An odd row costs no other its place: it is left out and named.

    Args:
        root: the folder of the catalogue, a URL or a path.

    Raises:
        InputError: it has none of them, or cannot be reached.
    """
    found, missing = {}, []
    for provider in providers:
        if provider not in _FOLDERS:
            missing.append(f"{provider}: not in the catalogue")
            continue
        place = f"{root}/{_FOLDERS[provider]}/vms.csv"
        try:
            found[provider], odd = _offers(_fetched(place), place)
        except (OSError, HTTPException, ValueError, InputError) as error:
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            missing.append(f"{place}: {reason}")
            continue
        missing += odd
    if missing and not found:
        raise InputError(next((why for why in missing if "/" in why), missing[0]))
    return found, missing


def refresh(
    rows: list[dict[str, str]],
    catalogue: dict[str, pd.DataFrame],
    today: date,
    rates: Mapping[str, float] | None = None,
) -> Refreshed:
    """Update the prices of the hardware in a price file, where they are in USD.

    Of hardware in several regions, those of its newest date get a new price; what has one of today
    keeps it.

    What is no price, or hardly one, is named and left out: placeholders, both prices of hardware
    whose spot price is above the on-demand one (one of the two must be wrong), a price that has
    changed by more than `JUMP`, and a row that the price file could not take.

    Args:
        rows: of the price file, as text.
        rates: USD for one unit of each other currency in it.
    """
    newest, notices = _newest(rows, catalogue)
    done = {key for key, row in newest.items() if row["as_of"] >= today.isoformat()}
    priced: dict[_Key, dict[str, float]] = {}
    for key, row in newest.items():
        parts = None if key in done else _parts(row, catalogue[row["provider"]])
        if parts is not None:
            priced[key] = parts
        elif key not in done:
            place = f" in {row['region']}" if row["region"] else ""
            notices.append(f"{key[0]}, {key[1]}: not in the catalogue of {row['provider']}{place}")
    notices += _without_contradictions(priced) + _without_jumps(priced, newest)
    new = [_row(newest[key], parts, today) for key, parts in priced.items()]
    new, refused = prices.addable(rows, new, rates)
    changes = [
        (*key[:2], float(newest[key]["price_per_hour"]), float(row["price_per_hour"]))
        for row in new
        for key in [_key(row)]
    ]
    columns = ["hardware_id", "price_kind", "before", "after"]
    changed = pd.DataFrame(changes, columns=columns)
    return Refreshed(new, changed, notices + refused, len(done))


def _key(row: dict[str, str]) -> _Key:
    return row["hardware_id"], row["price_kind"], row["region"]


def _newest(
    rows: list[dict[str, str]], catalogue: dict[str, pd.DataFrame]
) -> tuple[dict[_Key, dict[str, str]], list[str]]:
    """The newest row of each price that the catalogue can have, and what it cannot have."""
    newest: dict[_Key, dict[str, str]] = {}
    for row in sorted(rows, key=lambda row: row["as_of"]):
        if row["price_kind"] in _COLUMNS and row["provider"] in catalogue and row["price_per_hour"]:
            newest[_key(row)] = row
    last: dict[tuple[str, str], str] = {}
    for key, row in newest.items():
        last[key[:2]] = max(last.get(key[:2], ""), row["as_of"])
    # A region that was given up has no place among today's prices, of which the highest counts.
    newest = {key: row for key, row in newest.items() if row["as_of"] == last[key[:2]]}
    foreign = {key: row["currency"] for key, row in newest.items() if row["currency"] != prices.USD}
    notices = [
        f"{key[0]}, {key[1]}: its price is in {currency}, those of the catalogue are in USD"
        for key, currency in foreign.items()
    ]
    return {key: row for key, row in newest.items() if key not in foreign}, notices


def _without_contradictions(priced: dict[_Key, dict[str, float]]) -> list[str]:
    """Drop both prices of hardware whose spot price is above the on-demand one; say which."""
    notices = []
    for hardware, kind, region in list(priced):
        both = [(hardware, name, region) for name in ("spot", "on_demand")]
        pair = [priced.get(key) for key in both]
        if kind == "spot" and None not in pair and sum(pair[0].values()) > sum(pair[1].values()):
            notices.append(f"{hardware}: spot above on-demand, so neither is taken")
            del priced[both[0]], priced[both[1]]
    return notices


def _without_jumps(
    priced: dict[_Key, dict[str, float]], newest: dict[_Key, dict[str, str]]
) -> list[str]:
    """Drop prices that have changed by more than `JUMP`; say which."""
    notices = []
    for key in list(priced):
        before, after = float(newest[key]["price_per_hour"]), sum(priced[key].values())
        if not before / JUMP <= after <= before * JUMP:
            notices.append(
                f"{key[0]}, {key[1]}: {before:g} -> {after:g} USD an hour is a jump by more than a "
                f"factor of {JUMP:g}, so it is not taken; if it is right, add the row by hand"
            )
            del priced[key]
    return notices


def _fetched(place: str) -> bytes:
    """A file, from a folder or an address.

    Raises:
        InputError: it is too large, or too slow.
    """
    if "://" not in place:
        return Path(place).read_bytes()
    begun, parts, size = time.monotonic(), [], 0
    with urlopen(place, timeout=_SILENCE_S) as reply:
        while part := reply.read1(2**16):
            parts.append(part)
            size += len(part)
            if size > MOST_BYTES:
                raise InputError(f"it has more than {MOST_BYTES // 2**20} MiB")
            if time.monotonic() - begun > _PATIENCE_S:
                raise InputError(f"it takes more than {_PATIENCE_S:g} s")
    return b"".join(parts)


def _offers(content: bytes, place: str) -> tuple[pd.DataFrame, list[str]]:
    """The rows of a provider's file, and which of them could not be read.

    Each line is a row, so that an odd one spoils no other.

    Raises:
        InputError: it is no such file.
    """
    lines = content.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").split("\n")
    names = _cells(lines[0])
    if lacking := sorted(_OF_CATALOGUE - set(names)):
        raise InputError(f"it has no column {', '.join(lacking)}")
    if twice := sorted(name for name in _OF_CATALOGUE if names.count(name) > 1):
        raise InputError(f"it has the column {twice[0]} twice")
    rows, odd = [], []
    for number, line in enumerate(lines[1:], 2):
        if not line:
            continue
        cells = _cells(line)
        if len(cells) == len(names):
            rows.append(dict(zip(names, cells, strict=True)))
        else:
            odd.append(f"{place}, line {number}: not as many values as columns; left out")
    if len(odd) > _MOST_NAMED:
        odd[_MOST_NAMED:] = [f"{place}: {len(odd) - _MOST_NAMED} more lines are left out"]
    numbers = {"AcceleratorCount", *_COLUMNS.values()}
    columns = {
        name: [_number(row[name]) if name in numbers else row[name] or None for row in rows]
        for name in sorted(_OF_CATALOGUE)
    }
    kinds = {name: float if name in numbers else object for name in columns}
    return pd.DataFrame(columns).astype(kinds), odd


def _cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error:
        return []


def _number(text: str) -> float:
    """A number; NaN for what is none."""
    try:
        value = math.nan if "_" in text else float(text)  # to Python, 1_5 is 15
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def _parts(row: dict[str, str], catalogue: pd.DataFrame) -> dict[str, float] | None:
    """The separately billed parts of hardware, with their prices; None where a part has none."""
    machine, _, gpus = row["instance"].partition(" (")[0].partition(" + ")
    if not gpus and "GPU" in row["parts"]:
        gpus = f"{row['gpu_count']} x {row['gpu']}"
    column, region = _COLUMNS[row["price_kind"]], row["region"]
    there = catalogue[_is_in(catalogue, region)] if region else catalogue
    attached = there[there.InstanceType.isna()]
    if machine.startswith("tpu-"):
        return _whole(_lowest(attached[attached.AcceleratorName.eq(machine)], column))
    found = {"machine": _lowest(there[there.InstanceType.eq(machine)], column)}
    if gpus:
        match = _GPUS.fullmatch(gpus)
        name = attached.AcceleratorName.eq(match["name"]) if match else attached.index < 0
        count = attached.AcceleratorCount.eq(float(match["count"])) if match else name
        found = {"GPU": _lowest(attached[name & count], column)} | found
    return None if None in found.values() else found


def _is_in(catalogue: pd.DataFrame, region: str) -> pd.Series:
    """Which rows are in a region: it is their name, or a word of it."""
    names = catalogue.Region.dropna().unique()
    wanted = [name for name in names if region in (name, *_BETWEEN_WORDS.split(name))]
    return catalogue.Region.isin(wanted)


def _whole(price: float | None) -> dict[str, float] | None:
    return None if price is None else {"machine": price}


def _lowest(offers: pd.DataFrame, column: str) -> float | None:
    """The price in the cheapest zone; placeholders do not count."""
    stated = offers[column]
    stated = stated[stated.gt(0) & ~stated.isin(_PLACEHOLDERS)]
    return float(stated.min()) if len(stated) else None


def _row(row: dict[str, str], parts: dict[str, float], today: date) -> dict[str, str]:
    # The parts as they are written have to add up to the whole.
    rounded = {name: round(usd, 6) for name, usd in parts.items()}
    split = " + ".join(f"{name} {_written(usd)}" for name, usd in rounded.items())
    return row | {
        "price_per_hour": _written(sum(rounded.values())),
        "parts": split if len(parts) > 1 else "",
        "as_of": today.isoformat(),
        # The day on which the catalogue was read. It does not say how old its prices are.
        "as_of_precision": "read_on",
        "source_id": SOURCE,
        "derivation": "derived" if len(parts) > 1 else "stated",
        "notes": "",
    }


def _written(usd: float) -> str:
    return f"{usd:.6f}".rstrip("0").rstrip(".")
