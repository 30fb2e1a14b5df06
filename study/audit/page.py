"""The audit of the published studies as Markdown."""

import re

import pandas as pd
import recompute

from epochcost import markdown as md


def markdown(table: pd.DataFrame, sources: pd.DataFrame) -> str:
    """A table per source, and how many claims hold.

    Args:
        table: from `recompute.audit_table`.
        sources: sources.csv by source_id.
    """
    counts = table.verdict.value_counts()
    parts = [
        "# The published studies, recomputed",
        "What the studies claim, recomputed from their own measurements and prices in "
        "`data/published/` by `study/audit/audit.py`. Nothing is trained for it.",
        "A claim *agrees by construction* if the figure it is recomputed from was derived from "
        "the claim. It *disagrees by rounding only* if it holds for other figures that would be "
        "printed alike. Where logs are copies of older ones, the result without them is given, "
        "too. Rows are those of `measurements.csv`.",
        f"{len(table)} claims: {recompute.counted(counts)}.",
    ]
    for source_id, rows in table.groupby("source_id", sort=False):
        source = sources.loc[source_id]
        parts.append(f"## {source.author}, [{source.title}]({source.url}), {source.published}")
        lines = [
            "| claim | published | recomputed | decided by | verdict | why |",
            "|---|---|---|---|---|---|",
        ]
        lines += [md.row(_cells(row)) for row in rows.itertuples()]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _cells(row) -> list[str]:
    rows = re.sub(rf"\b{row.source_id}/(?=[a-z])| of {row.source_id}$", "", row.rows)
    cells = [row.claim, row.published, row.recomputed, rows, row.verdict, row.why]
    return ["" if pd.isna(cell) else str(cell) for cell in cells]
