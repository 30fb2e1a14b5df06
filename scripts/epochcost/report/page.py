"""The report: one HTML page that needs no network."""

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from epochcost import __version__
from epochcost.costs.rows import OWN
from epochcost.figures import style
from epochcost.figures.selection import remarks

_TEMPLATE = Path(__file__).with_name("page.html.j2")


@dataclass(frozen=True)
class Section:
    """A workload on the page: its pictures and its rows."""

    workload: str
    title: str
    measured: bool
    pictures: dict[str, str]
    rows: list[dict[str, Any]]


def render(
    answer: list[str],
    shown: pd.DataFrame,
    sections: list[Section],
    runs: pd.DataFrame,
    machines: list[dict[str, Any]],
    sources: list[dict[str, str]],
) -> str:
    """The page as HTML.

    Args:
        answer: sentences for the top.
        shown: the own rows of relative.csv that the page shows; they decide what it warns of.
        runs: runs.csv; own failed runs and flags are listed from it.
        machines: the machines of the records, each with a `software` list.
        sources: rows of data/published/sources.csv that the page shows figures of.
    """
    own = runs[runs.source_id.eq(OWN)]
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        answer=answer,
        sections=sections,
        failed=own[own.status.eq("failed")].to_dict("records"),
        noisy=own[own.noise.fillna("").ne("")].to_dict("records"),
        synthetic=bool(shown.synthetic.any()),
        subset=bool((~shown.data_complete & ~shown.synthetic).any()),
        predicted=bool(shown.predicted.any()),
        machines=machines,
        sources=sources,
        version=__version__,
    )


def section(workload: str, title: str, rows: pd.DataFrame, pictures: dict[str, Path]) -> Section:
    """A section from the rows that its pictures show (`selection.rows_of`)."""
    return Section(
        workload,
        title,
        bool(rows.source_id.eq(OWN).any()),
        {name: _embedded(path) for name, path in pictures.items()},
        [_cells(row) for row in rows.itertuples()],
    )


def _cells(row) -> dict[str, Any]:
    return {
        "own": row.source_id == OWN,
        "hardware": row.hardware_label,
        "framework": style.framework_name(row.framework, row.variant),
        "version": row.framework_version,
        "time": style.seconds(row.time_s),
        "time_relative": "" if pd.isna(row.time_relative) else style.ratio(row.time_relative),
        "time_range": _range(row.time_relative_low, row.time_relative_high),
        "price": "" if pd.isna(row.price_per_hour_usd) else style.price(row.price_per_hour_usd),
        "price_kind": "" if pd.isna(row.price_kind) else row.price_kind.replace("_", "-"),
        "price_date": row.price_book if pd.isna(row.price_date) else row.price_date,
        "cost": "unknown" if pd.isna(row.cost_usd) else style.dollars(row.cost_usd),
        "cost_relative": "" if pd.isna(row.cost_relative) else style.ratio(row.cost_relative),
        "mixed": bool(row.mixed_price_kinds),
        "runs": row.runs,
        "confidence": "" if pd.isna(row.time_confidence) else f"{row.time_confidence:.0%}",
        "metric": "" if pd.isna(row.metric_value) else f"{row.metric_value:.4f}",
        "metric_name": {"val_accuracy": "accuracy", "val_acc": "accuracy"}.get(
            row.metric, f"training {row.metric}"
        ),
        "remarks": ", ".join(remarks(row)),
    }


def _range(low: float, high: float) -> str:
    if pd.isna(low) or pd.isna(high):
        return ""
    return f"{style.ratio(low)} to {style.ratio(high)}"


def _embedded(path: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode()
