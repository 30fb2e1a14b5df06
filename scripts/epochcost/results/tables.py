"""The tables of measurements, made and read again; whether rows are like their workload says."""

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pandas as pd

from epochcost.errors import InputError
from epochcost.record.record import recipe_id
from epochcost.record.types import OWN_TRAINING
from epochcost.results.rows import OWN, EpochRow, RunRow

# Editions of a data set, and damaged samples, change its size by less than this share.
_SAME_SAMPLES = 0.02
# An own training that ends early or leaves steps out is shorter by less than this share.
_SAME_STEPS = 0.03
_ANEW = "delete it, and make it anew: snakemake tables"
_IDS = ("machine", "machine_id", "host", "driver", "framework_version", "recipe", "data_id")


def runs_table(rows: Iterable[RunRow]) -> pd.DataFrame:
    """runs.csv: one row per run, own and published."""
    table = pd.DataFrame([vars(row) for row in rows], columns=_names(RunRow))
    return table.assign(train_samples=pd.to_numeric(table.train_samples))


def epochs_table(rows: Iterable[EpochRow]) -> pd.DataFrame:
    """epochs.csv: one row per epoch."""
    return pd.DataFrame([vars(row) for row in rows], columns=_names(EpochRow))


def read(path: Path) -> pd.DataFrame:
    """Any of the tables; ids stay text, even where they look like numbers.

    Raises:
        InputError: the file holds no table.
    """
    return _csv(path, dtype=dict.fromkeys(_IDS, str))


def read_runs(path: Path) -> pd.DataFrame:
    """runs.csv as `runs_table` makes it."""
    return _read(path, RunRow)


def read_epochs(path: Path) -> pd.DataFrame:
    """epochs.csv as `epochs_table` makes it."""
    return _read(path, EpochRow)


def _read(path: Path, row_type: type) -> pd.DataFrame:
    """A table of rows with the types of the row.

    Text stays text, even where it looks like a number, as the id of a machine may.
    """
    kinds = get_type_hints(row_type)
    texts = {name: str for name, kind in kinds.items() if kind is str}
    table = _csv(path, dtype=texts, keep_default_na=False, na_values=_nothing(kinds))
    if missing := [name for name in kinds if name not in table]:
        raise InputError(f"{path} has no column {', '.join(missing)}; {_ANEW}")
    flags = [name for name, kind in kinds.items() if kind == bool | None]
    return table.assign(
        **{name: table[name].map({True: True, False: False}).astype(object) for name in flags}
    )


def _csv(path: Path, **options) -> pd.DataFrame:
    try:
        return pd.read_csv(path, **options)
    except ValueError:  # pandas's own errors are among these
        raise InputError(f"{path} holds no table; {_ANEW}") from None


def _nothing(kinds: dict[str, type]) -> dict[str, list[str]]:
    """What stands for a missing value, by column; in text, nothing does."""
    return {name: [""] for name, kind in kinds.items() if kind is not str}


def made_here(rows: pd.DataFrame) -> pd.Series:
    """Which rows are of runs in results/runs: neither published nor shipped with the clone."""
    return rows.source_id.eq(OWN) & ~is_shipped(rows)


def is_shipped(rows: pd.DataFrame) -> pd.Series:
    """Which rows are of runs that came with the clone alone."""
    return rows.shipped.fillna("").ne("")


def follows_recipe(table: pd.DataFrame, recipes: dict[str, dict]) -> pd.Series:
    """Whether each row was trained by its workload's recipe, apart from the batch size.

    An own training has none but its own code (`of_newest_code`).
    """
    follows = [
        row.source_id != OWN
        or row.framework == OWN_TRAINING
        or (
            row.workload in recipes
            and row.recipe == recipe_id(recipes[row.workload] | {"batch_size": int(row.batch_size)})
        )
        for row in table.itertuples()
    ]
    return pd.Series(follows, index=table.index, dtype=bool)


def of_newest_code(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs without own trainings of another command, code or length than the newest's.

    The newest is one that has a time, where any has. The length is the newest that is known of its
    code; where none is, all times are of UNIT_STEPS.

    Args:
        runs: runs.csv.
    """
    own = runs[runs.framework.eq(OWN_TRAINING) & runs.source_id.eq(OWN)]
    own = own.assign(has_time=own.time_s.notna(), length=pd.to_numeric(own.steps))
    own = own.sort_values(["has_time", "started_at"], kind="stable")
    recipe = own.workload.map(own.groupby("workload").recipe.last())
    own = own.assign(is_of_newest=own.recipe.eq(recipe))
    length = own.workload.map(own[own.is_of_newest].groupby("workload").length.last())
    off = (own.length / length - 1).abs()
    older = ~own.is_of_newest | off.gt(_SAME_STEPS) | own.length.isna() & length.notna()
    return runs[~runs.index.isin(own.index[older.to_numpy(bool)])]


def of_known_length(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs without own trainings of which nobody knows how many steps the whole has.

    Args:
        runs: runs.csv.
    """
    is_own = runs.framework.eq(OWN_TRAINING) & runs.source_id.eq(OWN)
    return runs[~is_own | runs.steps.notna()]


def has_all_samples(rows: pd.DataFrame, complete: pd.Series) -> pd.Series:
    """Whether each row was trained on as many samples as the complete data of its workload have.

    Editions of the same data differ slightly. Where a number is unknown, what a record says of its
    data counts.

    Args:
        complete: of each row's workload, as far as known.
    """
    off = (rows.train_samples / complete - 1).abs()
    said = rows.source_id.ne(OWN) | rows.data_complete.astype("boolean").fillna(False)
    return off.le(_SAME_SAMPLES) | (off.isna() & said)


def _names(row_type: type) -> list[str]:
    return [field.name for field in fields(row_type)]
