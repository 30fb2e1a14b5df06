"""The frameworks: a file with one class for each (framework.py says how to add one)."""

from epochcost.frameworks.registry import FRAMEWORKS
from epochcost.frameworks.variants import with_variant

__all__ = ["FRAMEWORKS", "with_variant"]
