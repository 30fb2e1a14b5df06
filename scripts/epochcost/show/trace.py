"""Where a row comes from, in words."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from epochcost.errors import InputError, nearest, printable
from epochcost.money.billing import BILLED, MARGINAL
from epochcost.record.types import Record
from epochcost.results.rows import OWN
from epochcost.show.wording import amounts, names

_NAMED_BY = ["workload", "framework", "variant", "hardware_id", "source_id", "machine_id"]
_MOST_ROWS = 20


def rows_with(relative: pd.DataFrame, words: Sequence[str]) -> pd.DataFrame:
    """The rows that every word names: by a cell, or one of their runs.

    Args:
        relative: relative.csv, both kinds of cost in one row (`selection.side_by_side`).

    Raises:
        InputError: a word is in no row, the words are in none together, or in too many.
    """
    found = relative
    for word in words:
        by_cell = relative[_NAMED_BY].fillna("").eq(word).any(axis=1)
        by_run = relative.run_ids.fillna("").map(lambda ids, word=word: word in ids.split())
        if not (by_cell | by_run).any():
            known = {str(cell) for name in _NAMED_BY for cell in relative[name].dropna()}
            raise InputError(f"no row has '{word}'; {nearest(word, known)}")
        found = found[(by_cell | by_run).loc[found.index]]
    if found.empty:
        raise InputError(f"no row has all of: {' '.join(words)}")
    if len(found) > _MOST_ROWS:
        raise InputError(f"{len(found)} rows have {' '.join(words)}; name more of one")
    return found


def lines(rows: pd.DataFrame, records: Mapping[str, tuple[Path, Record]]) -> Iterator[str]:
    """Each row, its price, and its runs.

    Args:
        records: of own runs, with their place, by the run's id.
    """
    for row in rows.itertuples():
        for depth, text in _of_row(row, records):
            yield "  " * depth + printable(text, 400)


def _of_row(row, records: Mapping[str, tuple[Path, Record]]) -> Iterator[tuple[int, str]]:
    software = names.framework(row.framework, row.variant)
    yield 0, f"{row.workload}, {software} on {row.hardware_label}"
    how = "predicted" if row.predicted else "measured" if row.source_id == OWN else "published"
    costs = [
        f"{amounts.dollars(value)} {kind}"
        for kind, value in ((MARGINAL, row.cost_usd), (BILLED, row.billed_usd))
        if pd.notna(value)
    ]
    yield 1, f"{amounts.seconds(row.time_s)}, {how}; {', '.join(costs) or 'no price'}"
    if costs:
        source = [part for part in (row.price_date, row.price_source) if pd.notna(part)]
        rate = f"{row.price_per_hour_usd:g} USD/h, {row.price_kind}, book {row.price_book}"
        yield 1, f"price: {', '.join([rate, *source])}"
    for name in str(row.run_ids).split() if pd.notna(row.run_ids) else []:
        if name not in records:
            where = "record not found" if row.source_id == OWN else f"published by {row.source_id}"
            yield 1, f"run {name}: {where}"
            continue
        path, one = records[name]
        yield 1, f"run {name}: {path}"
        yield 2, f"began {one.run.started_at[:19]} UTC; machine {one.machine.id}"
        made_by = one.software
        changed = ", changed since" if one.git and one.git.dirty else ""
        code = f"commit {one.git.commit[:12]}{changed}" if one.git else "commit not known"
        yield 2, f"{code}; {made_by.framework_version}, Python {made_by.python}"
        if one.data:
            yield 2, f"data {one.data.dataset} ({one.data.kind}), sha256 {one.data.sha256[:16]}"
