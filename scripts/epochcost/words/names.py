"""Names of frameworks and of prices, and what tells rows of the same name apart."""

import pandas as pd

# In the order in which they are shown.
FRAMEWORKS = {
    "keras-tensorflow": "Keras TensorFlow",
    "keras-torch": "Keras PyTorch",
    "keras-jax": "Keras JAX",
    "pytorch": "PyTorch",
    "fastai": "fastai",
    "keras-cntk": "Keras CNTK",
    "keras2-tensorflow1": "Keras 2 TensorFlow 1",
    "keras2-cntk": "Keras 2 CNTK",
}
# Columns in which rows of one name differ; how to word a value, and how that there is none.
_TELLING = (
    ("framework_version", "{}", ""),
    ("driver", "driver {}", ""),
    ("settings", "{}", ""),
    ("machine_id", "machine {}", ""),
)


def framework(name: str, variant: str = "default") -> str:
    """A framework's readable name, with its variant if that is not the default one."""
    said = FRAMEWORKS.get(name, name)
    return said if variant == "default" else f"{said} ({variant})"


def price_kind(kind: str) -> str:
    """The readable name of a kind of price."""
    return kind.replace("_", "-")


def tell_apart(rows: pd.DataFrame) -> list[str]:
    """What distinguishes rows with the same hardware, framework and variant; else nothing.

    Args:
        rows: of relative.csv or options.csv, all that are shown together.
    """
    same_name = ["workload", "hardware_label", "framework", "variant"]
    said: list[list[str]] = [[] for _ in range(len(rows))]
    for column, form, nothing in _TELLING:
        values = rows[column].fillna("")
        differ = values.groupby([rows[name] for name in same_name]).transform("nunique").gt(1)
        for facts, value, differs in zip(said, values, differ, strict=True):
            if differs:
                facts.append(form.format(value) if value else nothing)
    return [", ".join(fact for fact in facts if fact) for facts in said]
