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
    "own": "own script",
}
# Columns in which rows of one name differ, and how to word a value.
_TELLING = {
    "framework_version": "{}",
    "driver": "driver {}",
    "settings": "{}",
    "machine_id": "machine {}",
    "host": "{}",
    "vcpus": "{} cores",
    "gpus_used": "GPUs used: {}",
    "data_id": "data {}",
}
_NAME = ["workload", "hardware_label", "framework", "variant"]
# What is said of a row's data anyway.
_DATA = ["synthetic", "data_complete", "train_samples"]


def framework(name: str, variant: str = "default") -> str:
    """A framework's readable name, with its variant if that is not the default one."""
    said = FRAMEWORKS.get(name, name)
    return said if variant == "default" else f"{said} ({variant})"


def price_kind(kind: str) -> str:
    """The readable name of a kind of price."""
    return kind.replace("_", "-")


def tell_apart(rows: pd.DataFrame, but: str = "") -> list[str]:
    """What distinguishes rows with the same hardware, framework and variant; else nothing.

    Args:
        rows: of relative.csv, options.csv, quality.csv or predictions.csv, all that are shown
            together.
        but: a column that is shown anyway.
    """
    said: list[list[str]] = [[] for _ in range(len(rows))]
    for column, form in _TELLING.items():
        if column == but:
            continue
        values = rows[column].map(_worded)
        if values.nunique() < 2:
            continue
        alike = [rows[name] for name in (*_NAME, *(_DATA if column == "data_id" else ()))]
        differ = values.groupby(alike, dropna=False).transform("nunique").gt(1)
        for facts, value, differs in zip(said, values, differ, strict=True):
            if differs and value:
                facts.append(form.format(value))
    return [", ".join(facts) for facts in said]


def _worded(value) -> str:
    """A cell as text; empty where there is none."""
    if pd.isna(value):
        return ""
    return f"{value:g}" if isinstance(value, float | int) else value
