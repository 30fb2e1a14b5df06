"""Which options a buyer asks for: by GPU, provider, region and kind of price."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from epochcost.errors import InputError, nearest
from epochcost.estimate import Knowledge
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
        kept &= _is_of(facts, asked.provider, "provider")
    for key in ("region", "price_kind"):
        if wanted := getattr(asked, key):
            kept &= _is(facts[key], wanted, key)
    for unwanted in asked.exclude:
        gpu = knowledge.named(unwanted)
        is_it = facts.gpu.eq(gpu) if gpu else _is_of(facts, unwanted, "exclude")
        kept &= ~is_it
    return options[kept]


def _is(values: pd.Series, wanted: str, key: str) -> pd.Series:
    found = values.str.lower().eq(wanted.lower())
    if len(values) and not found.any():
        hint = nearest(wanted, _given(values))
        raise InputError(f"config: {key}: no option has '{wanted}'; {hint}")
    return found


def _is_of(facts: pd.DataFrame, wanted: str, key: str) -> pd.Series:
    """Which rows are of a provider, a short one such as `aws`, or a machine type."""
    short = facts.hardware.str.lower().str.startswith(f"{wanted.lower()}-")
    names = facts[["hardware", "provider"]].apply(lambda values: values.str.lower())
    found = short | names.eq(wanted.lower()).any(axis=1)
    if len(facts) and not found.any():
        known = facts.provider if key == "provider" else pd.concat([facts.hardware, facts.provider])
        raise InputError(
            f"config: {key}: no option is of '{wanted}'; {nearest(wanted, _given(known))}"
        )
    return found


def _given(values: Iterable[str]) -> list[str]:
    return sorted({value for value in values if value})
