"""Which options a buyer asks for: as long a training, by GPU, provider, region, kind of price."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from epochcost.errors import InputError, nearest
from epochcost.estimate import Knowledge
from epochcost.hardware import PROVIDERS
from epochcost.money import options as choices
from epochcost.money.billing import Rental
from epochcost.money.options import with_frontier
from epochcost.record.types import OWN_TRAINING
from epochcost.settings import Settings


def meeting(
    options: pd.DataFrame,
    asked: Settings,
    catalogue: Mapping[str, Mapping[str, Any]],
    knowledge: Knowledge,
) -> pd.DataFrame:
    """The options that meet all wishes; what nothing is known of meets none.

    Args:
        options: options.csv.
        asked: its `gpu`, `provider`, `region`, `price_kind` and `exclude`.
        catalogue: config/hardware.yaml.

    Raises:
        InputError: no machine has what is asked for; names the nearest that one has.
    """
    facts = pd.DataFrame(
        {
            "hardware": options.hardware_id,
            "gpu": [knowledge.named(gpu) if pd.notna(gpu) else None for gpu in options.gpu],
            "provider": options.hardware_id.map(
                lambda name: catalogue.get(name, {}).get("provider", "")
            ),
            "region": options.price_region,
            "price_kind": options.price_kind,
        }
    ).fillna("")
    kept = pd.Series(True, index=options.index)
    if asked.gpu:
        name = knowledge.named(asked.gpu)
        if name is None:
            raise InputError(f"config: gpu: unknown '{asked.gpu}'; {knowledge.nearest(asked.gpu)}")
        kept &= facts.gpu.eq(name)
    if asked.provider:
        kept &= _is_of(facts, asked.provider, "provider", catalogue)
    for key in ("region", "price_kind"):
        if wanted := getattr(asked, key):
            kept &= _is(facts[key], wanted, key)
    for unwanted in asked.exclude:
        gpu = knowledge.named(unwanted)
        is_it = facts.gpu.eq(gpu) if gpu else _is_of(facts, unwanted, "exclude", catalogue)
        kept &= ~is_it
    return options if kept.all() else with_frontier(options[kept])


def as_long(
    options: pd.DataFrame, unpriced: pd.DataFrame, asked: Settings
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both for as many epochs or steps as are asked for, where any are.

    Args:
        options: of options.csv, those that are asked about.
        unpriced: of relative.csv, those of the same workloads.
        asked: its `epochs`, `steps` and `billing`.

    Raises:
        InputError: an own training is counted in steps, and any other in epochs.
    """
    for unit, other in (("epochs", "steps"), ("steps", "epochs")):
        number = getattr(asked, unit)
        if number is None:
            continue
        for rows in (options, unpriced):
            counted_so = rows.framework.eq(OWN_TRAINING).eq(unit == "steps")
            if not counted_so.all():
                name = rows.workload[~counted_so].iloc[0]
                raise InputError(f"config: {unit}: {name} is counted in {other}; say {other}=N")
        if len(options):
            options = choices.as_long(options, unit, number, Rental(**dict(asked.billing)))
        unpriced = unpriced[unpriced.time_s.gt(0)]
        longer = choices.times_longer(unpriced, unit, number)
        unpriced = unpriced.assign(
            **{unit: float(number)},
            time_s=unpriced.time_s * longer,
            predicted=unpriced.predicted.astype(bool) | longer.ne(1),
        )
    return options, unpriced


def _is(values: pd.Series, wanted: str, key: str) -> pd.Series:
    found = values.str.lower().eq(wanted.lower())
    if len(values) and not found.any():
        hint = nearest(wanted, _given(values))
        raise InputError(f"config: {key}: no option has '{wanted}'; {hint}")
    return found


def _is_of(
    facts: pd.DataFrame, wanted: str, key: str, catalogue: Mapping[str, Mapping[str, Any]]
) -> pd.Series:
    """Which rows are of a provider, a short one such as `aws`, or a machine type."""
    entries = [(name, entry.get("provider", "")) for name, entry in catalogue.items()]
    if not any(_is_named(wanted, *entry) for entry in entries):
        known = [name for entry in entries for name in entry[key == "provider" :]]
        short = [name for name, provider in PROVIDERS.items() if provider in known]
        hint = nearest(wanted, _given([*known, *short]))
        raise InputError(f"config: {key}: no machine type is of '{wanted}'; {hint}")
    pairs = zip(facts.hardware, facts.provider, strict=True)
    return pd.Series([_is_named(wanted, *pair) for pair in pairs], index=facts.index, dtype=bool)


def _is_named(wanted: str, hardware: str, provider: str) -> bool:
    wanted, hardware = PROVIDERS.get(wanted.lower(), wanted).lower(), hardware.lower()
    return wanted in (hardware, provider.lower()) or hardware.startswith(f"{wanted}-")


def _given(values: Iterable[str]) -> list[str]:
    return sorted({value for value in values if value})
