"""The report: one HTML page that needs no network."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import pandas as pd
from markupsafe import Markup

from epochcost import __version__
from epochcost.money import prices
from epochcost.results.identity import GROUP
from epochcost.results.tables import made_here
from epochcost.show import advice
from epochcost.show.wording import amounts, names, remarks

# What the pictures of a workload show.
PICTURES = {
    "machines": "time and cost by machine, over the K80 of the study",
    "frontier": "bill against time of what can be had",
    "bill": "what the bills of the best options are made of",
}
# What that of all workloads shows.
HISTORY = "what training cost in 2017 and costs now, and what changed it"
# What the version of a picture for a phone is called.
NARROW = "-narrow"
# Sentences of the answer that are shown first; the others are folded.
_FIRST = 3
# Of noise.csv, the page shows no more rows than this.
_MOST_NOTED = 20
# And of set_aside.csv.
_MOST_ASIDE = 20
_TEMPLATE = Path(__file__).with_name("page.html.j2")


@dataclass(frozen=True)
class Section:
    """A workload on the page: its pictures, what the first one says, and its rows."""

    workload: str
    title: str
    measured: bool
    said: str
    pictures: dict[str, str]
    rows: list[dict[str, Any]]


def render(
    answer: list[str],
    shown: pd.DataFrame,
    sections: list[Section],
    runs: pd.DataFrame,
    machines: list[dict[str, Any]],
    noise: pd.DataFrame,
    sources: list[dict[str, str]],
    aside: Sequence[dict[str, str]] = (),
    links: Mapping[tuple, list[str]] | None = None,
    machine_id: str = "",
    history: Mapping[str, Path] | None = None,
    bad: Sequence[str] = (),
    judged: Sequence[dict[str, Any]] = (),
    choices: Sequence[dict[str, Any]] = (),
) -> str:
    """The page as HTML.

    Args:
        answer: sentences for the top.
        shown: the own rows of relative.csv that the page shows; they decide what it warns about.
        runs: runs.csv; own failed runs and flags are listed from it.
        machines: the machines of the records, each with a `software` list.
        noise: noise.csv.
        sources: rows of data/published/sources.csv whose figures the page shows.
        aside: rows of set_aside.csv.
        links: the records behind each row (`records_of`).
        machine_id: the machine at hand, whose rows stand out.
        choices: what to rent or use for each workload (`choices_of`).
        judged: estimates beside what was measured (`hindsight.summary`).
        history: the picture of what changed since 2017, wide and narrow.
        bad: sentences about runs that came to nothing; never folded.
    """
    own = runs[made_here(runs)]
    noise = noise[noise.run_id.isin(own.run_id)]
    newest = noise.sort_values("started_at", ascending=False, kind="stable").head(_MOST_NOTED)
    with_picture = [section for section in sections if "machines" in section.pictures]
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        answer=answer,
        bad=bad,
        most=_FIRST,
        first=with_picture[0] if with_picture else None,
        shown=_all_cells(_fastest(shown), links or {}, machine_id),
        sections=sections,
        failed=own[own.status.eq("failed")].to_dict("records"),
        noisy=own[own.noise.notna() & own.noise.ne("")].to_dict("records"),
        synthetic=bool(shown.synthetic.any()),
        subset=bool((~shown.data_complete & ~shown.synthetic).any()),
        machines=machines,
        noise=[_noted(row) for row in newest.itertuples()],
        noise_left=len(noise) - len(newest),
        sources=sources,
        aside=aside[:_MOST_ASIDE],
        aside_left=len(aside[_MOST_ASIDE:]),
        judged=judged,
        choices=choices,
        captions=PICTURES | {"history": HISTORY},
        history={name: _embedded(path) for name, path in (history or {}).items()},
        version=__version__,
    )


def choices_of(options: pd.DataFrame) -> list[dict[str, Any]]:
    """The cheapest option of each workload that can be had, and the estimate that would beat it.

    Args:
        options: options.csv.
    """
    found = []
    for _, of_workload in options.groupby("workload", sort=False):
        marks = advice.recommended(of_workload, None, None)
        shown = of_workload[marks.str.startswith("cheapest")]
        how, untried = advice.untried(of_workload)
        if untried is not None and untried.name not in shown.index:
            why = f"{how.lower()}; {untried.basis}"
            shown = pd.concat([shown, of_workload.loc[[untried.name]].assign(basis=why)])
        for row in shown.itertuples():
            kind = "" if row.price_kind == prices.ON_DEMAND else names.price_kind(row.price_kind)
            notes = [*remarks.of_length(row), *remarks.of_noise(row)]
            found.append(
                {
                    "workload": row.workload,
                    "machine": row.hardware_label,
                    "framework": names.framework(row.framework, row.variant),
                    "evidence": ", ".join([row.evidence, *notes]),
                    "basis": row.basis if pd.notna(row.basis) else "",
                    "elapsed_s": row.elapsed_s,
                    "time": amounts.seconds(row.elapsed_s),
                    "interval": amounts.range_of_seconds(row.elapsed_low, row.elapsed_high),
                    "billed_usd": row.billed_usd,
                    "bill": amounts.dollars(row.billed_usd),
                    "price": f"{amounts.price(row.price_per_hour_usd)} {kind}".rstrip(),
                    "day": row.price_date if pd.notna(row.price_date) else "",
                }
            )
    return found


def section(
    workload: str,
    title: str,
    rows: pd.DataFrame,
    pictures: dict[str, Path],
    links: Mapping[tuple, list[str]] | None = None,
    machine_id: str = "",
) -> Section:
    """A section from the rows that its pictures show (`selection.rows_of`)."""
    here = made_here(rows)
    best = rows[here & rows.time_relative.notna()].sort_values("time_relative").head(1)
    said = [
        f"{row.hardware_label} with {names.framework(row.framework, row.variant)}: "
        f"{amounts.ratio(row.time_relative)} the time of the K80"
        for row in best.itertuples()
    ]
    return Section(
        workload,
        title,
        bool(here.any()),
        "".join(said),
        {name: _embedded(path) for name, path in pictures.items()},
        _all_cells(rows, links or {}, machine_id),
    )


def records_of(runs: pd.DataFrame, paths: Mapping[str, str]) -> dict[tuple, list[str]]:
    """The records of each training, by what identifies it (`identity.GROUP`).

    Args:
        runs: runs.csv.
        paths: where the record of a run is, by its id, seen from the page.
    """
    found: dict[tuple, list[str]] = {}
    there = runs[runs.run_id.isin(list(paths)) & runs.status.eq("ok")]
    for key, run_id in zip(_keys(there), there.run_id, strict=True):
        found.setdefault(key, []).append(paths[run_id])
    return found


def _keys(rows: pd.DataFrame) -> list[tuple]:
    return list(rows[GROUP].astype(object).fillna("").itertuples(index=False, name=None))


def _fastest(rows: pd.DataFrame) -> pd.DataFrame:
    """The fastest row of each workload and machine, of those that reached their target first."""
    if rows.empty or "workload" not in rows:
        return rows.head(0)
    ranked = rows.assign(missed=rows.quality_reached.eq(False))
    ordered = ranked.sort_values(["workload", "missed", "time_s"], kind="stable")
    return ordered.drop_duplicates(["workload", "hardware_label", "machine_id"])


def _all_cells(
    rows: pd.DataFrame, links: Mapping[tuple, list[str]], machine_id: str
) -> list[dict[str, Any]]:
    if rows.empty:
        return []
    here = made_here(rows) & rows.machine_id.fillna("").eq(machine_id)
    rows = rows.assign(apart=names.tell_apart(rows), here=here)
    keys = _keys(rows) if links else [()] * len(rows)
    return [
        _cells(row) | {"records": [_linked(path) for path in links.get(key, [])]}
        for row, key in zip(rows.itertuples(), keys, strict=True)
    ]


def _linked(path: str) -> dict[str, str]:
    return {"link": quote(path), "name": Path(path).stem}


def _plain(value: float) -> str:
    """A number to sort by; empty for none."""
    return "" if pd.isna(value) else f"{value:.6g}"


def _cells(row) -> dict[str, Any]:
    return {
        "own": row.here,
        "workload": row.workload,
        "time_s": _plain(row.time_s),
        "time_ratio": _plain(row.time_relative),
        "cost_usd": _plain(row.cost_usd),
        "cost_ratio": _plain(row.cost_relative),
        "billed_usd": _plain(row.billed_usd),
        "hourly": _plain(row.price_per_hour_usd),
        "hardware": f"{row.hardware_label}{' (this machine)' if row.here else ''}",
        "framework": names.framework(row.framework, row.variant),
        "version": row.framework_version,
        "time": amounts.seconds(row.time_s),
        "time_from": _plain(remarks.interval_of(row)[0]),
        "interval": amounts.range_of_seconds(*remarks.interval_of(row)),
        "time_relative": "" if pd.isna(row.time_relative) else amounts.ratio(row.time_relative),
        "time_range": _range(row.time_relative_low, row.time_relative_high),
        "price": "" if pd.isna(row.price_per_hour_usd) else amounts.price(row.price_per_hour_usd),
        "price_kind": "" if pd.isna(row.price_kind) else names.price_kind(row.price_kind),
        "price_date": row.price_book if pd.isna(row.price_date) else row.price_date,
        "cost": "unknown" if pd.isna(row.cost_usd) else amounts.dollars(row.cost_usd),
        "cost_relative": "" if pd.isna(row.cost_relative) else amounts.ratio(row.cost_relative),
        "billed": "" if pd.isna(row.billed_usd) else amounts.dollars(row.billed_usd),
        "billed_relative": ""
        if pd.isna(row.billed_relative)
        else amounts.ratio(row.billed_relative),
        "mixed": bool(row.mixed_price_kinds),
        "runs": f"{row.runs} on {row.machines} machines" if row.machines > 1 else str(row.runs),
        "confidence": "" if pd.isna(row.time_confidence) else f"{row.time_confidence:.0%}",
        "metric": "" if pd.isna(row.metric_value) else f"{row.metric_value:.4f}",
        "metric_name": {"val_accuracy": "accuracy", "val_acc": "accuracy"}.get(
            row.metric, f"training {row.metric}"
        ),
        "remarks": ", ".join(remark for remark in (row.apart, *remarks.of_row(row)) if remark),
    }


def _noted(row) -> dict[str, str]:
    """A row of noise.csv as the page shows it."""

    def say(value: float, text: str) -> str:
        return "–" if pd.isna(value) else text.format(value)

    clock = "–"
    if pd.notna(row.cpu_mhz_low):
        clock = f"{row.cpu_mhz_low:.0f} to {row.cpu_mhz_high:.0f}"
    if pd.notna(row.gpu_mhz_low):
        clock += f", GPU {row.gpu_mhz_low:.0f} to {row.gpu_mhz_high:.0f}"
    method = "" if pd.isna(row.energy_method) else f" ({row.energy_method})"
    return {
        "run": row.run_id.split("@")[0],
        "machine": row.machine,
        "begun": row.started_at[:16].replace("T", " "),
        "wall": "–" if pd.isna(row.wall_s) else amounts.seconds(row.wall_s),
        "interrupted": str(row.interruptions) if row.interruptions else "",
        "slowest": say(row.slowest_epoch, "{:.2f}x"),
        "can_do": say(row.matmul_gflops, "{:.0f}"),
        "useful": say(row.gflops, "{:.3g}") + _share_of_yardstick(row.gflops_share),
        "own": say(row.cpu_share, "{:.0%}"),
        "others": say(row.others_cpu_share, "{:.1%}"),
        "disturbed": say(row.disturbed_share, "{:.0%}"),
        "stolen": say(row.steal_share, "{:.1%}"),
        "clock": clock,
        "throttled": say(row.throttled, "{:.0f}"),
        "stalled": say(row.memory_stalled_share, "{:.1%}"),
        "energy": say(row.energy_j, "{:.0f} J") + method,
        "flags": "" if pd.isna(row.flags) else row.flags,
    }


def _share_of_yardstick(share: float) -> str:
    """Empty where the training exceeded the yardstick, which then says little about it."""
    return "" if pd.isna(share) or share > 1 else f" ({share:.0%})"


def _range(low: float, high: float) -> str:
    if pd.isna(low) or pd.isna(high):
        return ""
    return f"{amounts.ratio(low)} to {amounts.ratio(high)}"


def _embedded(path: Path) -> str:
    """A picture as an address, for an attribute in double quotes; a third smaller than base64."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    text = " ".join(lines).replace("%", "%25").replace("#", "%23")
    # Its own quotes are of attributes alone: matplotlib writes those of texts as they are.
    text = re.sub(r'="([^"\']*)"(?=[ />?])', r"='\1'", text).replace("&", "&amp;")
    return Markup("data:image/svg+xml," + text.replace('"', "%22"))
