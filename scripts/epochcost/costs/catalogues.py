"""Today's prices from SkyPilot's catalogue: new rows of a price file for known hardware.

The catalogue is a CSV file per provider, maintained by the SkyPilot project, with the columns
InstanceType, AcceleratorName, AcceleratorCount, Price, SpotPrice, Region. On Google Cloud, a GPU
that is attached to a machine has a row of its own, and so does a TPU with its machine.
"""

import re
from dataclasses import dataclass
from datetime import date
from urllib.error import URLError

import pandas as pd

from epochcost.errors import InputError

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
_GPUS = re.compile(r"(?P<count>\d+) x (?P<name>\S+)")


@dataclass(frozen=True)
class Refreshed:
    """New rows for a price file, what changed, and what could not be priced.

    changes: hardware_id, price_kind, before, after (USD an hour).
    """

    rows: list[dict[str, str]]
    changes: pd.DataFrame
    notices: list[str]


def read(root: str, providers: list[str]) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """The catalogue of each provider that is in it, and why the others are missing.

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
            offers = pd.read_csv(place)
        except (URLError, OSError, ValueError) as error:
            missing.append(f"{place}: {getattr(error, 'reason', error)}")
            continue
        if lacking := sorted(_OF_CATALOGUE - set(offers.columns)):
            missing.append(f"{place}: it has no column {', '.join(lacking)}")
        else:
            found[provider] = offers
    if missing and not found:
        raise InputError(next((why for why in missing if "/" in why), missing[0]))
    return found, missing


def refresh(
    rows: list[dict[str, str]], catalogue: dict[str, pd.DataFrame], today: date
) -> Refreshed:
    """Update the prices of the hardware in a price file, where they are in USD.

    Of hardware in several regions, those of its newest date get a new price.

    Placeholder prices are left out; so are both prices of hardware whose spot price is above the
    on-demand one, as one of the two must be wrong.

    Args:
        rows: of the price file, as text.
    """
    newest: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in sorted(rows, key=lambda row: row["as_of"]):
        is_known = row["price_kind"] in _COLUMNS and row["provider"] in catalogue
        if is_known and row["price_per_hour"] and row["currency"] == "USD":
            newest[row["hardware_id"], row["price_kind"], row["region"]] = row
    last = {key[:2]: row["as_of"] for key, row in newest.items()}
    for key, row in newest.items():
        last[key[:2]] = max(last[key[:2]], row["as_of"])
    # A region that was given up has no place among today's prices, of which the highest counts.
    newest = {key: row for key, row in newest.items() if row["as_of"] == last[key[:2]]}
    priced, notices = {}, []
    for key, row in newest.items():
        parts = _parts(row, catalogue[row["provider"]])
        if parts is None:
            place = f" in {row['region']}" if row["region"] else ""
            notices.append(f"{key[0]}, {key[1]}: not in the catalogue of {row['provider']}{place}")
        else:
            priced[key] = parts
    for hardware, kind, region in list(priced):
        both = [(hardware, name, region) for name in ("spot", "on_demand")]
        pair = [priced.get(key) for key in both]
        if kind == "spot" and None not in pair and sum(pair[0].values()) > sum(pair[1].values()):
            notices.append(f"{hardware}: spot above on-demand, so neither is taken")
            del priced[both[0]], priced[both[1]]
    new = [_row(newest[key], parts, today) for key, parts in priced.items()]
    changes = [
        (*key[:2], float(newest[key]["price_per_hour"]), sum(parts.values()))
        for key, parts in priced.items()
    ]
    columns = ["hardware_id", "price_kind", "before", "after"]
    return Refreshed(new, pd.DataFrame(changes, columns=columns), notices)


def _parts(row: dict[str, str], catalogue: pd.DataFrame) -> dict[str, float] | None:
    """The separately billed parts of hardware, with their prices; None where a part has none."""
    machine, _, gpus = row["instance"].partition(" (")[0].partition(" + ")
    if not gpus and "GPU" in row["parts"]:
        gpus = f"{row['gpu_count']} x {row['gpu']}"
    column, region = _COLUMNS[row["price_kind"]], row["region"]
    there = catalogue[catalogue.Region.eq(region)] if region else catalogue
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


def _whole(price: float | None) -> dict[str, float] | None:
    return None if price is None else {"machine": price}


def _lowest(offers: pd.DataFrame, column: str) -> float | None:
    """The price in the cheapest zone; placeholders do not count."""
    prices = pd.to_numeric(offers[column], errors="coerce")
    prices = prices[prices.notna() & ~prices.isin(_PLACEHOLDERS)]
    return float(prices.min()) if len(prices) else None


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
