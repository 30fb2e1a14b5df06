"""The audit of the published studies as Markdown."""

import pandas as pd

from epochcost import markdown as md
from epochcost.costs import audit


def markdown(table: pd.DataFrame, sources: pd.DataFrame) -> str:
    """A table per source, and how many claims hold.

    Args:
        table: from `audit.audit_table`.
        sources: sources.csv by source_id.
    """
    counts = table.verdict.value_counts()
    parts = [
        "# The published studies, recomputed",
        "What the studies claim, recomputed from their own measurements and prices in "
        "`data/published/` by `snakemake audit`; nothing is trained for it. A claim *agrees by "
        "construction* if the figure it is recomputed from was derived from the claim.",
        f"{len(table)} claims: {audit.counted(counts)}.",
    ]
    for source_id, rows in table.groupby("source_id", sort=False):
        source = sources.loc[source_id]
        parts.append(f"## {source.author}, [{source.title}]({source.url}), {source.published}")
        lines = [
            "| claim | published | recomputed | verdict | why |",
            "|---|---|---|---|---|",
        ]
        lines += [md.row(_cells(row)) for row in rows.itertuples()]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _cells(row) -> list[str]:
    cells = [row.claim, row.published, row.recomputed, row.verdict, row.why]
    return ["" if pd.isna(cell) else str(cell) for cell in cells]
