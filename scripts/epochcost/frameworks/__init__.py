"""The frameworks: a file with one class for each (framework.py says how to add one)."""

from epochcost.frameworks.registry import FRAMEWORKS
from epochcost.frameworks.variants import DEFAULT, DEVICES, TUNED, devices_of


def with_variant(variant: str, names: list[str]) -> list[str]:
    """The frameworks in `names` that have a variant."""
    kind = DEVICES if devices_of(variant) > 1 else variant
    return [name for name in names if kind in (DEFAULT, TUNED, *FRAMEWORKS[name].variants)]
