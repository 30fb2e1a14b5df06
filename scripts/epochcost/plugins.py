"""Classes that are found in a module, such as the model of a workload."""

from types import ModuleType
from typing import TypeVar

from epochcost.errors import InputError

Kind = TypeVar("Kind")


def the_one(module: ModuleType, kind: type[Kind]) -> Kind:
    """An object of the one class of a kind that a module defines.

    Raises:
        InputError: it defines none, or several.
    """
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, kind)
        and value is not kind
        # Not what it imports to build on.
        and value.__module__ == module.__name__
    ]
    if len(found) != 1:
        which = ", ".join(one.__name__ for one in found) or "none"
        raise InputError(
            f"{module.__file__} is to define one class that is a {kind.__name__}; it has {which}"
        )
    return found[0]()
